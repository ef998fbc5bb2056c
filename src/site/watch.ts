import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FollowedCatalogue, openFollowed } from '../catalogue/delta.ts';
import { isDamage } from '../catalogue/sqlite-file.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { asRebuildError, type OnRebuildEvent, type RebuildResult } from './events.ts';
import { getCodeVersion } from './page-code.ts';
import { getSitePaths } from './paths.ts';
import { openRebuilder } from './rebuild.ts';
import { type Build, followRecord, getMadeFrom, isMadeFrom, isOfSite, type MadeFrom } from './record.ts';
import { getSite } from './settings.ts';

/** The times of a watch, in milliseconds. */
export interface Pace {
  /** Time between two readings of the catalogue's revision. */
  readonly poll: number;
  /** A rebuild waits until nothing was written for this long, but never longer than the limit. */
  readonly quiet: number;
  readonly quietLimit: number;
  /** Wait before the next try after a failure, twice as long each time up to the limit. */
  readonly backoff: number;
  readonly backoffLimit: number;
}

const PACE: Pace = { poll: 250, quiet: 400, quietLimit: 3000, backoff: 1000, backoffLimit: 60_000 };

/** The catalogue to follow, and the callbacks. */
export interface WatchOptions {
  readonly config: Config;
  /** Stops the watch, and a running rebuild. */
  readonly signal: AbortSignal;
  readonly onEvent?: OnRebuildEvent | undefined;
  readonly onResult?: ((result: RebuildResult) => void) | undefined;
  /** Called with a failure, and the time until the next try, in milliseconds. */
  readonly onFailure?: ((error: ServiceError, retryInMs: number) => void) | undefined;
  /** Called each time that another process takes over the folder, which is then left to that process. */
  readonly onYield?: ((error: ServiceError) => void) | undefined;
  readonly pace?: Pace | undefined;
}

/**
 * Watches the catalogue. If the site folder is out of date, rebuilds it in a process of its own once writers pause. Continues
 * after failures, also while there is no catalogue. A folder that another process takes over, for another catalogue, other
 * settings or with other code, is left to it until the catalogue changes; otherwise the two would replace each other's pages for
 * ever. Resolves when the signal aborts.
 */
export async function watchAndRebuild({
  config,
  signal,
  onEvent,
  onResult,
  onFailure,
  onYield,
  pace = PACE,
}: WatchOptions): Promise<void> {
  const { folder, record } = getSitePaths(config.siteDir);
  const records = followRecord(record);
  const rebuilder = openRebuilder({ background: true });
  const states = openStates(config);
  let codeVersion = getCodeVersion();
  let backoff = pace.backoff;
  /** The input of the folder when it was last up to date. */
  let own: MadeFrom | undefined;
  let hasYielded = false;
  /** A damaged record counts as missing; the next rebuild makes it again. */
  const readBuilds = (): { begun?: Build | undefined; done?: Build | undefined } => {
    try {
      const found = records.find();
      return { begun: found?.findBuild('begun'), done: found?.findBuild('done') };
    } catch (error) {
      records.close();
      if (!isDamage(error)) throw error;
      return {};
    }
  };
  try {
    while (!signal.aborted) {
      try {
        const madeFrom = getMadeFrom(await states.read(), getSite(config), codeVersion);
        const { begun, done } = readBuilds();
        const isMade = (build: MadeFrom | undefined) => build !== undefined && isMadeFrom(build, madeFrom);
        const isDone = isMade(begun) && isMade(done) && existsSync(folder);
        const isTaken = isMade(own) && begun !== undefined && !isOfKind(begun, madeFrom);
        if (isDone) own = madeFrom;
        if (isTaken && !hasYielded) onYield?.(buildTakenError(begun, madeFrom, config.siteDir));
        hasYielded = isTaken;
        if (isDone || isTaken) {
          await pause(pace.poll, signal);
          continue;
        }
        await waitForQuiet(async () => (await states.read()).revision, signal, pace);
        if (signal.aborted) return;
        const result = await rebuilder.rebuild({ config, signal, onEvent });
        codeVersion = result.site.code_version;
        own = result.site;
        backoff = pace.backoff;
        onResult?.(result);
      } catch (error) {
        if (signal.aborted) return;
        onFailure?.(asRebuildError(error, folder), backoff);
        await pause(backoff, signal);
        backoff = Math.min(2 * backoff, pace.backoffLimit);
      }
    }
  } finally {
    records.close();
    await rebuilder.close();
    await states.close();
  }
}

/** Waits until writing pauses, so that an import, which writes many times, causes one rebuild. */
async function waitForQuiet(
  readRevision: () => Promise<number>,
  signal: AbortSignal,
  { quiet, quietLimit }: Pace,
): Promise<void> {
  const limit = performance.now() + quietLimit;
  let revision = await readRevision();
  let changed = performance.now();
  while (!signal.aborted && performance.now() < limit && performance.now() - changed < quiet) {
    await pause(quiet / 4, signal);
    const latest = await readRevision();
    if (latest !== revision) [revision, changed] = [latest, performance.now()];
  }
}

/**
 * Opens a reader of the catalogue's state. It opens the catalogue again after each failure, since another file may have replaced
 * it.
 */
function openStates({ catalogueAddress }: Config) {
  let catalogue: FollowedCatalogue | undefined;
  const close = async () => {
    const closing = catalogue;
    catalogue = undefined;
    await closing?.close();
  };
  return {
    close,
    async read(): Promise<CatalogueState> {
      try {
        catalogue ??= await openFollowed(catalogueAddress);
        return await catalogue.readState();
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Returns true if pages are of the same catalogue, settings and code, whatever the revision. */
function isOfKind(build: MadeFrom, madeFrom: MadeFrom): boolean {
  return isOfSite(build, madeFrom) && build.code_version === madeFrom.code_version;
}

function buildTakenError(begun: Build, madeFrom: MadeFrom, siteDir: string): ServiceError {
  const differences = [
    begun.identity !== madeFrom.identity && 'from another catalogue',
    begun.settings_hash !== madeFrom.settings_hash && 'for another BASE_URL, title or contact',
    begun.code_version !== madeFrom.code_version && 'by other code',
  ].filter((difference) => difference !== false);
  return new ServiceError(
    'conflict',
    `Another process writes the pages in ${siteDir}, ${differences.join(' and ')}; this one leaves them until the catalogue changes.`,
    {
      hint: 'Give each its own SITE folder, or the same code, CATALOGUE, BASE_URL, title and contact.',
      reason: 'site_shared',
    },
  );
}
