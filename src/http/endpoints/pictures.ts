import type { Hono } from 'hono';
import { ServiceError } from '../../errors.ts';
import { getPictureKey, type Pictures } from '../../pictures/pictures.ts';
import { findLive, findTombstone, getItem } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { PATHS } from '../../views/links.ts';
import { buildListingPicture, buildServicePicture, type Picture } from '../../views/picture.ts';
import { buildProblem } from '../problem.ts';
import type { Env } from '../request.ts';

/** Makers of previews ask again a few minutes later, and then get 304 if nothing changed. */
const CACHE_CONTROL = 'public, max-age=600';
const RETRY_AFTER_SECONDS = '5';

/**
 * Adds the preview pictures of links: one for each live listing, and the service's own. A removed listing has none (410), and 503
 * is returned when too many are waiting to be painted. Painted pictures are kept.
 */
export function addPictureRoute(app: Hono<Env>, { pictures, reading }: { pictures: Pictures; reading: Reading }): void {
  const find = (path: string, slug: string): Picture => {
    if (path === PATHS.servicePicture) return buildServicePicture(reading.site);
    return reading.readAtOnce(() => {
      const listing = findLive(reading.published, slug);
      if (listing) return buildListingPicture(getItem(reading.published, listing), reading.site);
      if (!findTombstone(reading.published, slug))
        throw new ServiceError('not_found', 'There is no such picture.', {
          hint: `GET ${PATHS.agentList}?q=… searches the catalogue.`,
        });
      const hint = `GET ${PATHS.agentListing(slug)} says when and why.`;
      throw new ServiceError('gone', 'The listing was removed, and its picture with it.', { hint });
    });
  };
  app.get('/pictures/:file{.+}', async (c) => {
    const picture = find(c.req.path, /^([a-z0-9-]+)\.png$/.exec(c.req.param('file'))?.[1] ?? '');
    const etag = `"${getPictureKey(picture)}"`;
    const headers = { ETag: etag, 'Cache-Control': CACHE_CONTROL, 'Content-Type': 'image/png' };
    // A 304 needs no painting.
    if (c.req.header('If-None-Match')?.includes(etag)) return c.body(null, 304, headers);
    try {
      const png = await pictures.get(picture);
      return c.body(new Uint8Array(png), 200, { ...headers, 'Content-Length': String(png.length) });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
      const refusal = { status: 503, code: error.reason, detail: error.message, hint: error.hint };
      return buildProblem(refusal, { 'Retry-After': RETRY_AFTER_SECONDS });
    }
  });
}
