import { listChanges } from '../catalogue/changes.ts';
import { findListing } from '../catalogue/listings.ts';
import { getRevision } from '../catalogue/write.ts';
import { ServiceError } from '../errors.ts';
import { isLive } from '../model/listing.ts';
import { buildPart } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { buildAgentListing } from '../views/agent-listing.ts';
import { PATHS } from '../views/links.ts';
import { findTombstone } from '../views/tombstone.ts';
import { buildJoinedResponse } from './joined.ts';
import { refuseUnknown } from './parameters.ts';

/** Serves `GET /agent/listings/{slug}`: listing and decisions are read in one transaction, so they are of one revision. */
export function createAgentListing({ catalogue, site }: Reading): (request: Request, slug: string) => Response {
  const read = catalogue.sqlite.transaction((slug: string) => ({
    revision: getRevision(catalogue),
    listing: findListing(catalogue, { slug }),
    decisions: listChanges(catalogue, { slug }),
  }));
  return (request, slug) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const { revision, listing, decisions } = read(slug);
    const tombstone = listing && findTombstone(listing);
    if (tombstone) {
      throw new ServiceError('gone', `The listing ${slug} was taken out on ${tombstone.delisted_at.slice(0, 10)}.`, {
        hint: `The reason on record is ${tombstone.reason}.`,
        details: { tombstone },
      });
    }
    if (!listing || !isLive(listing)) {
      throw new ServiceError('not_found', `There is no live listing "${slug}".`, {
        hint: `GET ${PATHS.agentList}?q=… searches the catalogue.`,
      });
    }
    const { revision: _now, ...document } = buildAgentListing(listing, { decisions, revision, site });
    return buildJoinedResponse(request, {
      head: `{"revision":${revision}`,
      headKey: String(listing.revision),
      body: buildPart(`,${JSON.stringify(document).slice(1)}`),
      revision,
    });
  };
}
