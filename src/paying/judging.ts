import { Worker } from 'node:worker_threads';
import { BODY_START, type JudgedAnswer, type Judgement, MAX_BODY } from './product.ts';

const THREAD = new URL('./judging-thread.ts', import.meta.url);

/** Time limit for judging once its thread runs, in milliseconds, and its memory limit. */
const LIMITS = { timeMs: 2_000, memoryMb: 64 };

/**
 * Messages of the thread about an answer: first that it has begun, then each judgement, of which the last is the best, then that
 * there is no other.
 */
export type JudgingMessage = 'begun' | Judgement | 'ended';

/** A thread that judges one answer after another. */
interface JudgingThread {
  readonly worker: Worker;
  readonly memoryMb: number;
}

/** The thread that judged the last answer in time, and waits for the next one. */
let idle: JudgingThread | undefined;

/**
 * Judges an answer in a thread, because hostile bodies and schemas may crash or hang it. A thread that fails or is late is ended,
 * and no other answer is judged in it. Never throws. Returns the best judgement that came in time, or null if none did.
 */
export async function judgeAnswer(
  { body, ...answer }: Omit<JudgedAnswer, 'is_whole'>,
  { timeMs, memoryMb } = LIMITS,
): Promise<Judgement | null> {
  const is_whole = body.byteLength <= MAX_BODY;
  // The body is copied, because otherwise its whole underlying buffer would be sent.
  const judged: JudgedAnswer = {
    ...answer,
    body: new Uint8Array(is_whole ? body : body.subarray(0, BODY_START)),
    is_whole,
  };
  const thread = takeThread(memoryMb);
  const { worker } = thread;
  let best: Judgement | null = null;
  let timer: NodeJS.Timeout | undefined;
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
  const take = (message: JudgingMessage) => {
    if (message === 'begun') timer = setTimeout(end, timeMs, false);
    else if (message === 'ended') end(true);
    else best = message;
  };
  // The judgement is missing after a failure, which never counts against the seller.
  const fail = () => end(false);
  worker.on('message', take).on('exit', fail).postMessage(judged);
  const isInTime = await ended;
  clearTimeout(timer);
  worker.off('message', take).off('exit', fail);
  if (!isInTime || idle) await worker.terminate();
  else {
    // The process may end while the thread waits.
    worker.unref();
    idle = thread;
  }
  return best;
}

/** Returns the waiting thread if it has that much memory, or else a new one. */
function takeThread(memoryMb: number): JudgingThread {
  if (idle?.memoryMb === memoryMb) {
    const taken = idle;
    idle = undefined;
    taken.worker.ref();
    return taken;
  }
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: memoryMb / 4 };
  const worker = new Worker(THREAD, { resourceLimits });
  // A thread that fails exits, too.
  worker.on('error', () => undefined);
  worker.once('exit', () => {
    if (idle?.worker === worker) idle = undefined;
  });
  return { worker, memoryMb };
}
