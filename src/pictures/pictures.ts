import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tinypool } from 'tinypool';
import { isFileError, ServiceError } from '../errors.ts';
import type { Picture } from '../views/picture.ts';

/** Version of the look of pictures, a part of their names. Raise it when the look changes, so that caches do not keep old ones. */
const DESIGN = 4;

const PAINTING = new URL('./painting.ts', import.meta.url).href;

/** Pictures of links, painted when first asked for and then kept in a folder. */
export interface Pictures {
  /**
   * Returns the picture as PNG. Throws `unavailable` if too many are waiting (`busy`) or painting takes too long
   * (`painting_timeout`), and `internal` if painting fails.
   */
  get(picture: Picture): Promise<Buffer>;
  close(): Promise<void>;
}

/** Limits of the work, the memory and the folder. */
export interface PictureLimits {
  /** Most pictures in the folder: some 60 kB each. */
  readonly kept: number;
  /** Most pictures that are painted or wait for it. */
  readonly queued: number;
  /** Time from the order to the picture. One takes a tenth of a second; the first one, with the thread's start, a second. */
  readonly timeoutMs: number;
  /** Time without an order after which the thread ends: it holds 100 to 200 MB. */
  readonly idleMs: number;
}

const PICTURE_LIMITS: PictureLimits = { kept: 1000, queued: 16, timeoutMs: 60_000, idleMs: 60_000 };

/** Returns a name made from the text of a picture and its look: another text or look gives another name. */
export function getPictureKey(picture: Picture): string {
  return createHash('sha256')
    .update(`${DESIGN}${JSON.stringify(picture)}`)
    .digest('base64url')
    .slice(0, 22);
}

/** Settings of the pictures. */
export interface PictureOptions extends Partial<PictureLimits> {
  /** Folder of painted pictures. It need not exist. */
  readonly folder: string;
  /** Receives the error if the folder cannot be read or written. The picture is sent anyway. */
  readonly onFailure: (error: unknown) => void;
}

/** Opens the pictures. Two requests for one picture at the same time paint it once. */
export function openPictures({ folder, onFailure, ...limits }: PictureOptions): Pictures {
  const { kept, queued, timeoutMs, idleMs } = { ...PICTURE_LIMITS, ...limits };
  const thread = new Tinypool({
    filename: PAINTING,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const underWay = new Map<string, Promise<Buffer>>();

  const paint = async (picture: Picture): Promise<Buffer> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      return Buffer.from(await thread.run(picture, { signal }));
    } catch (cause) {
      if (!signal.aborted) {
        throw new ServiceError('internal', 'The picture cannot be painted.', { reason: 'painting_failed', cause });
      }
      const options = { hint: 'Try again later.', reason: 'painting_timeout', cause };
      throw new ServiceError('unavailable', 'Painting the picture took too long.', options);
    }
  };

  const paintAndKeep = async (picture: Picture, name: string): Promise<Buffer> => {
    const png = await paint(picture);
    try {
      await keep(png, { folder, name });
      await removeOldest(folder, kept);
    } catch (error) {
      onFailure(error);
    }
    return png;
  };

  return {
    close: () => thread.destroy(),
    async get(picture) {
      const name = `${getPictureKey(picture)}.png`;
      const known = underWay.get(name) ?? (await findKept(join(folder, name), onFailure)) ?? underWay.get(name);
      if (known) return known;
      if (underWay.size >= queued) {
        const hint = 'Try again in a few seconds.';
        throw new ServiceError('unavailable', 'Too many pictures are being painted.', { hint, reason: 'busy' });
      }
      const painting = paintAndKeep(picture, name).finally(() => underWay.delete(name));
      underWay.set(name, painting);
      return painting;
    },
  };
}

async function findKept(path: string, onFailure: PictureOptions['onFailure']): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (!isFileError(error, 'ENOENT')) onFailure(error);
    return undefined;
  }
}

/** Writes a picture to a file of this process and renames it, so that no reader gets half a picture. */
async function keep(png: Buffer, { folder, name }: { folder: string; name: string }): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unfinished = join(folder, `${process.pid}-${name}`);
  await writeFile(unfinished, png, { flush: true });
  await rename(unfinished, join(folder, name));
}

/** Removes the oldest tenth of the files if there are more than `most`. */
async function removeOldest(folder: string, most: number): Promise<void> {
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  if (paths.length <= most) return;
  const files = await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  const oldest = files.sort((a, b) => a.at - b.at).slice(0, Math.ceil(files.length / 10));
  await Promise.all(oldest.map(({ path }) => rm(path, { force: true })));
}
