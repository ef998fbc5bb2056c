import type { GetVersion } from '../catalogue/write.ts';
import { createLatest } from '../live/latest.ts';
import { shareForMoment } from './moment.ts';

/** An answer as it was given. */
export interface KeptAnswer {
  readonly status: number;
  /** Flat names and values, given as they are and never changed. */
  readonly headers: string[];
  readonly pieces: readonly Uint8Array[];
  /** Length of all pieces. */
  readonly bytes: number;
}

/** Keeps answers as long as they would come out the same. */
export interface AnswerStore {
  /** Finds the answer to a question, if the same answer would be given now. */
  find(question: string): KeptAnswer | undefined;
  /** Is called before an answer is made; what it gives takes the answer when it is complete. */
  open(question: string): (answer: KeptAnswer) => void;
}

/** How much is kept, in bytes, and the largest answer that is. */
const KEPT_BYTES = 8 * 1024 * 1024;
const LARGEST_BYTES = 2 * 1024 * 1024;

/** Up to so many bytes an answer is kept as one piece. */
const JOINED_BYTES = 128 * 1024;

/** How long an answer that says what time it was made may be given again, in milliseconds. */
const TIMED_MS = 1000;

/**
 * Creates a store of answers. All are dropped whenever anybody wrote to the catalogue, which finding looks at once in a
 * moment, and keeping each time: nobody is given an older answer after a newer one that was kept. An answer for which the
 * time was read (`getReadings` counts how often that happened) is given again for a second only.
 */
export function createAnswerStore(getVersion: GetVersion, getReadings: () => number): AnswerStore {
  const kept = createLatest<KeptAnswer & { size: number; until: number }>(KEPT_BYTES, ({ size }) => size);
  let version = -1;
  const look = () => {
    const now = getVersion();
    if (now !== version) kept.clear();
    version = now;
  };
  const lookForMoment = shareForMoment(look);
  return {
    find(question) {
      lookForMoment();
      const answer = kept.find(question);
      if (!answer || answer.until >= performance.now()) return answer;
      kept.remove(question);
      return undefined;
    },
    open(question) {
      const [readings, before] = [getReadings(), version];
      return (answer) => {
        look();
        if (answer.status !== 200 || answer.bytes > LARGEST_BYTES || version !== before) return;
        const until = getReadings() === readings ? Number.POSITIVE_INFINITY : performance.now() + TIMED_MS;
        const pieces = answer.bytes <= JOINED_BYTES ? [join(answer)] : answer.pieces;
        kept.add(question, { ...answer, pieces, size: question.length + answer.bytes, until });
      };
    },
  };
}

/** Not by `Buffer.concat`, which takes small buffers from a pool: one that is kept would keep all of it. */
function join({ pieces, bytes }: KeptAnswer): Buffer {
  const joined = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
