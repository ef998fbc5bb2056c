/** A process that writes the site folder, one time after the other, reports to its parent, and ends with it. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Config } from '../config.ts';
import { type Failure, getFailure, type RebuildEvent, type RebuildResult } from './events.ts';
import { getCodeVersion } from './page-code.ts';
import { openSnapshotReadings, type SnapshotReadings } from './snapshot-reading.ts';
import { writeSite } from './write-site.ts';

/** The request to the process. */
export interface RebuildRequest {
  readonly config: Config;
  readonly force: boolean;
  /** Gives way to everything else on the machine. */
  readonly background: boolean;
}

/** Messages of the process: events, then one of the others. `outdated`: the code changed since the process started. */
export type RebuildMessage =
  | { event: RebuildEvent }
  | { result: RebuildResult }
  | { failure: Failure }
  | { outdated: true };

/**
 * A rebuild in the background waits when the processor is short, and not readers. Beside one busy thread it still
 * gets a tenth, so that it ends.
 */
const LOWER_PRIORITY = 10;

const version = getCodeVersion();

/** The readings of the last rebuild, and the settings that they are for. */
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
    say({ failure: getFailure(error, config.siteDir) });
  }
  // A resting process holds only what it keeps: V8 by itself lets the rest of several rebuilds pile up.
  if (background) setImmediate(() => globalThis.gc?.());
});

/**
 * Lowers the priority of this process. On Linux each thread has its own, which those that it starts inherit; some that V8
 * collects garbage and compiles with are there from the start.
 */
function giveWay(): void {
  // Raising a priority above that at the start takes the superuser.
  const priority = Math.max(LOWER_PRIORITY, getPriority());
  setPriority(priority);
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), priority);
    } catch (error) {
      // It ended meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR')) throw error;
    }
  }
}

/** Returns the readings for these settings; what was read for others is dropped. */
function getReadings(config: Config): SnapshotReadings {
  const settings = JSON.stringify(config);
  if (kept?.settings !== settings) {
    kept?.readings.close();
    kept = { settings, readings: openSnapshotReadings(config) };
  }
  return kept.readings;
}
