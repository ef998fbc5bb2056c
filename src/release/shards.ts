import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { getHash } from '../published/hash.ts';
import { isFileError, isMissing, writeNew } from './folders.ts';
import type { Form } from './forms.ts';

/** One file of a release. */
export interface ReleaseFile {
  readonly hash: string;
  readonly bytes: number;
  /** Time it was written, in milliseconds: no file is ever written to a second time. */
  readonly written: number;
}

/** One page of a release: where its bytes are, the key it was rendered for, and what the bytes are. */
export interface ReleasePage extends ReleaseFile {
  /** Relative to the release's folder. */
  readonly file: string;
  readonly key: string;
  /** Media type, as the page itself answered. */
  readonly type: string;
  /** Its compressed forms, in files of the same name with another ending. */
  readonly forms?: Readonly<Partial<Record<Form, ReleaseFile>>>;
}

/** Name of the list of pages in a shard's folder. */
const LIST = 'list.json';

/** Part of the slug that names a listing's shard: few listings share two characters, and a proxy can find them, too. */
const LISTING = /^\/api\/([a-z0-9-]{1,2})/;

/**
 * Some of the pages that releases are made of: those of one folder of addresses, or of the listings whose slugs start
 * alike. A shard lies beside the releases under the hash of its list and is never written to again; every release that has
 * the same pages links to it, so what a new release costs follows what changed.
 */
export interface Shard {
  /** Hash of its list, and name of its folder. */
  readonly hash: string;
  readonly pages: ReadonlyMap<string, ReleasePage>;
  /** Time its list was written, in milliseconds: nobody writes to it a second time. */
  readonly written: number;
}

/** Returns the name of the shard that the page at a path belongs to: `root`, `docs`, `api.ab` … */
export function getShardName(path: string): string {
  const prefix = LISTING.exec(path)?.[1];
  if (prefix !== undefined) return `api.${prefix}`;
  return path.split('/').slice(1, -1).join('.') || 'root';
}

/** Returns the place of a page in a release's folder: `/api/abc` in `api/abc.html` is at `api.ab/abc.html`. */
export function getPlace(path: string, file: string): string {
  return `${getShardName(path)}/${basename(file)}`;
}

/** Writes the list of the finished pages in `folder`, which makes it a shard. Gives the place of the list, too. */
export function listShard(folder: string, pages: ReadonlyMap<string, ReleasePage>): { shard: Shard; list: string } {
  const content = Buffer.from(JSON.stringify(Object.fromEntries(pages)));
  const list = join(folder, LIST);
  const written = writeNew(list, content);
  return { shard: { hash: getHash(content), pages, written }, list };
}

/**
 * Gives a shard made in `folder` its name among the shards, and links to it where it was. All among them count as
 * complete, so everything in the folder has to be durable before.
 */
export function storeShard(shardsDir: string, folder: string, hash: string): void {
  mkdirSync(shardsDir, { recursive: true });
  try {
    renameSync(folder, join(shardsDir, hash));
  } catch (error) {
    if (!isFileError(error, 'ENOTEMPTY') && !isFileError(error, 'EEXIST')) throw error;
    rmSync(folder, { recursive: true });
  }
  linkShard(folder, hash);
}

/** Puts a link to a shard into a release's folder. */
export function linkShard(place: string, hash: string): void {
  symlinkSync(join('..', '..', 'shards', hash), place);
}

/**
 * Finds a shard by where a release links to it. One that was read before is not read again while nobody wrote to its list.
 * Undefined where its list is lost, or is not the one of this hash.
 */
export function findShard(place: string, hash: string, read?: Shard): Shard | undefined {
  try {
    const file = join(place, LIST);
    const written = statSync(file).mtimeMs;
    if (read?.hash === hash && read.written === written) return read;
    const list = readFileSync(file);
    if (getHash(list) !== hash) return undefined;
    const pages: Record<string, ReleasePage> = JSON.parse(list.toString('utf8'));
    return { hash, pages: new Map(Object.entries(pages)), written };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns true if there is a list where a release links to a shard; it is not read. */
export function hasShard(place: string): boolean {
  return statSync(join(place, LIST), { throwIfNoEntry: false })?.isFile() ?? false;
}
