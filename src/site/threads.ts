import { availableParallelism, totalmem } from 'node:os';
import { Tinypool } from 'tinypool';
import type { RenderTask } from './render-thread.ts';
import type { WrittenPage } from './rendering.ts';

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

const THREAD = new URL('./render-thread.ts', import.meta.url).href;

/** Threads that write pages beside this one. */
export interface RenderThreads {
  readonly count: number;
  /** Writes pages in one of the threads: see `render-thread.ts`. */
  run(task: RenderTask): Promise<WrittenPage[] | undefined>;
  close(): Promise<void>;
}

/** Returns how many threads are worth having for a number of pages, where this process may have `memory` bytes: 1 or more. */
export function countThreads(pages: number, memory = getMemory()): number {
  if (memory < MEMORY_WORTH_A_THREAD) return 1;
  return Math.max(1, Math.min(MAX_THREADS, availableParallelism(), Math.ceil(pages / PAGES_WORTH_A_THREAD)));
}

/** Returns how many bytes this process may have. */
function getMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** Opens as many threads beside this one as a number of pages is worth. They start with their first work. */
export function openThreads(pages: number): RenderThreads {
  const count = countThreads(pages) - 1;
  if (count === 0) return { count, run: async () => undefined, close: async () => undefined };
  const pool = new Tinypool({
    filename: THREAD,
    minThreads: 0,
    maxThreads: count,
    // The next work is there when the last is done, while this thread is at its own.
    concurrentTasksPerWorker: 2,
    resourceLimits: { maxYoungGenerationSizeMb: 3 * SEMI_SPACE_MB },
  });
  return { count, run: (task) => pool.run(task), close: () => pool.destroy() };
}
