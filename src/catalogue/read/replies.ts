import type { RecordedReply } from '../../evidence/cautions.ts';
import { getListingId } from '../../model/ids.ts';
import type { Catalogue } from '../database.ts';

/** A provider's reply to a caution, before it is recorded. */
export type Reply = Pick<RecordedReply, 'caution' | 'route' | 'text'>;

/** Lists the recorded replies for addresses, by the ids that listings there have or would have; each by caution and route. */
export async function listReplies(
  { query }: Catalogue,
  listingIds: readonly string[],
): Promise<Map<string, RecordedReply[]>> {
  const rows = await query
    .selectFrom('replies')
    .select(['listing_id', 'caution', 'route', 'text', 'at', 'source'])
    .where('listing_id', 'in', listingIds)
    .orderBy('caution')
    .orderBy('route')
    .execute();
  return new Map(
    [...Map.groupBy(rows, ({ listing_id }) => listing_id)].map(([id, replies]) => [
      id,
      replies.map(({ caution, route, text, at, source }) => ({
        caution: caution as RecordedReply['caution'],
        route: route === '' ? null : route,
        text,
        at,
        source,
      })),
    ]),
  );
}

/** Lists the replies of a source on record for an address. */
export async function listRepliesOf(catalogue: Catalogue, baseUrl: string, source: string): Promise<RecordedReply[]> {
  const id = getListingId(baseUrl);
  const replies = (await listReplies(catalogue, [id])).get(id) ?? [];
  return replies.filter((reply) => reply.source === source);
}

/** Lists the base addresses for which a source has replies on record. */
export async function listRepliedAddresses({ query }: Catalogue, source: string): Promise<string[]> {
  const rows = await query
    .selectFrom('replies')
    .select('base_url')
    .distinct()
    .where('source', '=', source)
    .orderBy('base_url')
    .execute();
  return rows.map(({ base_url }) => base_url);
}

/** Returns true if exactly these replies of a source are recorded for an address, in any order. */
export async function areRepliesOnRecord(
  catalogue: Catalogue,
  baseUrl: string,
  source: string,
  replies: readonly Reply[],
): Promise<boolean> {
  const recorded = new Set((await listRepliesOf(catalogue, baseUrl, source)).map(getReplyKey));
  const given = new Set(replies.map(getReplyKey));
  return recorded.size === given.size && [...given].every((key) => recorded.has(key));
}

/** Returns a key that is equal for equal replies. */
export function getReplyKey({ caution, route, text }: Reply): string {
  return JSON.stringify([caution, route, text]);
}
