import { createHash } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { Picture } from '../views/picture.ts';
import { openPainter, type PainterLimits } from './painter.ts';

/** Raised when what the card of a picture looks like changes, so that no cache keeps the old one. */
const DESIGN = 3;

/** Pictures of links, painted when first asked for and then kept. */
export interface Pictures {
  /** Gives the picture as PNG. Throws `unavailable` (`busy`) where too many wait already, and as a painter does. */
  get(picture: Picture): Promise<Buffer>;
  close(): Promise<void>;
}

/** Limits of the work and the memory. */
export interface PictureLimits extends PainterLimits {
  /** Pictures kept, the latest asked for: some 50 kB each. */
  readonly kept: number;
  /** Pictures that may wait for the painter, the one it is at included. */
  readonly queued: number;
}

export const PICTURE_LIMITS: PictureLimits = { kept: 300, queued: 16, timeoutMs: 60_000, idleMs: 60_000 };

/** Gives the name of a picture's content: same name, same picture. It changes whenever what the picture says does. */
export function getPictureKey(picture: Picture): string {
  return createHash('sha256')
    .update(`${DESIGN}${JSON.stringify(picture)}`)
    .digest('base64url')
    .slice(0, 22);
}

/** Opens pictures. One that is asked for twice at once is painted once. */
export function openPictures({ kept, queued, ...limits }: PictureLimits = PICTURE_LIMITS): Pictures {
  const painter = openPainter(limits);
  const painted = new Map<string, Buffer>();
  const waiting = new Map<string, Promise<Buffer>>();
  let last: Promise<unknown> = Promise.resolve();

  const keep = (key: string, png: Buffer) => {
    painted.delete(key);
    painted.set(key, png);
    for (const oldest of painted.keys()) {
      if (painted.size <= kept) break;
      painted.delete(oldest);
    }
  };

  /** One after the other, in the order they were asked for; how one ends is no matter to the next. */
  const queue = (key: string, picture: Picture): Promise<Buffer> => {
    const turn = last.then(() => painter.paint(picture));
    last = turn.catch(() => undefined);
    const ending = turn.finally(() => waiting.delete(key));
    waiting.set(key, ending);
    return ending;
  };

  return {
    close: painter.close,
    async get(picture) {
      const key = getPictureKey(picture);
      const known = painted.get(key);
      if (known) {
        keep(key, known);
        return known;
      }
      const underWay = waiting.get(key);
      if (underWay) return underWay;
      if (waiting.size >= queued) {
        const hint = 'Try again in a few seconds.';
        throw new ServiceError('unavailable', 'Too many pictures are being painted.', { hint, reason: 'busy' });
      }
      const png = await queue(key, picture);
      keep(key, png);
      return png;
    },
  };
}
