import type { Catalogue } from '../src/catalogue/database.ts';
import { listReplies } from '../src/catalogue/read/replies.ts';
import type { RecordedReply } from '../src/evidence/cautions.ts';
import { getListingId } from '../src/model/ids.ts';

/** Lists the replies on record for one address. */
export async function listRepliesAt(catalogue: Catalogue, baseUrl: string): Promise<RecordedReply[]> {
  const id = getListingId(baseUrl);
  return (await listReplies(catalogue, [id])).get(id) ?? [];
}
