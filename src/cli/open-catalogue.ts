import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUpCatalogue } from '../catalogue/backup.ts';
import { type Catalogue, openCatalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { findListing, listSlugs } from '../catalogue/read/listings.ts';
import { deriveAgain } from '../catalogue/write/publication.ts';
import { ServiceError } from '../errors.ts';
import { type Listing, SLUG_MAX_LENGTH } from '../model/listing.ts';
import { cutText, findNearest } from '../model/text.ts';
import type { CommandContext } from './command.ts';

/** Runs `work` on the catalogue, opened read-only, and closes it. Throws `not_found` if there is none. */
export async function withReadableCatalogue<Result>(
  { getConfig }: CommandContext,
  work: (catalogue: Catalogue) => Result | Promise<Result>,
): Promise<Result> {
  return useAndClose(await openCatalogueForReading(getConfig().catalogueAddress), work);
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
  const address = getConfig().catalogueAddress;
  const identity = { identity: randomUUID(), at: now().toISOString() };
  return useAndClose(await openCatalogue(address, identity, { mayCreate: create }), async (catalogue) => {
    await deriveAgain(catalogue, identity.at);
    return await work(catalogue);
  });
}

/**
 * Runs `work` on a copy of the catalogue in a folder of its own, and removes the copy. So nothing is written to the
 * catalogue, not even a migration. Without a catalogue the copy is a new one.
 */
export async function withCatalogueCopy<Result>(
  context: CommandContext,
  work: (catalogue: Catalogue) => Result | Promise<Result>,
): Promise<Result> {
  const config = context.getConfig();
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-copy-'));
  const file = join(folder, 'catalogue.sqlite');
  try {
    const source = await findCatalogue(config.catalogueAddress);
    const { signal } = context;
    if (source) await useAndClose(source, () => backUpCatalogue(source, file, { replace: false, signal }));
    const ofCopy = { ...context, getConfig: () => ({ ...config, catalogueAddress: file }) };
    return await withWritableCatalogue(ofCopy, { create: true }, work);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a listing in any state. Throws `not_found` with the nearest slug as a hint. */
export async function getListing(catalogue: Catalogue, slug: string): Promise<Listing> {
  const listing = await findListing(catalogue, { slug });
  if (listing) return listing;
  const nearest = findNearest(slug.slice(0, SLUG_MAX_LENGTH), await listSlugs(catalogue));
  throw new ServiceError('not_found', `There is no listing "${cutText(slug, SLUG_MAX_LENGTH)}".`, {
    hint: nearest ? `Did you mean ${nearest}?` : 'The command list shows every slug.',
    reason: 'no_listing',
  });
}

/** Opens a catalogue read-only, even if it lacks migrations; returns undefined if the address has no catalogue. */
async function findCatalogue(address: string): Promise<Catalogue | undefined> {
  try {
    return await openCatalogueForReading(address, { mayBeOlder: true });
  } catch (error) {
    if (error instanceof ServiceError && error.reason === 'no_catalogue') return undefined;
    throw error;
  }
}

async function useAndClose<Result>(
  catalogue: Catalogue,
  work: (catalogue: Catalogue) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work(catalogue);
  } finally {
    await catalogue.close();
  }
}
