import type { Generated } from 'kysely';
import type { PaymentState } from '../model/payment.ts';
import type { PaymentIdentifier } from '../model/payment-identifier.ts';
import type { ProbeOutcome } from '../model/probe.ts';

/** The columns of each table, with which Kysely checks queries. Booleans are 0/1, times ISO 8601 UTC, amounts atomic USDC. */

/** One row: the identity of this catalogue, and its latest revision. */
export interface CatalogueTable {
  id: 1;
  identity: string;
  revision: number;
  revised_at: string;
  /** Version of the rules by which all its listings were derived. */
  rules: number;
}

/** The time at which each revision became visible. */
export interface RevisionsTable {
  revision: number;
  at: string;
}

/** One row for each listing, live or not: its identity, and the document that readers see. */
export interface ListingsTable {
  /** Its number, which is also used in the published catalogue. */
  number: Generated<number>;
  id: string;
  slug: string;
  /** Origin of its base address: scheme, host and port. */
  origin: string;
  base_url: string;
  state: 'live' | 'held' | 'delisted';
  verified: 0 | 1;
  /** 1: it was ever live, so readers know its name. */
  was_live: 0 | 1;
  /** Number of routes in its document. */
  routes: number;
  revision: number;
  /** JSON of model `Listing`. */
  document: string;
}

/** The declaration of each listing by each source. */
export interface DeclarationsTable {
  listing_id: string;
  kind: string;
  source: string;
  /** Time of the complete pull of the source that no longer had the listing. */
  withdrawn_at: string | null;
  /** JSON of model `Declaration`. */
  document: string;
  /** Time by our clock at which a feed was first heard, or another source was last read; null if not known. */
  heard_at: string | null;
}

/** Decisions that an address, with or without a listing, is not to be listed. */
export interface DelistingsTable {
  /** The id that a listing at the address has or would have. */
  listing_id: string;
  base_url: string;
  by: 'operator' | 'provider' | 'rule';
  reason: string;
  /** Address of the provider's statement; null for a decision of the operator or of a rule. */
  source: string | null;
  at: string;
}

/** Replies of providers to cautions, by the address of the listing, which need not be known yet. */
export interface RepliesTable {
  /** Hash of address, caution and route. */
  id: string;
  /** The id that a listing at the address has or would have. */
  listing_id: string;
  base_url: string;
  caution: string;
  /** Method and path; empty for a reply to the caution of the whole listing. */
  route: string;
  text: string;
  /** Address of the provider's file. */
  source: string;
  /** Time at which it was first read. */
  at: string;
}

export interface RoutesTable {
  id: string;
  listing_id: string;
  method: string;
  path: string;
  payee: 'fixed' | 'rotating' | null;
  /** Support for an id of the payment in its latest valid 402; null until one was seen. */
  payment_identifier: 'none' | PaymentIdentifier | null;
  /** Time of its last probe, whatever the outcome. */
  probed_at: string | null;
}

/**
 * All offers ever declared for a route or observed on it. An observed offer has a row for each period in which it was made; at
 * most one of these is current.
 */
export interface TermsTable {
  id: Generated<number>;
  route_id: string;
  evidence: 'declared' | 'observed';
  terms_key: string;
  network: string;
  scheme: string;
  asset: string;
  amount: number;
  pay_to: string | null;
  max_timeout_seconds: number | null;
  x402_version: number | null;
  source: string;
  first_seen_at: string | null;
  last_seen_at: string | null;
  current: 0 | 1;
  /** JSON list of further abilities that a client needs; null for none. */
  needs: string | null;
  /** Time at which the source was first heard to declare the terms; null if not known, and for observed terms. */
  heard_at: string | null;
}

export interface ReceiptsTable {
  id: string;
  route_id: string;
  network: string;
  asset: string;
  amount: number;
  payer: string;
  pay_to: string;
  transaction: string;
  settled_at: string;
  settled: 0 | 1;
  delivered: 0 | 1;
  conforming: 'yes' | 'no' | 'undeclared';
  genesis: string;
  /** JSON of model `PaidRequest`, or null. */
  request: string;
  /** Reason why the answer was not recognised as the product. */
  unrecognised: string | null;
  /** The most that the seller could take; null if exactly the amount was signed. */
  ceiling: number | null;
}

/** Receipts that the operator declared wrong. */
export interface CorrectionsTable {
  receipt_id: string;
  because: string;
  at: string;
}

/** A name of a live listing, in a form in which names that look alike are equal. */
export interface ListingNamesTable {
  name: string;
  listing_id: string;
  /** Registrable domain of its host. */
  domain: string;
  /** 1: the listing has a standing for this name (evidence/names.ts). */
  known: 0 | 1;
  since: string;
}

/** All payment attempts: the document, and the columns for caps and reconciliation. */
export interface PaymentsTable {
  id: string;
  /** No foreign key, since a payment may be restored into a catalogue that has lost its route. */
  route_id: string;
  network: string;
  /** The transaction in which the payment was found; null while none is known. */
  transaction: string | null;
  /** UTC date by the clock of the chain, for the daily cap. */
  day: string;
  payer: string;
  amount: number;
  state: PaymentState;
  prepared_at: string;
  /** JSON of model `Payment`. */
  document: string;
  /** Revision of its latest reader-visible change; null while it has no receipt. */
  revision: number | null;
}

/** The log of all reader-visible changes, in the order of `seq`. Changes of one `revision` became visible together. */
export interface ChangesTable {
  seq: Generated<number>;
  revision: number;
  at: string;
  listing_id: string;
  kind: string;
  reason: string;
  detail: string;
}

/**
 * One pull of one feed to its end. `completed_at` is null until its items are imported; an import that was stopped begins again
 * with another pull.
 */
export interface PullsTable {
  id: Generated<number>;
  feed: string;
  started_at: string;
  completed_at: string | null;
  pages: number;
  /** Number of different items on its pages. */
  items: number;
  /** `complete` if all of the feed was read. */
  ended: 'complete' | 'incomplete' | null;
}

/** Raw feed items as last seen, including refused ones. */
export interface FeedItemsTable {
  /** Hash of feed, key and version. */
  id: string;
  /** Hash of the key. */
  key_hash: string;
  feed: string;
  item_key: string;
  item_hash: string;
  pull_id: number;
  raw: string;
}

/** Findings of the last import of a source about its items. */
export interface FindingsTable {
  /** Hash of source, item, code and message. */
  id: string;
  source: string;
  item: string;
  code: string;
  severity: 'refused' | 'noted';
  message: string;
  found_at: string;
}

/** The result of one probe of one route: the columns for rules and queries, and a document with the rest. */
export interface SamplesTable {
  id: Generated<number>;
  listing_id: string;
  route_id: string;
  /** Origin that was asked. */
  host: string;
  /** Name of the machine that asked; empty if it was not recorded. */
  prober: Generated<string>;
  /** Number of the six-hour round in which it was taken. */
  round: number;
  at: string;
  outcome: ProbeOutcome;
  cause: string | null;
  status: number | null;
  /** Null for a sample without an answer or without a measured time. */
  latency_ms: number | null;
  /** JSON of the remaining fields of model `ProbeSample`. */
  document: string;
}

/**
 * Numbers of hosts that a prober asked in a round and that failed, and the judgement whether that is our own fault. Each prober
 * is judged separately, so that a network failure of one machine counts against nobody.
 */
export interface RoundsTable {
  round: number;
  prober: string;
  hosts: number;
  failing: number;
  ours: 0 | 1;
  /** Number that readers see since `revision`; null until the first revision after the round was judged. */
  shown_hosts: number | null;
  shown_failing: number | null;
  shown_ours: 0 | 1 | null;
  revision: number | null;
  /** 1: it was judged again since. */
  pending: Generated<0 | 1>;
}

/** Number of listings that went live, were removed, became verified or unverified on a UTC day. */
export interface ListingDaysTable {
  day: string;
  listed: number;
  taken_out: number;
  verified: number;
  unverified: number;
}

/** The time of a listing's next probe, and whether it has samples that are not published yet. */
export interface ProbeTargetsTable {
  listing_id: string;
  due_at: string;
  /** Round of its latest sample. */
  sampled_round: number;
  unpublished: 0 | 1;
}

/** The facts that probing has about a host, by its origin. */
export interface HostsTable {
  host: string;
  /** Its robots.txt as last read; empty if it has none. */
  robots: string | null;
  robots_at: string | null;
  /** Time at which the provider's file on it was last read. */
  provider_file_at: string | null;
  /** Time at which a made-up address next to a payable route was last probed. */
  decoy_at: string | null;
  /** Time at which one of its routes last answered with a valid 402. */
  valid_at: string | null;
  /** Time until which the host asked for no requests. */
  wait_until: string | null;
  /** SHA-256 of the wishes in the provider's file when they were last applied; null before the first time. */
  file_hash: string | null;
  /** The prober that visits it, and the time until which no other prober may visit it, unless extended. */
  leased_by: string | null;
  leased_until: string | null;
}

/** One run over all routes (`all`) or all published listings (`freshening`). An unfinished run is continued. */
export interface ProbeRunsTable {
  id: Generated<number>;
  scope: string;
  started_at: string;
  ended_at: string | null;
}

export interface Tables {
  catalogue: CatalogueTable;
  revisions: RevisionsTable;
  listings: ListingsTable;
  declarations: DeclarationsTable;
  delistings: DelistingsTable;
  replies: RepliesTable;
  routes: RoutesTable;
  terms: TermsTable;
  receipts: ReceiptsTable;
  corrections: CorrectionsTable;
  listing_names: ListingNamesTable;
  payments: PaymentsTable;
  changes: ChangesTable;
  pulls: PullsTable;
  feed_items: FeedItemsTable;
  findings: FindingsTable;
  samples: SamplesTable;
  rounds: RoundsTable;
  listing_days: ListingDaysTable;
  probe_targets: ProbeTargetsTable;
  hosts: HostsTable;
  probe_runs: ProbeRunsTable;
}
