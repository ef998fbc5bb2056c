import { getListingId } from '../../model/ids.ts';
import { getCanonicalBaseUrl } from '../../model/listing.ts';
import { areRepliesOnRecord, getReplyKey, listRepliesOf, type Reply } from '../read/replies.ts';
import { getRowKey } from '../row-keys.ts';
import type { Writing } from '../transaction.ts';

/**
 * Records the replies of a source for an address, in place of its earlier ones. An unchanged reply keeps its time. Returns true
 * if anything changed; the caller must then publish the listing.
 */
export async function recordReplies(
  { catalogue, at }: Writing,
  baseUrl: string,
  source: string,
  replies: readonly Reply[],
): Promise<boolean> {
  if (await areRepliesOnRecord(catalogue, baseUrl, source, replies)) return false;
  const { query } = catalogue;
  const listing_id = getListingId(baseUrl);
  const recorded = await listRepliesOf(catalogue, baseUrl, source);
  const earlier = new Map(recorded.map((reply) => [getReplyKey(reply), reply.at]));
  await query.deleteFrom('replies').where('listing_id', '=', listing_id).where('source', '=', source).execute();
  for (const reply of replies) {
    const { caution, route, text } = reply;
    const row = {
      id: getRowKey(listing_id, caution, route ?? ''),
      listing_id,
      base_url: getCanonicalBaseUrl(baseUrl),
      caution,
      route: route ?? '',
      text,
      source,
      at: earlier.get(getReplyKey(reply)) ?? at,
    };
    await query
      .insertInto('replies')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
  }
  return true;
}
