import { listTagged } from '../snapshot/chunks.ts';
import { parseItem } from '../snapshot/entry.ts';
import { createPacking } from '../snapshot/packed.ts';
import type { Reading } from '../snapshot/reading.ts';
import { getCounts } from '../snapshot/selections.ts';
import { buildFullGuideHead, buildFullGuideListing } from '../views/full-guide.ts';
import type { ListingTag } from '../views/tag.ts';
import { buildPackedResponse } from './packed.ts';
import { refuseUnknown } from './parameters.ts';

/** Serves `GET /llms-full.txt`: every live listing, from the snapshot, put together from pieces of some 64 listings. */
export function createFullGuide({ site, getSnapshot }: Reading): (request: Request) => Promise<Response> {
  const pack = createPacking((chunk) =>
    listTagged(chunk)
      .map(({ entry, tag }) => buildFullGuideListing(parseItem(entry), JSON.parse(tag) as ListingTag))
      .join(''),
  );
  return async (request) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const snapshot = getSnapshot();
    return buildPackedResponse(request, {
      head: buildFullGuideHead(getCounts(snapshot), snapshot.revision, site),
      pieces: await pack(snapshot.chunks),
      type: 'text/plain; charset=utf-8',
      revision: snapshot.revision,
    });
  };
}
