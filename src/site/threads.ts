import { availableParallelism, totalmem } from 'node:os';
import { Tinypool } from 'tinypool';
import type { RenderTask } from './render-thread.ts';
import type { WrittenPage } from './rendering.ts';

/** Number of pages below which the first thread alone finishes before a second one has started. */
const PAGES_WORTH_A_THREAD = 1000;
const MAX_THREADS = 4;

/**
 * Memory of the machine, or the limit of this process, below which one thread renders, in bytes. Each further thread takes 250
 * MB.
 */
const MEMORY_WORTH_A_THREAD = 2 * 1024 ** 3;

/**
 * Size of a half of V8's young generation, in MB. Rendering leaves mostly garbage; the larger default of V8 would only take more
 * memory from the system.
 */
export const SEMI_SPACE_MB = 16;

const THREAD = new URL('./render-thread.ts', import.meta.url).href;

/** Threads that write pages besides this one. */
export interface RenderThreads {
  readonly count: number;
  /** Writes pages in one of the threads: see `render-thread.ts`. */
  run(task: RenderTask): Promise<WrittenPage[] | undefined>;
  close(): Promise<void>;
}

/** Returns the number of threads for a number of pages, if this process may use `memory` bytes: 1 or more. */
export function countThreads(pages: number, memory = getMemory()): number {
  if (memory < MEMORY_WORTH_A_THREAD) return 1;
  return Math.max(1, Math.min(MAX_THREADS, availableParallelism(), Math.ceil(pages / PAGES_WORTH_A_THREAD)));
}

/** Returns the number of bytes that this process may use. */
function getMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** Opens the threads for a number of pages, besides this one. Each starts with its first work. */
export function openThreads(pages: number): RenderThreads {
  const count = countThreads(pages) - 1;
  if (count === 0) return { count, run: async () => undefined, close: async () => undefined };
  const pool = new Tinypool({
    filename: THREAD,
    minThreads: 0,
    maxThreads: count,
    // A thread has its next work before it ends the last, even while this thread is busy.
    concurrentTasksPerWorker: 2,
    resourceLimits: { maxYoungGenerationSizeMb: 3 * SEMI_SPACE_MB },
  });
  return { count, run: (task) => pool.run(task), close: () => pool.destroy() };
}
