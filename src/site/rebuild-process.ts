/** Writes the site folder, once for each request, in a process of its own. It reports to its parent, and ends with it. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Config } from '../config.ts';
import type { ErrorCode } from '../errors.ts';
import { asRebuildError, type RebuildEvent, type RebuildResult } from './events.ts';
import { getCodeVersion } from './page-code.ts';
import { openSnapshotReadings, type SnapshotReadings } from './snapshot-reading.ts';
import { writeSite } from './write-site.ts';

/** The request to the process. */
export interface RebuildRequest {
  readonly config: Config;
  readonly force: boolean;
  /** True to run with low priority. */
  readonly background: boolean;
}

/** A failure as plain data, for another process. */
interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason: string;
  readonly hint?: string;
  readonly details: Record<string, unknown>;
}

/** Messages of the process: events, then a final message. `outdated`: the code changed since the process started. */
export type RebuildMessage =
  | { event: RebuildEvent }
  | { result: RebuildResult }
  | { failure: Failure }
  | { outdated: true };

/**
 * Priority of a rebuild in the background, so that it waits rather than readers when the processor is busy. Beside one busy
 * thread it still gets a tenth of the time, so that it ends.
 */
const LOWER_PRIORITY = 10;

const version = getCodeVersion();

/** The readings of the last rebuild, and their settings. */
let kept: { readonly settings: string; readonly readings: SnapshotReadings } | undefined;

const say = (message: RebuildMessage) => process.send?.(message);

process.once('disconnect', () => process.exit());
process.on('message', async ({ config, force, background }: RebuildRequest) => {
  if (getCodeVersion() !== version) {
    say({ outdated: true });
    return;
  }
  if (background) giveWay();
  try {
    const onEvent = (event: RebuildEvent) => say({ event });
    say({ result: await writeSite({ config, readings: getReadings(config), force, onEvent, now: () => new Date() }) });
  } catch (error) {
    const { code, message, reason, hint, details } = asRebuildError(error, config.siteDir);
    say({ failure: { code, message, reason, ...(hint !== undefined && { hint }), details } });
  }
  // Frees memory while the process waits: V8 by itself would keep the garbage of several rebuilds.
  if (background) setImmediate(() => globalThis.gc?.());
});

/**
 * Lowers the priority of this process. On Linux each thread has its own priority, which threads started later inherit; some
 * threads of V8 already run.
 */
function giveWay(): void {
  // Only the superuser may raise the priority above that at the start.
  const priority = Math.max(LOWER_PRIORITY, getPriority());
  setPriority(priority);
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), priority);
    } catch (error) {
      // The thread ended meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR')) throw error;
    }
  }
}

/** Returns the readings for these settings, and closes those for other settings. */
function getReadings(config: Config): SnapshotReadings {
  const settings = JSON.stringify(config);
  if (kept?.settings !== settings) {
    kept?.readings.close();
    kept = { settings, readings: openSnapshotReadings(config) };
  }
  return kept.readings;
}
