import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openFollowed } from '../src/catalogue/delta.ts';
import { acquireLock } from '../src/catalogue/lock.ts';
import { type Config, readEnvironment } from '../src/config.ts';
import { ServiceError } from '../src/errors.ts';
import { formatAddress } from '../src/model/catalogue-address.ts';
import { getFailure } from '../src/model/failure.ts';
import { buildEmptyRefusal, findServableAge, isAnythingPublished } from '../src/published/follow.ts';
import type { RebuildEvent } from '../src/site/events.ts';
import { PROJECT_DIR } from '../src/site/page-code.ts';
import { getSitePaths } from '../src/site/paths.ts';
import { findBuild } from '../src/site/record.ts';
import { getSettingsHash, getSite } from '../src/site/settings.ts';

/** The context of a first start. */
interface FirstStart {
  readonly config: Config;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Writes one line for the person at the terminal. */
  readonly tell: (line: string) => void;
}

/**
 * Makes sure that there is a catalogue that this code can read: creates it, migrates it, and imports the seed manifests
 * into one that nothing was ever written to. A catalogue that is ready is only opened for reading. If several first
 * starts run in one folder, one does the work and the others wait for it. If that fails, the earlier published
 * catalogue is served.
 */
export async function prepareCatalogue(firstStart: FirstStart): Promise<void> {
  const { config, tell } = firstStart;
  try {
    await makeReady(firstStart);
  } catch (error) {
    if (findServableAge(config) === undefined) throw error;
    const { message, hint = '' } = getFailure(error);
    tell(`${message} ${hint} Meanwhile what was published before is served.`);
  }
}

async function makeReady(firstStart: FirstStart): Promise<void> {
  const { config, tell } = firstStart;
  if (await isReady(config)) return;
  const lock = await acquireLock(`${config.siteDir}.first-start.lock`, () =>
    tell(`Waiting for another first start, which is setting up ${formatAddress(config.catalogueAddress)} …`),
  );
  try {
    if (!(await isReady(config))) await createCatalogue(firstStart);
  } finally {
    lock.release();
  }
}

async function createCatalogue({ config, now, tell }: FirstStart): Promise<void> {
  const { catalogueAddress } = config;
  // Loaded here, because only the very first start and one after an upgrade need it.
  const { openCatalogue } = await import('../src/catalogue/database.ts');
  const { getRevision, isWrongClock } = await import('../src/catalogue/transaction.ts');
  const catalogue = await openCatalogue(catalogueAddress, { identity: randomUUID(), at: now().toISOString() });
  try {
    const { deriveAgain } = await import('../src/catalogue/write/publication.ts');
    try {
      await deriveAgain(catalogue, now().toISOString());
    } catch (error) {
      if (!isWrongClock(error)) throw error;
      // Readers are served the listings of earlier rules; the next command that may write derives them again.
      tell(`${error.message} ${error.hint} Until then listings are as earlier rules derived them.`);
    }
    if ((await getRevision(catalogue)) > 0) return;
    if (isAnythingPublished(config.publishedFile)) throw buildEmptyRefusal(config.publishedFile);
    const { seedCatalogue } = await import('../src/importing/manifests.ts');
    const report = await seedCatalogue(catalogue, join(PROJECT_DIR, 'data/listings'), now);
    if (report)
      tell(`Created ${formatAddress(catalogueAddress)} with ${report.listings.added} listings from data/listings.`);
  } finally {
    await catalogue.close();
  }
}

/**
 * Compiles the pages if that was never done for this code, so that the first visitor finds pages: they are rendered on demand
 * until they are written. Does nothing if pages for these settings are there, which are served meanwhile.
 */
export async function preparePages({ config, signal, tell }: FirstStart): Promise<void> {
  tellOfReleases(config, tell);
  if (findBuild(getSitePaths(config.siteDir).record, 'done')?.settings_hash === getSettingsHash(getSite(config)))
    return;
  const { openPageCode } = await import('../src/site/compiling.ts');
  const { describeRebuildEvent } = await import('../src/site/events.ts');
  const onEvent = (event: RebuildEvent) => {
    const line = event.type === 'said' ? event.text.trimEnd() : describeRebuildEvent(event);
    if (line) tell(line);
  };
  const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  try {
    await Promise.race([openPageCode({ onEvent }), stopped]);
  } catch (error) {
    const { code, message, hint = '' } = getFailure(error);
    // A full disk stops pages alone: documents are served, and pages made once that is possible.
    if (signal.aborted || (code !== 'unavailable' && code !== 'refused')) throw error;
    tell(`${message} ${hint} Meanwhile documents are served, and no pages.`);
  }
}

/** Names what an earlier version left, which had its pages in a folder of releases. Nothing of it is touched. */
function tellOfReleases({ siteDir }: Config, tell: FirstStart['tell']): void {
  const folder = readEnvironment().RELEASES || dirname(siteDir);
  const left = ['current', 'releases', 'shards', 'assets', 'download'].map((name) => join(folder, name));
  if (!left.slice(0, 3).every((path) => existsSync(path))) return;
  tell(`The pages are in ${siteDir} now. What an earlier version left can be deleted: ${left.join(', ')}.`);
}

async function isReady({ catalogueAddress }: Config): Promise<boolean> {
  try {
    const catalogue = await openFollowed(catalogueAddress);
    try {
      return (await catalogue.readState()).revision > 0;
    } finally {
      await catalogue.close();
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.reason === 'schema_version' || error.reason === 'no_catalogue') return false;
    throw error;
  }
}
