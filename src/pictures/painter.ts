import { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.ts';
import type { Picture } from '../views/picture.ts';
import type { PaintingAnswer, PaintingOrder } from './worker.ts';

const WORKER = new URL('./worker.ts', import.meta.url);

/** Paints one picture at a time, in a thread of its own. */
export interface Painter {
  /** Throws `internal` where it cannot be painted, `unavailable` where that takes too long. */
  paint(picture: Picture): Promise<Buffer>;
  close(): Promise<void>;
}

/** Limits of painting; tests set others. */
export interface PainterLimits {
  /** One picture takes a tenth of a second; the first one, with the thread's start, a second. */
  readonly timeoutMs: number;
  /** Time without an order after which the thread ends: it holds 100 to 200 MB. */
  readonly idleMs: number;
}

/** Opens a painter. Its thread starts with the first order, and a thread that fails or hangs is replaced with the next. */
export function openPainter({ timeoutMs, idleMs }: PainterLimits): Painter {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;

  const stop = async () => {
    clearTimeout(idle);
    const stopped = worker;
    worker = undefined;
    await stopped?.terminate();
  };

  const start = () => {
    const started = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: 256 } });
    // Nobody waits for an idle thread, and what becomes of one is of no further interest.
    started.unref();
    started.on('error', () => undefined);
    return started;
  };

  return {
    close: stop,
    async paint(picture) {
      clearTimeout(idle);
      worker ??= start();
      const painted = await order(worker, { picture }, timeoutMs);
      if (painted instanceof ServiceError) {
        await stop();
        throw painted;
      }
      idle = setTimeout(stop, idleMs).unref();
      return painted;
    },
  };
}

/** Gives the picture, or how the order failed. */
function order(worker: Worker, what: PaintingOrder, timeoutMs: number): Promise<Buffer | ServiceError> {
  return new Promise((resolve) => {
    const end = (result: Buffer | ServiceError) => {
      clearTimeout(timer);
      for (const [name, listener] of listeners) worker.off(name, listener);
      resolve(result);
    };
    const fail = (cause: unknown) =>
      end(new ServiceError('internal', 'The picture cannot be painted.', { reason: 'painting_failed', cause }));
    const listeners = [
      ['message', (answer: PaintingAnswer) => ('png' in answer ? end(Buffer.from(answer.png)) : fail(answer.failure))],
      ['error', fail],
      ['exit', (code: number) => fail(new Error(`The painting thread ended with code ${code}.`))],
    ] as const;
    const timer = setTimeout(() => {
      const hint = 'Try again later.';
      end(new ServiceError('unavailable', 'Painting the picture took too long.', { hint, reason: 'painting_timeout' }));
    }, timeoutMs);
    for (const [name, listener] of listeners) worker.on(name, listener);
    worker.postMessage(what);
  });
}
