import { networkKey } from '../../model/network.ts';
import type { SchemaWords } from '../engines.ts';

/**
 * Lists the statements that create a catalogue: evidence, decisions, the listings derived from them, and the log of
 * reader-visible changes. `tables.ts` describes the columns. Addresses and paths come from outside and may be too long for an
 * index, so rows are found by ids, which are hashes of them.
 */
export function listStatements({ text, integer, counted, strict }: SchemaWords): string[] {
  const networks = networkKey.options.map((key) => `'${key}'`).join(', ');
  const flag = (column: string) => `${column} ${integer} NOT NULL CHECK (${column} IN (0, 1))`;
  return [
    `CREATE TABLE catalogue (
      id ${integer} PRIMARY KEY CHECK (id = 1),
      identity ${text} NOT NULL,
      revision ${integer} NOT NULL,
      revised_at ${text} NOT NULL
    ) ${strict}`,
    `CREATE TABLE revisions (
      revision ${integer} PRIMARY KEY,
      at ${text} NOT NULL
    ) ${strict}`,

    `CREATE TABLE listings (
      number ${counted},
      id ${text} NOT NULL UNIQUE,
      slug ${text} NOT NULL UNIQUE,
      origin ${text} NOT NULL,
      base_url ${text} NOT NULL,
      state ${text} NOT NULL CHECK (state IN ('live', 'held', 'delisted')),
      ${flag('verified')},
      ${flag('was_live')},
      routes ${integer} NOT NULL,
      revision ${integer} NOT NULL,
      document ${text} NOT NULL
    ) ${strict}`,
    'CREATE INDEX listings_by_revision ON listings (revision, number)',
    'CREATE INDEX listings_by_origin ON listings (origin)',

    `CREATE TABLE declarations (
      listing_id ${text} NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
      kind ${text} NOT NULL,
      source ${text} NOT NULL,
      withdrawn_at ${text},
      document ${text} NOT NULL,
      PRIMARY KEY (listing_id, kind, source)
    ) ${strict}`,
    'CREATE INDEX declarations_by_source ON declarations (kind, source)',

    `CREATE TABLE delistings (
      listing_id ${text} NOT NULL,
      base_url ${text} NOT NULL,
      "by" ${text} NOT NULL CHECK ("by" IN ('operator', 'provider', 'rule')),
      reason ${text} NOT NULL,
      source ${text},
      at ${text} NOT NULL,
      PRIMARY KEY (listing_id, "by")
    ) ${strict}`,
    `CREATE TABLE replies (
      id ${text} PRIMARY KEY,
      listing_id ${text} NOT NULL,
      base_url ${text} NOT NULL,
      caution ${text} NOT NULL,
      route ${text} NOT NULL,
      text ${text} NOT NULL,
      source ${text} NOT NULL,
      at ${text} NOT NULL
    ) ${strict}`,
    'CREATE INDEX replies_by_listing ON replies (listing_id)',
    'CREATE INDEX replies_by_source ON replies (source)',

    `CREATE TABLE routes (
      id ${text} PRIMARY KEY,
      listing_id ${text} NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
      method ${text} NOT NULL,
      path ${text} NOT NULL,
      payee ${text} CHECK (payee IN ('fixed', 'rotating')),
      probed_at ${text}
    ) ${strict}`,
    'CREATE INDEX routes_by_listing ON routes (listing_id)',
    'CREATE INDEX routes_by_probe ON routes (probed_at)',

    `CREATE TABLE terms (
      id ${counted},
      route_id ${text} NOT NULL REFERENCES routes (id) ON DELETE CASCADE,
      evidence ${text} NOT NULL CHECK (evidence IN ('declared', 'observed')),
      terms_key ${text} NOT NULL,
      network ${text} NOT NULL CHECK (network IN (${networks})),
      scheme ${text} NOT NULL,
      asset ${text} NOT NULL,
      amount ${integer} NOT NULL CHECK (amount > 0),
      pay_to ${text},
      max_timeout_seconds ${integer},
      x402_version ${integer},
      source ${text} NOT NULL,
      first_seen_at ${text},
      last_seen_at ${text},
      ${flag('current')}
    ) ${strict}`,
    'CREATE INDEX terms_by_route ON terms (route_id)',

    `CREATE TABLE receipts (
      id ${text} PRIMARY KEY,
      route_id ${text} NOT NULL REFERENCES routes (id),
      network ${text} NOT NULL CHECK (network IN (${networks})),
      asset ${text} NOT NULL,
      amount ${integer} NOT NULL CHECK (amount > 0),
      payer ${text} NOT NULL,
      pay_to ${text} NOT NULL,
      "transaction" ${text} NOT NULL,
      settled_at ${text} NOT NULL,
      ${flag('settled')},
      ${flag('delivered')},
      conforming ${text} NOT NULL CHECK (conforming IN ('yes', 'no', 'undeclared')),
      genesis ${text} NOT NULL,
      request ${text} NOT NULL,
      unrecognised ${text},
      UNIQUE (network, "transaction")
    ) ${strict}`,
    'CREATE INDEX receipts_by_route ON receipts (route_id)',
    `CREATE TABLE corrections (
      receipt_id ${text} PRIMARY KEY REFERENCES receipts (id) ON DELETE CASCADE,
      because ${text} NOT NULL,
      at ${text} NOT NULL
    ) ${strict}`,

    `CREATE TABLE listing_names (
      name ${text} NOT NULL,
      listing_id ${text} NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
      domain ${text} NOT NULL,
      ${flag('known')},
      since ${text} NOT NULL,
      PRIMARY KEY (name, listing_id)
    ) ${strict}`,
    'CREATE INDEX listing_names_by_listing ON listing_names (listing_id)',

    `CREATE TABLE payments (
      id ${text} PRIMARY KEY,
      route_id ${text} NOT NULL,
      network ${text} NOT NULL,
      "transaction" ${text},
      day ${text} NOT NULL,
      payer ${text} NOT NULL,
      amount ${integer} NOT NULL CHECK (amount > 0),
      state ${text} NOT NULL CHECK (state IN ('prepared', 'sent', 'settled', 'not_settled', 'unknown')),
      prepared_at ${text} NOT NULL,
      document ${text} NOT NULL,
      revision ${integer},
      UNIQUE (network, "transaction")
    ) ${strict}`,
    "CREATE INDEX payments_open ON payments (payer) WHERE state IN ('prepared', 'sent', 'unknown')",
    'CREATE INDEX payments_by_time ON payments (prepared_at)',
    'CREATE INDEX payments_by_day ON payments (day, state, amount)',
    'CREATE INDEX payments_by_route ON payments (route_id, prepared_at)',
    'CREATE INDEX payments_by_revision ON payments (revision) WHERE revision IS NOT NULL',

    `CREATE TABLE changes (
      seq ${counted},
      revision ${integer} NOT NULL,
      at ${text} NOT NULL,
      listing_id ${text} NOT NULL REFERENCES listings (id),
      kind ${text} NOT NULL,
      reason ${text} NOT NULL,
      detail ${text} NOT NULL
    ) ${strict}`,
    'CREATE INDEX changes_by_revision ON changes (revision)',
    'CREATE INDEX changes_by_listing ON changes (listing_id, seq)',
    `CREATE TABLE listing_days (
      day ${text} PRIMARY KEY,
      listed ${integer} NOT NULL,
      taken_out ${integer} NOT NULL,
      verified ${integer} NOT NULL,
      unverified ${integer} NOT NULL
    ) ${strict}`,

    `CREATE TABLE pulls (
      id ${counted},
      feed ${text} NOT NULL,
      started_at ${text} NOT NULL,
      updated_at ${text} NOT NULL,
      completed_at ${text},
      next_offset ${integer} NOT NULL,
      pages ${integer} NOT NULL,
      items ${integer} NOT NULL,
      ended ${text} CHECK (ended IN ('complete', 'incomplete'))
    ) ${strict}`,
    'CREATE INDEX pulls_by_feed ON pulls (feed)',
    `CREATE TABLE feed_items (
      id ${text} PRIMARY KEY,
      feed ${text} NOT NULL,
      key_hash ${text} NOT NULL,
      item_key ${text} NOT NULL,
      item_hash ${text} NOT NULL,
      pull_id ${integer} NOT NULL REFERENCES pulls (id),
      raw ${text} NOT NULL
    ) ${strict}`,
    'CREATE INDEX feed_items_by_pull ON feed_items (pull_id)',
    'CREATE INDEX feed_items_by_key ON feed_items (feed, key_hash)',
    `CREATE TABLE findings (
      id ${text} PRIMARY KEY,
      source ${text} NOT NULL,
      item ${text} NOT NULL,
      code ${text} NOT NULL,
      severity ${text} NOT NULL CHECK (severity IN ('refused', 'noted')),
      message ${text} NOT NULL,
      found_at ${text} NOT NULL
    ) ${strict}`,
    'CREATE INDEX findings_by_source ON findings (source)',

    `CREATE TABLE samples (
      id ${counted},
      listing_id ${text} NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
      route_id ${text} NOT NULL REFERENCES routes (id) ON DELETE CASCADE,
      host ${text} NOT NULL,
      round ${integer} NOT NULL,
      at ${text} NOT NULL,
      outcome ${text} NOT NULL,
      cause ${text},
      status ${integer},
      latency_ms ${integer} CHECK (latency_ms >= 0),
      document ${text} NOT NULL
    ) ${strict}`,
    'CREATE INDEX samples_by_listing ON samples (listing_id, at, route_id, outcome, cause, status, round, latency_ms)',
    'CREATE INDEX samples_by_route ON samples (route_id, at)',
    'CREATE INDEX samples_by_round ON samples (round, host, outcome, listing_id)',
    `CREATE TABLE rounds (
      round ${integer} PRIMARY KEY,
      hosts ${integer} NOT NULL,
      failing ${integer} NOT NULL,
      ${flag('ours')},
      shown_hosts ${integer},
      shown_failing ${integer},
      shown_ours ${integer},
      revision ${integer},
      ${flag('pending')}
    ) ${strict}`,
    'CREATE INDEX rounds_ours ON rounds (round) WHERE ours = 1',
    'CREATE INDEX rounds_pending ON rounds (round) WHERE pending = 1',

    `CREATE TABLE probe_targets (
      listing_id ${text} PRIMARY KEY REFERENCES listings (id) ON DELETE CASCADE,
      due_at ${text} NOT NULL,
      sampled_round ${integer} NOT NULL,
      ${flag('unpublished')}
    ) ${strict}`,
    'CREATE INDEX probe_targets_unpublished ON probe_targets (sampled_round) WHERE unpublished = 1',
    'CREATE INDEX probe_targets_by_due ON probe_targets (due_at)',
    `CREATE TABLE hosts (
      host ${text} PRIMARY KEY,
      robots ${text},
      robots_at ${text},
      door_at ${text},
      sibling_at ${text},
      valid_at ${text},
      wait_until ${text},
      leased_by ${text},
      leased_until ${text}
    ) ${strict}`,
    `CREATE TABLE probe_runs (
      id ${counted},
      scope ${text} NOT NULL,
      started_at ${text} NOT NULL,
      ended_at ${text}
    ) ${strict}`,
  ];
}
