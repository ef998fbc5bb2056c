/** A thread that helps to render: it opens the published catalogue itself and takes part only if it sees the same state. */
import { isDeepStrictEqual } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { getPublishedState, type PublishedState } from '../published/state.ts';
import { type Failure, getFailure } from './events.ts';
import type { PageCode } from './page-code.ts';
import { loadPageCode, type RenderedPages, type RenderJob, renderPages } from './rendering.ts';
import { openSnapshotReading } from './snapshot-reading.ts';

/** Data the thread is given at its start. */
export interface RenderThreadData {
  readonly config: Config;
  readonly code: PageCode;
  /** State that all threads must share: they agree on pages by their places in the list that each makes. */
  readonly state: PublishedState;
  readonly job: RenderJob;
}

/** The thread's last message: its pages, or its failure. */
export type RenderThreadMessage = { rendered: RenderedPages } | { failure: Failure };

const { config, code, state, job }: RenderThreadData = workerData;
const say = (message: RenderThreadMessage) => parentPort?.postMessage(message);
try {
  const reading = openSnapshotReading(config);
  const isSame = isDeepStrictEqual(getPublishedState(reading.published), state);
  say({ rendered: isSame ? await renderPages(job, { render: await loadPageCode(code), reading }) : [] });
  reading.published.close();
} catch (error) {
  say({ failure: getFailure(error, config.releasesDir) });
}
