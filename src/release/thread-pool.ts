import { availableParallelism, totalmem } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Reading } from '../published/reading.ts';
import { buildFailureError, type OnRebuildEvent } from './events.ts';
import type { RenderThreadData, RenderThreadMessage } from './render-thread.ts';
import { type RenderedPages, type RenderPage, renderPages, stopRendering } from './rendering.ts';

/** Number of pages below which a second thread is slower to start than the first is to finish. */
const PAGES_WORTH_A_THREAD = 1000;
const MAX_THREADS = 4;

/** Memory of a machine, or of what this process may have of it, below which one thread renders: each more takes 250 MB. */
const MEMORY_WORTH_A_THREAD = 2 * 1024 ** 3;

/**
 * Limit of a half of V8's young generation. Rendering leaves nearly everything behind at once: with the larger
 * ones that V8 would take, a thread has more memory than it needs, and each page of it has to be had from the system.
 */
export const SEMI_SPACE_MB = 16;

const THREAD = new URL('./render-thread.ts', import.meta.url);

/** Threads that render beside this one; they begin at once. */
export interface RenderThreads {
  /** Renders what is left of the job in this thread, too, and waits for the others. Once. Throws what the first failing page threw. */
  render(own: { render: RenderPage; reading: Reading; onEvent: OnRebuildEvent }): Promise<RenderedPages>;
  close(): Promise<void>;
}

/** Returns how many threads are worth starting for a number of pages, where this process may have `memory` bytes: 1 or more. */
export function countThreads(pages: number, memory = getMemory()): number {
  if (memory < MEMORY_WORTH_A_THREAD) return 1;
  return Math.max(1, Math.min(MAX_THREADS, availableParallelism(), Math.ceil(pages / PAGES_WORTH_A_THREAD)));
}

/** Returns how many bytes this process may have. */
function getMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** Starts as many threads as a number of pages is worth. */
export function startRenderThreads(data: RenderThreadData, pages: number): RenderThreads {
  const threads = Array.from({ length: countThreads(pages) - 1 }, () => startThread(data));
  return {
    async render({ render, reading, onEvent }) {
      const onTurn = (done: number, total: number) => onEvent({ type: 'rendering', done, total });
      const own = renderPages(data.job, { render, reading, onTurn });
      try {
        const rendered = (await Promise.all([own, ...threads.map((thread) => thread.rendered)])).flat();
        if (rendered.length > 0) onTurn(rendered.length, rendered.length);
        return rendered;
      } catch (error) {
        // Nothing is written from here any more when the caller hears of a failure, in any thread.
        stopRendering(data.job);
        await Promise.allSettled([own]);
        throw error;
      }
    },
    close: async () => {
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

interface Thread {
  readonly worker: Worker;
  readonly rendered: Promise<RenderedPages>;
}

function startThread(data: RenderThreadData): Thread {
  const worker = new Worker(THREAD, {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: 3 * SEMI_SPACE_MB },
  });
  const rendered = new Promise<RenderedPages>((resolve, reject) => {
    worker.once('message', (message: RenderThreadMessage) => {
      if ('failure' in message) reject(buildFailureError(message.failure));
      else resolve(message.rendered);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`A rendering thread ended early with code ${code}.`)));
  });
  // One that fails early is heard of when this thread is as far.
  void Promise.allSettled([rendered]);
  return { worker, rendered };
}
