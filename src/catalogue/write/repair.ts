import { sql } from 'kysely';
import { getRound } from '../../evidence/rounds.ts';
import { listTables, readRows } from '../copy.ts';
import type { Catalogue } from '../database.ts';
import { listStaleListings } from '../integrity.ts';
import { findListing } from '../read/listings.ts';
import type { Tables } from '../tables.ts';
import type { Writing } from '../transaction.ts';
import { addToDay, publishListings, storeListing } from './publication.ts';

/**
 * Publishes again all listings that differ from what their evidence gives, for example after an upgrade that changed
 * the rules. Listings of which only times and counts differ wait unless `fresh`. Returns the slugs of the others.
 */
export async function repairListings(writing: Writing, { fresh = false } = {}): Promise<string[]> {
  const { catalogue } = writing;
  const stale = await listStaleListings(catalogue);
  const all = await catalogue.query.selectFrom('listings').select(['id', 'slug', 'base_url']).orderBy('slug').execute();
  // All listings, because this records the names by which listings are compared, too.
  const published = await publishListings(
    writing,
    all.map((identity) => ({ identity, cause: 'derived_again', may_wait: !fresh })),
  );
  for (const { id } of stale) {
    // Nothing was published if only the columns beside the document are wrong.
    const listing = published.has(id) ? undefined : await findListing(catalogue, { id });
    if (listing) await storeListing(catalogue, listing, listing);
  }
  if (stale.length > 0) writing.raiseRevision();
  return stale.map(({ slug }) => slug);
}

/**
 * Tables whose times stay. Caps count payments by days of the chain, and journals have the same times. The write itself
 * sets the catalogue's time.
 */
const KEEP_TIMES: readonly string[] = ['payments', 'receipts', 'catalogue'] satisfies (keyof Tables)[];

/** Longest wait for a probe, in milliseconds: a removed listing is probed once a week, more or less. */
const LONGEST_WAIT_MS = 8 * 24 * 60 * 60 * 1000;

/**
 * Moves records dated later than the write, of the kind `redating`, to its time, and publishes all listings again. It
 * raises the revision, so that later writes are compared with this one. Published catalogues are made from the
 * beginning if a revision of theirs now has another time. Returns what `repairListings` does.
 */
export async function moveFutureToPresent(writing: Writing): Promise<string[]> {
  const { catalogue, at } = writing;
  const { query } = catalogue;
  const longest = new Date(Date.parse(at) + LONGEST_WAIT_MS).toISOString();
  const tables: readonly string[] = listTables().filter((name) => !KEEP_TIMES.includes(name));
  for (const { name: table, columns } of await query.introspection.getTables()) {
    for (const { name } of columns) {
      if (!tables.includes(table) || !/(^|_)(at|since|until)$/.test(name)) continue;
      const after = name === 'due_at' || name === 'wait_until' ? longest : at;
      await sql`UPDATE ${sql.table(table)} SET ${sql.ref(name)} = ${at} WHERE ${sql.ref(name)} > ${after}`.execute(
        query,
      );
    }
  }
  const round = getRound(at);
  await sql`UPDATE samples SET round = ${round} WHERE round > ${round}`.execute(query);
  await sql`DELETE FROM rounds WHERE round > ${round}`.execute(query);
  await sql`UPDATE probe_targets SET sampled_round = ${round}, due_at = ${at}, unpublished = 1
    WHERE sampled_round > ${round}`.execute(query);
  const day = at.slice(0, 10);
  const later = await query.deleteFrom('listing_days').where('day', '>', day).returningAll().execute();
  for (const counts of later) await addToDay(catalogue, { ...counts, day });
  await moveWithinTexts(catalogue, at);
  writing.raiseRevision();
  return await repairListings(writing, { fresh: true });
}

/** Texts in JSON that have times of their own, and the names of these. All others follow from the evidence. */
const TOLD = [
  ['listings', 'number', 'document', /^(listed|updated)_at$/],
  ['declarations', 'listing_id', 'document', /^(observed|heard)_at$/],
  ['changes', 'seq', 'detail', /(^|_)(at|since)$/],
] as const;

async function moveWithinTexts({ query }: Catalogue, at: string): Promise<void> {
  for (const [table, key, column, names] of TOLD) {
    const move = (name: string, value: unknown) =>
      names.test(name) && typeof value === 'string' && value > at && Date.parse(value) ? at : value;
    for await (const rows of readRows(query, table)) {
      for (const { [key]: id, [column]: text } of rows) {
        const moved = JSON.stringify(JSON.parse(String(text), move));
        if (moved === text) continue;
        await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${moved}
          WHERE ${sql.ref(key)} = ${id} AND ${sql.ref(column)} = ${text}`.execute(query);
      }
    }
  }
}
