import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Logger } from 'pino';
import { getErrorMessage } from '../errors.ts';
import { getHash } from '../published/hash.ts';
import type { Reading } from '../published/reading.ts';
import type { PublishedState } from '../published/state.ts';
import { isMissing } from '../site/folders.ts';
import type { Form } from '../site/forms.ts';
import { ASSETS_FOLDER, getSitePaths } from '../site/paths.ts';
import { type Build, followRecord, isOfSite, isServable } from '../site/record.ts';
import { getSettingsHash } from '../site/settings.ts';
import type { Compression, Document, Encoding } from './document.ts';

/** Browsers ask again for a page each time, and get 304 while it is the same, so a removed listing is gone at once. */
export const REVALIDATED = 'public, max-age=0, must-revalidate';
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Media types by the ending of a file. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8; header=present',
  '.json': 'application/schema+json',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** Ending of the file for each content coding. */
const FORM_OF: Readonly<Record<Compression, Form>> = { br: 'br', gzip: 'gz' };

/** The files of the site folder. */
export interface SiteFiles {
  /**
   * Reads the page or asset at a path, in the wanted compression if there is such a file. Returns undefined if there is no file,
   * or if the pages were made from another catalogue or for other settings.
   */
  find(path: string, wanted: Encoding): Document | undefined;
  /** Returns the last completed build; undefined if it was of another catalogue or for other settings. */
  findBuild(): Build | undefined;
  close(): void;
}

/**
 * Opens the site folder. Pages of another catalogue, of other settings, or of a state that this catalogue was never in (after a
 * restore from a backup) are not served, since they would show wrong listings.
 */
export function openSiteFiles({
  siteDir,
  reading: { published, site },
  findCatalogue,
  logger,
}: {
  siteDir: string;
  reading: Pick<Reading, 'published' | 'site'>;
  /** Returns the state of the catalogue, against which pages are checked while no published catalogue can be read. */
  findCatalogue: () => PublishedState | undefined;
  logger: Logger;
}): SiteFiles {
  const { record: file, folder } = getSitePaths(siteDir);
  const records = followRecord(file);
  const settingsHash = getSettingsHash(site);
  let failure = '';

  const isFitting = (build: Build): boolean => {
    try {
      return isServable(build, published, settingsHash);
    } catch {
      // Pages are served even if the published catalogue cannot be read. All other requests report that.
      const of = findCatalogue();
      return of !== undefined && isOfSite(build, { identity: of.identity, settings_hash: settingsHash });
    }
  };

  /** Returns undefined if reading fails, and logs the cause, but not the same one twice in a row. */
  const attempt = <Result>(read: () => Result | undefined): Result | undefined => {
    try {
      return read();
    } catch (error) {
      // A damaged record is opened again, since it may have been replaced.
      records.close();
      const message = getErrorMessage(error);
      if (message !== failure) logger.error({ err: error }, 'the site folder cannot be read');
      failure = message;
      return undefined;
    }
  };

  return {
    find: (path, wanted) =>
      attempt(() => {
        const record = records.find();
        const page = record?.findPage(path);
        if (!record || !page) return undefined;
        const isAsset = path.startsWith(`/${ASSETS_FOLDER}/`);
        const begun = isAsset ? undefined : record.findBuild('begun');
        if (!isAsset && (!begun || !isFitting(begun))) return undefined;
        const place = join(folder, page.file);
        const packed = wanted === 'identity' ? undefined : readIfThere(`${place}.${FORM_OF[wanted]}`);
        const body = packed ?? readIfThere(place);
        if (!body?.length) return undefined;
        // A rebuild may have begun to replace the page since; the recorded ETag may then be that of other bytes.
        const isSame = record.findPage(path)?.etag === page.etag;
        return {
          body,
          encoding: packed && wanted,
          type: getType(page.file),
          etag: (isSame && page.etag) || getHash(body),
          cacheControl: isAsset ? IMMUTABLE : REVALIDATED,
        };
      }),
    findBuild: () =>
      attempt(() => {
        const done = records.find()?.findBuild('done');
        return done && isFitting(done) ? done : undefined;
      }),
    close: records.close,
  };
}

/** Reads an asset from a file. Returns undefined if there is no such file. */
export function readAsset(file: string): Document | undefined {
  const body = readIfThere(file);
  return body && { body, type: getType(file), etag: getHash(body), cacheControl: IMMUTABLE };
}

function getType(file: string): string {
  return TYPES[extname(file)] ?? 'application/octet-stream';
}

/** Reads a small file in this thread, which is faster than handing it to another. Returns undefined if there is no such file. */
function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
