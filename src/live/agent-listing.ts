import { listChanges } from '../catalogue/changes.ts';
import { findListing } from '../catalogue/listings.ts';
import { ServiceError } from '../errors.ts';
import { isLive } from '../model/listing.ts';
import { buildPart, type Part } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { findEntry } from '../snapshot/snapshot.ts';
import { buildAgentListing } from '../views/agent-listing.ts';
import { PATHS } from '../views/links.ts';
import { buildJoinedResponse } from './joined.ts';
import { createKeptParts } from './kept-parts.ts';
import { refuseUnknown } from './parameters.ts';

/** How much of the answers is kept: a usual one is some 10 kB, one of thousands of routes several MB. */
const KEPT_BYTES = 8 * 1024 * 1024;

/**
 * Serves `GET /agent/listings/{slug}`: snapshot, listing and decisions are read in one transaction, so they are of one
 * revision. All but the catalogue's revision is built once for each revision of the listing.
 */
export function createAgentListing(reading: Reading): (request: Request, slug: string) => Response {
  const { catalogue, getSnapshot } = reading;
  const kept = createKeptParts(KEPT_BYTES);
  const answer = catalogue.sqlite.transaction((request: Request, slug: string): Response => {
    const snapshot = getSnapshot();
    const { revision, tombstones } = snapshot;
    const entry = findEntry(snapshot, slug);
    const tombstone = tombstones.get(slug);
    if (tombstone) {
      throw new ServiceError('gone', `The listing ${slug} was taken out on ${tombstone.delisted_at.slice(0, 10)}.`, {
        hint: 'The tombstone says who took it out, and why.',
        details: { tombstone, decisions: listChanges(catalogue, { slug }) },
      });
    }
    if (!entry) throw buildMissingError(slug);
    return buildJoinedResponse(request, {
      head: `{"revision":${revision}`,
      headKey: String(entry.revision),
      body: kept.get(`${slug} ${entry.revision}`, () => buildBody(reading, slug, revision)),
      revision,
    });
  });
  return (request, slug) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    return answer(request, slug);
  };
}

function buildBody({ catalogue, site }: Reading, slug: string, revision: number): Part {
  const listing = findListing(catalogue, { slug });
  if (!listing || !isLive(listing)) throw buildMissingError(slug);
  const decisions = listChanges(catalogue, { slug });
  const { revision: _now, ...document } = buildAgentListing(listing, { decisions, revision, site });
  return buildPart(`,${JSON.stringify(document).slice(1)}`);
}

function buildMissingError(slug: string): ServiceError {
  return new ServiceError('not_found', `There is no live listing "${slug}".`, {
    hint: `GET ${PATHS.agentList}?q=… searches the catalogue.`,
  });
}
