import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import { isFileError, ServiceError } from '../../errors.ts';
import { type Download, findDownload } from '../../published/download.ts';
import { getSitePaths } from '../../site/paths.ts';
import { PATHS } from '../../views/links.ts';
import type { Env } from '../request.ts';
import { PLAIN_TEXT } from './define.ts';

const SQLITE = 'application/vnd.sqlite3';
const CACHE_CONTROL = 'public, max-age=300';

/** Number of tries to open a copy, which may be replaced between finding and opening it. */
const TRIES = 3;

/** Adds the download of the published catalogue, and its digest in the format of `sha256sum -c`. */
export function addDownloadRoutes(app: Hono<Env>, { siteDir }: { siteDir: string }): void {
  const folder = getSitePaths(siteDir).download;
  const refuse = () =>
    new ServiceError('not_found', 'There is no copy of the catalogue to download yet.', {
      hint: 'It is made before the pages are, in a moment.',
      reason: 'no_copy',
    });
  const get = (): Download => {
    const download = findDownload(folder);
    if (download) return download;
    throw refuse();
  };
  /** Opens the copy before the answer begins, since the next copy may remove its file at any moment. */
  const openCopy = async (): Promise<{ download: Download; copy: FileHandle }> => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const download = get();
      const copy = await openIfThere(join(folder, download.file));
      if (copy) return { download, copy };
    }
    throw refuse();
  };
  const describe = ({ revision, sha256 }: Download, encoding: string) => ({
    'Cache-Control': CACHE_CONTROL,
    ETag: `W/"${sha256.slice(0, 22)}"`,
    'X-Catalogue-Revision': String(revision),
    ...(encoding === 'gzip' && { 'Content-Encoding': 'gzip' }),
  });
  app.get(PATHS.download, async (c) => {
    const { download, copy } = await openCopy();
    // The file is large, so a client that prefers it plain gets it so.
    const encoding = accepts(c, { header: 'Accept-Encoding', supports: ['gzip', 'identity'], default: 'identity' });
    const headers = {
      ...describe(download, encoding),
      'Content-Type': SQLITE,
      'Content-Disposition': `attachment; filename="catalogue-r${download.revision}.sqlite"`,
      Vary: 'Accept-Encoding',
      ...(encoding !== 'gzip' && { 'Content-Length': String(download.bytes) }),
    };
    if (c.req.method === 'HEAD' || isKnown(c, headers.ETag)) {
      await copy.close();
      return c.body(null, isKnown(c, headers.ETag) ? 304 : 200, headers);
    }
    const packed = copy.createReadStream();
    // `pipeline` closes the file when the answer ends, and ends each of the two when the other fails.
    const body = encoding === 'gzip' ? packed : pipeline(packed, createGunzip(), () => undefined);
    return c.body(Readable.toWeb(body) as ReadableStream, 200, headers);
  });
  app.get(PATHS.downloadDigest, (c) => {
    const download = get();
    const headers = { ...describe(download, 'identity'), 'Content-Type': PLAIN_TEXT };
    return c.body(`${download.sha256}  catalogue.sqlite\n`, 200, headers);
  });
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file);
  } catch (error) {
    if (isFileError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isKnown(c: Context<Env>, etag: string): boolean {
  return c.req.header('If-None-Match')?.includes(etag) ?? false;
}
