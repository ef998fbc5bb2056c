import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../errors.ts';
import { getPictureKey, type Pictures } from '../pictures/pictures.ts';
import { parseItem } from '../snapshot/entry.ts';
import { findEntry, type GetSnapshot, type Snapshot } from '../snapshot/snapshot.ts';
import { PATHS } from '../views/links.ts';
import { buildListingPicture, buildServicePicture, type Picture } from '../views/picture.ts';
import type { Site } from '../views/site.ts';
import { isNotModified } from './accepting.ts';
import { sendProblem } from './sending.ts';

const PICTURE_PATH = /^\/pictures\/([a-z0-9-]+)\.png$/;

/** Readers of previews look a few minutes later again, and learn by the ETag that nothing changed. */
const CACHE_CONTROL = 'public, max-age=600';
const RETRY_AFTER_SECONDS = '5';

/** What pictures are answered from. */
export interface PictureServing {
  readonly pictures: Pictures;
  readonly getSnapshot: GetSnapshot;
  readonly site: Site;
  /** Headers of every answer, as flat names and values. */
  readonly headers: readonly string[];
}

/** Says whether a path is that of a picture, whether it exists or not. */
export function isPicturePath(path: string): boolean {
  return path.startsWith('/pictures/');
}

/**
 * Answers a request for the picture of a link: that of a live listing, or the service's own. 304 costs no painting; what
 * is delisted has none (410), what is unknown neither (404), and past what the painter can do the answer is 503.
 */
export async function answerPicture(
  { pictures, getSnapshot, site, headers }: PictureServing,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const picture = findPicture(path, getSnapshot(), site);
  if (!picture || picture === 'gone') {
    const members = picture
      ? { status: 410, code: 'gone', detail: 'The listing was removed, and its picture with it.' }
      : { status: 404, code: 'not_found', detail: 'There is no such picture.' };
    return sendProblem(request, response, members, headers);
  }
  const etag = `"${getPictureKey(picture)}"`;
  const shared = [
    ...headers,
    // Previews are shown by other sites.
    ...['Cross-Origin-Resource-Policy', 'cross-origin', 'Access-Control-Allow-Origin', '*'],
    ...['ETag', etag, 'Cache-Control', CACHE_CONTROL],
  ];
  if (isNotModified(request.headers['if-none-match'], etag)) {
    response.writeHead(304, shared).end();
    return;
  }
  try {
    const png = await pictures.get(picture);
    response.writeHead(200, [...shared, 'Content-Type', 'image/png', 'Content-Length', String(png.length)]);
    response.end(request.method === 'HEAD' ? undefined : png);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
    const members = { status: 503, code: error.reason, detail: error.message, hint: error.hint };
    sendProblem(request, response, members, [...headers, 'Retry-After', RETRY_AFTER_SECONDS]);
  }
}

function findPicture(path: string, snapshot: Snapshot, site: Site): Picture | 'gone' | undefined {
  if (path === PATHS.servicePicture) return buildServicePicture(site);
  const slug = PICTURE_PATH.exec(path)?.[1] ?? '';
  const entry = findEntry(snapshot, slug);
  if (entry) return buildListingPicture(parseItem(entry), site);
  return snapshot.tombstones.has(slug) ? 'gone' : undefined;
}
