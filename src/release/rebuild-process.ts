/** A process of its own that makes one release, tells its parent what happens, and ends with it. */
import { setPriority } from 'node:os';
import type { Config } from '../config.ts';
import type { RebuildEvent, RebuildResult } from './events.ts';
import { type Failure, getFailure } from './failure.ts';
import { makeRelease } from './make-release.ts';

/** What the process is asked. */
export interface RebuildRequest {
  readonly config: Config;
  readonly force: boolean;
  /** Gives way to everything else on the machine. */
  readonly background: boolean;
}

/** What the process answers: events, and one of the others last. */
export type RebuildMessage = { event: RebuildEvent } | { result: RebuildResult } | { failure: Failure };

/** With the processor short, it is a rebuild in the background that waits, and not readers. */
const LOWER_PRIORITY = 10;

const say = (message: RebuildMessage) => process.send?.(message);

process.once('disconnect', () => process.exit(1));
process.once('message', async ({ config, force, background }: RebuildRequest) => {
  if (background) setPriority(LOWER_PRIORITY);
  try {
    const onEvent = (event: RebuildEvent) => say({ event });
    say({ result: await makeRelease({ config, force, onEvent, now: () => new Date() }) });
  } catch (error) {
    say({ failure: getFailure(error, config.releasesDir) });
  }
  process.removeAllListeners('disconnect');
  process.disconnect();
});
