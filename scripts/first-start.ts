import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openCatalogue, openCatalogueForReading } from '../src/catalogue/database.ts';
import { getRevision } from '../src/catalogue/transaction.ts';
import type { Config } from '../src/config.ts';
import { ServiceError } from '../src/errors.ts';
import { formatAddress } from '../src/model/catalogue-address.ts';
import { PROJECT_DIR } from '../src/release/code-version.ts';
import { acquireLock } from '../src/release/lock.ts';
import { hasServableRelease } from '../src/release/state.ts';

/** What a first start is given. */
interface FirstStart {
  readonly config: Config;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Writes one line for the person at the terminal. */
  readonly tell: (line: string) => void;
}

/**
 * Makes sure that there is a catalogue that this code can read: creates it, migrates it, and imports the seed manifests into
 * one that nothing was ever written to. A catalogue that is ready is only opened for reading. Of several first starts in
 * one folder, one does the work and the others wait for it.
 */
export async function prepareCatalogue(firstStart: FirstStart): Promise<void> {
  const { config, tell } = firstStart;
  if (await isReady(config.catalogueAddress)) return;
  const lock = await acquireLock(join(config.releasesDir, 'first-start.lock'), () =>
    tell(`Waiting for another first start, which is setting up ${formatAddress(config.catalogueAddress)} …`),
  );
  try {
    if (!(await isReady(config.catalogueAddress))) await createCatalogue(firstStart);
  } finally {
    lock.release();
  }
}

async function createCatalogue({ config, now, tell }: FirstStart): Promise<void> {
  const { catalogueAddress } = config;
  const catalogue = await openCatalogue(catalogueAddress, { identity: randomUUID(), at: now().toISOString() });
  try {
    if ((await getRevision(catalogue)) > 0) return;
    // Loaded here, because only the very first start needs it.
    const { seedCatalogue } = await import('../src/commands/import-manifests.ts');
    const report = await seedCatalogue(catalogue, join(PROJECT_DIR, 'data/listings'), now);
    if (report)
      tell(`Created ${formatAddress(catalogueAddress)} with ${report.listings.added} listings from data/listings.`);
  } finally {
    await catalogue.close();
  }
}

/** Makes the first release, so that the first visitor finds pages. Does nothing if an older release can be served. */
export async function prepareRelease({ config, signal, tell }: FirstStart): Promise<void> {
  if (hasServableRelease(config)) return;
  const { rebuild } = await import('../src/release/rebuild.ts');
  const { describeRebuildEvent, describeRebuildResult } = await import('../src/release/words.ts');
  const result = await rebuild({
    config,
    signal,
    onEvent: (event) => {
      const line = event.type === 'said' ? event.text.trimEnd() : describeRebuildEvent(event);
      if (line) tell(line);
    },
  });
  tell(describeRebuildResult(result));
}

async function isReady(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  try {
    const catalogue = await openCatalogueForReading(file);
    const revision = await getRevision(catalogue);
    await catalogue.close();
    return revision > 0;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === 'schema_version') return false;
    throw error;
  }
}
