import type { RecordedReply } from '../evidence/cautions.ts';
import { getCanonicalBaseUrl } from '../model/listing.ts';
import { type Catalogue, listRows, listRowsBy, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** A provider's reply to a caution, before it is on record. */
export type Reply = Pick<RecordedReply, 'caution' | 'route' | 'text'>;

/** Lists the replies on record for an address, with or without a listing, by caution and route. */
export function listReplies(catalogue: Catalogue, baseUrl: string): RecordedReply[] {
  const rows = listRowsBy<RecordedReply & { route: string }>(catalogue, REPLIES, getCanonicalBaseUrl(baseUrl));
  return rows.map((row) => ({ ...row, route: row.route === '' ? null : row.route }));
}

/** Plain SQL, because it runs whenever a listing is derived: building the query takes longer than running it. */
const REPLIES = 'SELECT caution, route, text, at, source FROM replies WHERE base_url = ? ORDER BY caution, route';

/** Lists the base addresses for which a source has replies on record. */
export function listRepliedAddresses(catalogue: Catalogue, source: string): string[] {
  const query = catalogue.query.selectFrom('replies').select('base_url').distinct().where('source', '=', source);
  return listRows(catalogue, query.orderBy('base_url')).map(({ base_url }) => base_url);
}

/** Returns whether exactly these replies of a source are on record for an address, in any order. */
export function areRepliesOnRecord(
  catalogue: Catalogue,
  baseUrl: string,
  source: string,
  replies: readonly Reply[],
): boolean {
  const recorded = new Set(listRepliesOf(catalogue, baseUrl, source).map(getReplyKey));
  const given = new Set(replies.map(getReplyKey));
  return recorded.size === given.size && [...given].every((key) => recorded.has(key));
}

/**
 * Records the replies of a source for an address, in place of its earlier ones. An unchanged reply keeps its time. Returns
 * whether anything changed; the caller then has to publish the listing.
 */
export function recordReplies(
  { catalogue, at }: Writing,
  baseUrl: string,
  source: string,
  replies: readonly Reply[],
): boolean {
  if (areRepliesOnRecord(catalogue, baseUrl, source, replies)) return false;
  const base_url = getCanonicalBaseUrl(baseUrl);
  const earlier = new Map(listRepliesOf(catalogue, base_url, source).map((reply) => [getReplyKey(reply), reply.at]));
  runStatement(
    catalogue,
    catalogue.query.deleteFrom('replies').where('base_url', '=', base_url).where('source', '=', source),
  );
  for (const reply of replies) {
    const { caution, route, text } = reply;
    const row = { base_url, caution, route: route ?? '', text, source, at: earlier.get(getReplyKey(reply)) ?? at };
    runStatement(
      catalogue,
      catalogue.query
        .insertInto('replies')
        .values(row)
        .onConflict((conflict) => conflict.columns(['base_url', 'caution', 'route']).doUpdateSet(row)),
    );
  }
  return true;
}

function listRepliesOf(catalogue: Catalogue, baseUrl: string, source: string): RecordedReply[] {
  return listReplies(catalogue, baseUrl).filter((reply) => reply.source === source);
}

function getReplyKey({ caution, route, text }: Reply): string {
  return JSON.stringify([caution, route, text]);
}
