import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type FollowedCatalogue, openFollowed } from '../catalogue/news.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import type { Config } from '../config.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import type { OnRebuildEvent, RebuildResult } from './events.ts';
import { getCodeVersion } from './page-code.ts';
import { openRebuilder } from './rebuild.ts';
import { findCurrentRelease, type Release, type ReleaseHeader } from './release.ts';
import { findShard } from './shards.ts';
import { findReleaseOf, getMadeFrom, isMadeFrom, isSameKind, type MadeFrom } from './state.ts';

/** The pace of a watch, in milliseconds. */
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

/** The catalogue to follow, and who hears of it. */
export interface WatchOptions {
  readonly config: Config;
  /** Stops the watch, and the rebuild that it may be at. */
  readonly signal: AbortSignal;
  readonly onEvent?: OnRebuildEvent | undefined;
  readonly onResult?: ((result: RebuildResult) => void) | undefined;
  /** A failure, and after how many milliseconds the next try follows. */
  readonly onFailure?: ((error: ServiceError, retryInMs: number) => void) | undefined;
  /** Called once for each other process that makes releases in the same folder, which is left to it. */
  readonly onYield?: ((error: ServiceError) => void) | undefined;
  readonly pace?: Pace | undefined;
}

/**
 * Watches the catalogue: if the current release is not of its present state, rebuilds in a process of its own, once writers
 * pause. Goes on after failures, also while there is no catalogue. Where another process makes releases for
 * other settings in the same folder, the two do not rebuild against each other. Resolves when the signal aborts.
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
  const concurrent = watchConcurrentBuilds(config.releasesDir);
  const rebuilder = openRebuilder({ background: true });
  const states = openStates(config);
  let codeVersion = getCodeVersion();
  let backoff = pace.backoff;
  let sound: string | undefined;
  let read = new Set<string>();
  /**
   * The lists of a release's pages are read through once for each release, those of the one before it not again. A server
   * answers between them.
   */
  const isSound = async ({ folder, header }: Release): Promise<boolean> => {
    if (header.id === sound) return true;
    const shards = Object.entries(header.shards);
    for (const [name, hash] of shards) {
      if (read.has(hash)) continue;
      if (!findShard(join(folder, name), hash)) return false;
      await nextTurn();
    }
    read = new Set(shards.map(([, hash]) => hash));
    sound = header.id;
    return true;
  };
  try {
    while (!signal.aborted) {
      try {
        const madeFrom = getMadeFrom(config, await states.read(), codeVersion);
        const release = findReleaseOf(config, madeFrom);
        if (release && (await isSound(release))) {
          concurrent.hold(release.header);
          await pause(pace.poll, signal);
          continue;
        }
        const { action, report } = concurrent.judge(findCurrentRelease(config.releasesDir)?.header, madeFrom);
        if (report) onYield?.(report);
        if (action === 'yield') {
          await pause(pace.poll, signal);
          continue;
        }
        await waitForQuiet(async () => (await states.read()).revision, signal, pace);
        if (signal.aborted) return;
        const result = await rebuilder.rebuild({ config, signal, onEvent });
        codeVersion = result.release.code_version;
        concurrent.hold(result.release);
        backoff = pace.backoff;
        onResult?.(result);
      } catch (error) {
        if (signal.aborted) return;
        onFailure?.(asServiceError(error), backoff);
        await pause(backoff, signal);
        backoff = Math.min(2 * backoff, pace.backoffLimit);
      }
    }
  } finally {
    await rebuilder.close();
    await states.close();
  }
}

/** Waits until writing pauses, so that an import, which writes many times, ends up as one release. */
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

/** Opens the reading of the state of the catalogue, which is opened again after each failure: another may have taken its place. */
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

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('internal', `The rebuild failed: ${getErrorMessage(error)}.`, { cause: error });
}

/** Watches over releases that others make in the same folder. */
interface ConcurrentBuilds {
  /** Remembers the release that is the watcher's own: current, and of what the catalogue holds. */
  hold(own: ReleaseHeader): void;
  /**
   * Decides what to do about a current release that is not one's own. `yield`: leave it, since its maker came back once
   * before. With the first `yield` for each maker comes the error to report.
   */
  judge(current: ReleaseHeader | undefined, madeFrom: MadeFrom): { action: 'rebuild' | 'yield'; report?: ServiceError };
}

/**
 * Watches over concurrent builds: releases for other settings, of another catalogue or by other code in the folder
 * `releasesDir`. Each would replace the other for ever. A release that was replaced is made again once, since
 * somebody may have rebuilt with other settings by mistake; a maker that then replaces it again is left to it until the
 * catalogue moves.
 */
function watchConcurrentBuilds(releasesDir: string): ConcurrentBuilds {
  let own: ReleaseHeader | undefined;
  const met = new Set<string>();
  const reported = new Set<string>();
  return {
    hold(header) {
      own = header;
    },
    judge(current, madeFrom) {
      const isReplaced = own !== undefined && isMadeFrom(own, madeFrom) && current?.id !== own.id;
      if (!isReplaced || !current || isSameKind(current, madeFrom)) return { action: 'rebuild' };
      const build = `${current.identity} ${current.settings_hash} ${current.code_version}`;
      const isBack = met.has(build);
      met.add(build);
      if (!isBack) return { action: 'rebuild' };
      if (reported.has(build)) return { action: 'yield' };
      reported.add(build);
      return { action: 'yield', report: buildConcurrentBuildError(current, madeFrom, releasesDir) };
    },
  };
}

function buildConcurrentBuildError(current: ReleaseHeader, madeFrom: MadeFrom, releasesDir: string): ServiceError {
  const differences = [
    current.identity !== madeFrom.identity && 'of another catalogue',
    current.settings_hash !== madeFrom.settings_hash && 'for another BASE_URL, title or contact',
    current.code_version !== madeFrom.code_version && 'by other code',
  ].filter((difference) => difference !== false);
  return new ServiceError(
    'conflict',
    `Another process makes releases in ${releasesDir}, ${differences.join(' and ')}; this one leaves them until the catalogue changes.`,
    {
      hint: 'Give each its own RELEASES folder, or the same CATALOGUE, BASE_URL, title and contact.',
      reason: 'releases_shared',
    },
  );
}
