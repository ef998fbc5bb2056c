import type { RecordedReply } from '../evidence/cautions.ts';
import { getCanonicalBaseUrl } from '../model/listing.ts';
import { type Catalogue, listRows, listRowsBy, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** What a provider replies to a caution, before it is on record. */
export type Reply = Pick<RecordedReply, 'caution' | 'route' | 'text'>;

/** Lists the replies on record for the listing at an address, by caution and route; a listing need not be there. */
export function listReplies(catalogue: Catalogue, baseUrl: string): RecordedReply[] {
  const rows = listRowsBy<RecordedReply & { route: string }>(catalogue, REPLIES, getCanonicalBaseUrl(baseUrl));
  return rows.map((row) => ({ ...row, route: row.route === '' ? null : row.route }));
}

/** Asked for whenever a listing is derived: building the query would take longer than answering it. */
const REPLIES = 'SELECT caution, route, text, at, source FROM replies WHERE base_url = ? ORDER BY caution, route';

/** Lists the base addresses for which a source's replies are on record. */
export function listRepliedAddresses(catalogue: Catalogue, source: string): string[] {
  const query = catalogue.query.selectFrom('replies').select('base_url').distinct().where('source', '=', source);
  return listRows(catalogue, query.orderBy('base_url')).map(({ base_url }) => base_url);
}

/** Says whether these are all the replies of a source for an address, word for word, in whatever order. */
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
 * Records the replies of a source for an address in place of those it gave before; an unchanged one keeps its time. Gives
 * whether anything changed. Whoever calls this publishes the listing afterwards.
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
