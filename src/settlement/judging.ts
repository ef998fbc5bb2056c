import { Worker } from 'node:worker_threads';
import { BODY_START, type JudgedAnswer, type Judgement, MAX_BODY } from './product.ts';

const THREAD = new URL('./judging-thread.ts', import.meta.url);

/** How long judging may take once its thread runs, in milliseconds, and how much memory it may hold. */
const LIMITS = { timeMs: 2_000, memoryMb: 64 };

/** What the thread says: that it runs, then each judgement, the last one the best. */
export type JudgingMessage = 'running' | Judgement;

/**
 * Judges an answer in a thread of its own, which is ended whatever comes of it: bodies and schemas are other people's,
 * and may be made to crash or to hang. Never throws; gives the best judgement that came in time, null where there was
 * none.
 */
export async function judgeAnswer(
  { body, ...answer }: Omit<JudgedAnswer, 'is_whole'>,
  { timeMs, memoryMb } = LIMITS,
): Promise<Judgement | null> {
  const is_whole = body.byteLength <= MAX_BODY;
  // A copy: the buffer behind a part would come along as a whole.
  const workerData: JudgedAnswer = {
    ...answer,
    body: new Uint8Array(is_whole ? body : body.subarray(0, BODY_START)),
    is_whole,
  };
  const thread = new Worker(THREAD, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: memoryMb / 4 },
  });
  let best: Judgement | null = null;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((end) => {
    thread.on('message', (message: JudgingMessage) => {
      if (message === 'running') timer = setTimeout(end, timeMs);
      else best = message;
    });
    // A failure is told by what is missing: it is never held against the seller.
    thread.on('error', () => end());
    thread.on('exit', () => end());
  });
  clearTimeout(timer);
  await thread.terminate();
  return best;
}
