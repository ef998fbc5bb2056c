import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { iterateListings } from '../../src/catalogue/listings.ts';
import { isLive } from '../../src/model/listing.ts';
import { buildAgentListing } from '../../src/views/agent-listing.ts';

/** How many other listings of its category a listing names. */
const RELATED = 4;

/**
 * Writes the live listings as content files for Hugo, `node hugo-export.ts <catalogue> <folder>`: a file for each, its data
 * in front, since this is what Hugo makes pages of. What stands next in the category counts as related, which costs nothing
 * to find.
 */
const [file = '', folder = ''] = process.argv.slice(2);
const site = { baseUrl: 'http://localhost:4321', serviceTitle: 'Catalogue', contactName: '', contactUrl: '' };
const catalogue = openCatalogueForReading(file);
const latest = new Map<string, object[]>();
mkdirSync(folder, { recursive: true });
for (const listing of iterateListings(catalogue)) {
  if (!isLive(listing)) continue;
  const { listing: data } = buildAgentListing(listing, { decisions: [], revision: 0, site });
  const { slug, title, tagline, category, provider_name, price_min_usdc, endpoints_count } = data;
  const neighbours = latest.get(category) ?? [];
  const front = { title, listing: data, related: neighbours };
  latest.set(category, [
    ...neighbours.slice(1 - RELATED),
    { slug, title, tagline, provider_name, price_min_usdc, endpoints_count },
  ]);
  writeFileSync(join(folder, `${slug}.md`), `${JSON.stringify(front)}\n`);
}
catalogue.close();
