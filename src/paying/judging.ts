import { Worker } from 'node:worker_threads';
import { BODY_START, type JudgedAnswer, type Judgement, MAX_BODY } from './product.ts';

const THREAD = new URL('./judging-thread.ts', import.meta.url);

/** Time limit for judging once its thread runs, in milliseconds, and its memory limit. */
const LIMITS = { timeMs: 2_000, memoryMb: 64 };

/** Messages of the thread: first that it runs, then each judgement. The last judgement is the best. */
export type JudgingMessage = 'running' | Judgement;

/**
 * Judges an answer in a thread of its own, which is always ended: hostile bodies and schemas may crash or hang it.
 * Never throws. Returns the best judgement that came in time, or null if none did.
 */
export async function judgeAnswer(
  { body, ...answer }: Omit<JudgedAnswer, 'is_whole'>,
  { timeMs, memoryMb } = LIMITS,
): Promise<Judgement | null> {
  const is_whole = body.byteLength <= MAX_BODY;
  // The body is copied, because otherwise its whole underlying buffer would be sent.
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
    // The judgement is missing after a failure, which never counts against the seller.
    thread.on('error', () => end());
    thread.on('exit', () => end());
  });
  clearTimeout(timer);
  await thread.terminate();
  return best;
}
