import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Catalogue, openCatalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { findListing, listSlugs } from '../catalogue/listings.ts';
import { ServiceError } from '../errors.ts';
import { type Listing, SLUG_MAX_LENGTH } from '../model/listing.ts';
import { cutText, findNearest } from '../model/text.ts';
import type { CommandContext } from './command.ts';

/** Runs `work` on the catalogue, opened read-only, and closes it. Throws `not_found` if there is none. */
export async function withReadableCatalogue<Result>(
  { getConfig }: CommandContext,
  work: (catalogue: Catalogue) => Result | Promise<Result>,
): Promise<Result> {
  return useAndClose(openCatalogueForReading(getConfig().catalogueFile), work);
}

/**
 * Runs `work` on the catalogue, opened for writing, and closes it. If there is none, it is created with `create`;
 * without `create` it throws `not_found`, because there is nothing to change.
 */
export async function withWritableCatalogue<Result>(
  { getConfig, now }: CommandContext,
  { create }: { create: boolean },
  work: (catalogue: Catalogue) => Result | Promise<Result>,
): Promise<Result> {
  const file = getConfig().catalogueFile;
  if (!create && !existsSync(file)) openCatalogueForReading(file).close();
  return useAndClose(openCatalogue(file, { identity: randomUUID(), at: now().toISOString() }), work);
}

/** Returns a listing in any state. Throws `not_found` with the nearest slug as a hint. */
export function getListing(catalogue: Catalogue, slug: string): Listing {
  const listing = findListing(catalogue, { slug });
  if (listing) return listing;
  const nearest = findNearest(slug.slice(0, SLUG_MAX_LENGTH), listSlugs(catalogue));
  throw new ServiceError('not_found', `There is no listing "${cutText(slug, SLUG_MAX_LENGTH)}".`, {
    hint: nearest ? `Did you mean ${nearest}?` : 'The command list shows every slug.',
    reason: 'no_listing',
  });
}

async function useAndClose<Result>(
  catalogue: Catalogue,
  work: (catalogue: Catalogue) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work(catalogue);
  } finally {
    catalogue.close();
  }
}
