import { listChanges } from '../catalogue/changes.ts';
import { countListings } from '../catalogue/counts.ts';
import type { Catalogue } from '../catalogue/database.ts';
import { iterateListings } from '../catalogue/listings.ts';
import { getCatalogueState } from '../catalogue/write.ts';
import { isLive } from '../model/listing.ts';
import { buildAgentListing } from '../views/agent-listing.ts';
import type { Site } from '../views/site.ts';
import { findTombstone } from '../views/tombstone.ts';
import { formatJson } from './terminal/printable.ts';

/** A piece of an export, and what it stands for. */
export interface ExportPiece {
  kind: 'catalogue' | 'listing' | 'tombstone' | 'punctuation';
  text: string;
}

interface Entry {
  kind: 'catalogue' | 'listing' | 'tombstone';
  value: object;
}

/** Returns the export as lines of JSON, each with its `kind`. */
export function* generateLines(catalogue: Catalogue, site: Site): Generator<ExportPiece> {
  for (const { kind, value } of generateEntries(catalogue, site)) {
    yield { kind, text: `${formatJson({ kind, ...value })}\n` };
  }
}

/** Returns the export as one JSON document: `{"catalogue": …, "listings": […], "tombstones": […]}`. */
export function* generateJson(catalogue: Catalogue, site: Site): Generator<ExportPiece> {
  let last: Entry['kind'] | undefined;
  for (const { kind, value } of generateEntries(catalogue, site)) {
    const json = formatJson(value);
    if (kind === 'catalogue') yield { kind, text: `{"catalogue":${json},\n"listings":[` };
    else if (kind === 'tombstone' && last !== 'tombstone') yield { kind, text: `\n],\n"tombstones":[\n${json}` };
    else yield { kind, text: `${last === 'catalogue' ? '' : ','}\n${json}` };
    last = kind;
  }
  yield { kind: 'punctuation', text: last === 'tombstone' ? '\n]}\n' : '\n],\n"tombstones":[]}\n' };
}

function* generateEntries(catalogue: Catalogue, site: Site): Generator<Entry> {
  const { revision, revised_at } = getCatalogueState(catalogue);
  const { live, verified } = countListings(catalogue);
  const counts = { live_listings: live, settlement_verified: verified };
  yield { kind: 'catalogue', value: { title: site.serviceTitle, revision, revised_at, ...counts } };
  for (const listing of iterateListings(catalogue)) {
    if (!isLive(listing)) continue;
    const decisions = listChanges(catalogue, { slug: listing.slug });
    const { listing: document } = buildAgentListing(listing, { decisions, revision, site });
    yield { kind: 'listing', value: { ...document, decisions } };
  }
  for (const listing of iterateListings(catalogue)) {
    const tombstone = findTombstone(listing);
    if (tombstone) yield { kind: 'tombstone', value: tombstone };
  }
}
