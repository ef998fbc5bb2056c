/** A thread that helps to render: it opens the catalogue itself and takes part only if it sees the same revision. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { type Failure, getFailure } from './failure.ts';
import type { PageCode } from './page-code.ts';
import { openPinnedReading } from './pinned-reading.ts';
import { type RenderedPages, type RenderJob, renderPages } from './render-pages.ts';
import { loadPageCode } from './rendering.ts';

/** What the thread is given. */
export interface RenderThreadData {
  readonly config: Config;
  readonly code: PageCode;
  readonly job: RenderJob;
  readonly revision: number;
}

/** What the thread says: that another page is done, or how it ended. */
export type RenderThreadMessage = { done: 1 } | { rendered: RenderedPages } | { failure: Failure };

const { config, code, job, revision }: RenderThreadData = workerData;
const say = (message: RenderThreadMessage) => parentPort?.postMessage(message);
try {
  const reading = openPinnedReading(config);
  const isSame = reading.getSnapshot().revision === revision;
  const render = await loadPageCode(code);
  say({ rendered: isSame ? await renderPages(job, { render, reading, onDone: () => say({ done: 1 }) }) : [] });
  reading.catalogue.close();
} catch (error) {
  say({ failure: getFailure(error, config.releasesDir) });
}
