import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import { ServiceError } from '../../errors.ts';
import { findHandOut, type HandOut } from '../../published/hand-out.ts';
import { getReleasePaths } from '../../release/release.ts';
import { PATHS } from '../../views/links.ts';
import type { Env } from '../env.ts';

const SQLITE = 'application/vnd.sqlite3';
const CACHE_CONTROL = 'public, max-age=300';

/** Adds the copy of the published catalogue for download, and its digest as `sha256sum -c` takes it. */
export function addDownloadRoutes(app: Hono<Env>, { releasesDir }: { releasesDir: string }): void {
  const folder = getReleasePaths(releasesDir).handOut;
  const get = (): HandOut => {
    const handOut = findHandOut(folder);
    if (handOut) return handOut;
    throw new ServiceError('not_found', 'There is no copy of the catalogue to download yet.', {
      hint: 'It is made with the next release of the pages.',
      reason: 'no_copy',
    });
  };
  const describe = ({ revision, sha256 }: HandOut, encoding: string) => ({
    'Cache-Control': CACHE_CONTROL,
    ETag: `W/"${sha256.slice(0, 22)}"`,
    'X-Catalogue-Revision': String(revision),
    ...(encoding === 'gzip' && { 'Content-Encoding': 'gzip' }),
  });
  app.get(PATHS.download, (c) => {
    const handOut = get();
    const encoding = accepts(c, { header: 'Accept-Encoding', supports: ['gzip', 'identity'], default: 'identity' });
    const headers = {
      ...describe(handOut, encoding),
      'Content-Type': SQLITE,
      'Content-Disposition': `attachment; filename="catalogue-r${handOut.revision}.sqlite"`,
      Vary: 'Accept-Encoding',
      ...(encoding !== 'gzip' && { 'Content-Length': String(handOut.bytes) }),
    };
    if (c.req.method === 'HEAD' || isKnown(c, headers.ETag))
      return c.body(null, isKnown(c, headers.ETag) ? 304 : 200, headers);
    const packed = createReadStream(join(folder, handOut.file));
    const body = encoding === 'gzip' ? packed : packed.pipe(createGunzip());
    return c.body(Readable.toWeb(body) as ReadableStream, 200, headers);
  });
  app.get(PATHS.downloadDigest, (c) => {
    const handOut = get();
    const headers = { ...describe(handOut, 'identity'), 'Content-Type': 'text/plain; charset=utf-8' };
    return c.body(`${handOut.sha256}  catalogue.sqlite\n`, 200, headers);
  });
}

function isKnown(c: Context<Env>, etag: string): boolean {
  return c.req.header('If-None-Match')?.includes(etag) ?? false;
}
