import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Reading } from '../snapshot/reading.ts';
import type { OnRebuildEvent } from './events.ts';
import { buildFailureError } from './failure.ts';
import { type RenderedPages, renderPages } from './render-pages.ts';
import type { RenderThreadData, RenderThreadMessage } from './render-thread.ts';
import type { RenderPage } from './rendering.ts';

/** With fewer pages a second thread is slower to start than the first is to finish. */
const PAGES_WORTH_A_THREAD = 1000;
const MAX_THREADS = 4;

/** How often progress is said, at most. */
const PROGRESS_MS = 200;

const THREAD = new URL('./render-thread.ts', import.meta.url);

/**
 * Renders all pages of a job, in this thread and, where there are many pages and more processors, in others beside it.
 * Throws what the first failing page threw.
 */
export async function renderInThreads(
  data: RenderThreadData,
  { render, reading, onEvent }: { render: RenderPage; reading: Reading; onEvent: OnRebuildEvent },
): Promise<RenderedPages> {
  const total = data.job.pages.length;
  let [done, said] = [0, performance.now()];
  const onDone = () => {
    done += 1;
    if (done < total && performance.now() - said < PROGRESS_MS) return;
    said = performance.now();
    onEvent({ type: 'rendering', done, total });
  };
  const wanted = Math.min(MAX_THREADS, availableParallelism(), Math.ceil(total / PAGES_WORTH_A_THREAD));
  const threads = Array.from({ length: wanted - 1 }, () => startThread(data, onDone));
  try {
    const own = renderPages(data.job, { render, reading, onDone });
    return (await Promise.all([own, ...threads.map(({ rendered }) => rendered)])).flat();
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function startThread(data: RenderThreadData, onDone: () => void): { worker: Worker; rendered: Promise<RenderedPages> } {
  const worker = new Worker(THREAD, { workerData: data });
  const rendered = new Promise<RenderedPages>((resolve, reject) => {
    worker.on('message', (message: RenderThreadMessage) => {
      if ('done' in message) onDone();
      else if ('failure' in message) reject(buildFailureError(message.failure));
      else resolve(message.rendered);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`A rendering thread ended early with code ${code}.`)));
  });
  return { worker, rendered };
}
