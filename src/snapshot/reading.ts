import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import type { Site } from '../views/site.ts';
import { buildListingTag } from '../views/tag.ts';
import { listRelated } from './related.ts';
import { type GetSnapshot, openSnapshots } from './snapshot.ts';

/** All that the reading side works with: what the service says of itself, the catalogue (read-only), and the time. */
export interface Reading {
  readonly site: Site;
  readonly catalogue: Catalogue;
  readonly getSnapshot: GetSnapshot;
  /** See `Snapshots.load`. */
  readonly load: () => Promise<void>;
  readonly now: () => Date;
  /** See `listRelated`. Pages are compiled by themselves: asked for here, what is related is found once for them and us. */
  readonly listRelated: typeof listRelated;
}

/** Opens a catalogue file for the reading side. Throws as `openCatalogueForReading` does. */
export function openReading(file: string, site: Site, now: () => Date = () => new Date()): Reading {
  const catalogue = openCatalogueForReading(file);
  return { site, catalogue, ...openSnapshots(catalogue, site, buildListingTag), now, listRelated };
}

/**
 * What SQLite keeps of the file for pages, in kibibytes: with the few that it keeps by itself, listings and their changes,
 * which lie in another order, push each other out.
 */
const PAGE_CACHE = 64_000;

/** Opens a catalogue file for pages alone: as `openReading`, but without tags, which no page shows. */
export function openPageReading(file: string, site: Site): Reading {
  const catalogue = openCatalogueForReading(file);
  catalogue.sqlite.pragma(`cache_size = -${PAGE_CACHE}`);
  return { site, catalogue, ...openSnapshots(catalogue, site), now: () => new Date(), listRelated };
}
