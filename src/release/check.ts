import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ServiceError } from '../errors.ts';
import { getHash } from '../published/hash.ts';
import { findLive, listDelisted } from '../published/listings.ts';
import { hasProvider } from '../published/providers.ts';
import type { Reading } from '../published/reading.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import { listNames } from './folders.ts';
import { ASSETS_FOLDER } from './page-code.ts';
import { getReleasePaths, type ReleaseHeader } from './release.ts';
import { findReleasePages, listFiles, type ReleasePages } from './release-pages.ts';
import type { ReleasePage } from './shards.ts';

/** Least number of pages that are read back. */
const SAMPLES = 40;

/** Addresses that the service answers besides its pages. */
const LIVE_PATHS = Object.values(PATHS).filter((address) => typeof address === 'string');
const LISTING = /^\/api\/([a-z0-9-]+)$/;
/** Addresses rendered on demand for a page in the release: its Markdown twin, its feed, and the pages of its routes. */
const OF_PAGE = /^(\/(?:(?:api|category)\/[a-z0-9-]+|provider\/[a-z0-9.-]+))(?:\.(?:md|atom)|\/[a-z]{3,7}-[\w-]+)$/;
const PROVIDER = /^\/provider\/([a-z0-9.-]+)$/;
const TAG = /<[a-z][a-z0-9]*(?:\s+[\w:-]+(?:="[^"]*")?)*\s*\/?>/g;
const LIVE_PREFIX = /^\/(agent|badge|\.well-known)\//;

/** The input that a release was made from, and is checked against. */
interface Expectation {
  readonly header: ReleaseHeader;
  readonly folder: string;
  readonly releasesDir: string;
  readonly reading: Reading;
  /** Pages of the release built upon: the lists that both have were read when that was made. */
  readonly known?: ReleasePages | undefined;
}

/**
 * Checks a release before it is shown, as it lies on the disk: every page of the inventory is there (the plan has looked at
 * those of shards that stayed), and the home page and samples of all others are the bytes that were rendered, are of their
 * own listing, and link to nothing of the service that is not there. Gives the pages. Throws `internal` with reason
 * `check_failed` naming the page.
 */
export function checkRelease({ header, folder, releasesDir, reading, known: earlier }: Expectation): ReleasePages {
  const pages = findReleasePages({ header, folder }, earlier);
  if (!pages) throw buildCheckError('/', 'is not in a list of pages that can be read');
  for (const [name, shard] of pages.shards) {
    if (earlier?.shards.get(name) === shard) continue;
    const names = new Set(listNames(join(folder, name)));
    for (const [path, page] of shard.pages) {
      const isThere = (file: string) => dirname(file) === name && names.has(basename(file));
      if (!listFiles(page).every(isThere)) throw buildCheckError(path, 'has no file');
    }
  }
  if (pages.size !== header.page_count) {
    throw buildCheckError('/', `is one of ${pages.size}, where there should be ${header.page_count}`);
  }
  const assets = listNames(join(getReleasePaths(releasesDir).assets, ASSETS_FOLDER));
  // A delisted listing's address is answered, on demand, whatever the release holds.
  const gone = listDelisted(reading.published).map(PATHS.listing);
  const files = assets.map((name) => `/${ASSETS_FOLDER}/${name}`);
  // A page to write to the operator may be at this address, too: the proxy in front answers it.
  const { baseUrl, contactUrl } = reading.site;
  const contact = findOwnPath(contactUrl, PATHS.home, baseUrl) ?? PATHS.home;
  const others = new Set([...LIVE_PATHS, ...gone, ...files, contact]);
  const isKnown = (path: string) => {
    // Pages of providers with one listing are rendered on demand.
    const domain = PROVIDER.exec(path)?.[1];
    return (
      pages.get(path) !== undefined ||
      others.has(path) ||
      (domain !== undefined && hasProvider(reading.published, domain))
    );
  };
  for (const [path, page] of listSamples(pages, header.revision)) {
    const body = readFileSync(join(folder, page.file));
    if (getHash(body) !== page.hash) throw buildCheckError(path, 'is not what was rendered');
    const text = body.toString('utf8');
    checkSubject(path, text, reading);
    if (page.type.startsWith('text/html')) checkLinks(path, text, isKnown, baseUrl);
  }
  return pages;
}

/** The home page, that for what is not found, and others evenly spread: other ones at each revision. */
function listSamples(pages: ReleasePages, revision: number): (readonly [string, ReleasePage])[] {
  const all = [...pages];
  const step = Math.max(1, Math.floor(all.length / SAMPLES));
  const isSample = (index: number) => index % step === revision % step;
  return all.filter(([path], index) => path === PATHS.home || path === '/404' || isSample(index));
}

/**
 * A page at a listing's address names that address as its own. Only what the service itself wrote is looked at: no
 * provider's text can make a release fail.
 */
function checkSubject(path: string, text: string, { site, published }: Reading): void {
  const slug = LISTING.exec(path)?.[1];
  if (slug === undefined) return;
  if (!findLive(published, slug)) throw buildCheckError(path, 'is of a listing that is not live');
  const isOwn = text.includes(`<link rel="canonical" href="${buildUrl(site.baseUrl, path)}"`);
  if (!isOwn) throw buildCheckError(path, 'is of another listing');
}

/**
 * Checks that all links of a page under the service's own address lead to a page of the release, to what is rendered on
 * demand of one, to an asset, or to a live answer. Links that a provider gave (`nofollow`) may lead anywhere.
 */
function checkLinks(path: string, html: string, isKnown: (path: string) => boolean, baseUrl: string): void {
  for (const [tag] of html.matchAll(TAG)) {
    const link = / (?:href|src)="([^"]*)"/.exec(tag)?.[1];
    if (link === undefined || / rel="[^"]*\bnofollow\b/.test(tag)) continue;
    const target = findOwnPath(link.replaceAll('&amp;', '&'), path, baseUrl);
    if (target === undefined || isKnown(target.replace(OF_PAGE, '$1')) || LIVE_PREFIX.test(target)) continue;
    throw buildCheckError(path, `links to ${target}, which is not there`);
  }
}

/** Returns the path of a link to the service itself, undefined for any other. */
function findOwnPath(link: string, from: string, baseUrl: string): string | undefined {
  const base = `${baseUrl}/`;
  const url = URL.parse(link, `${baseUrl}${from}`);
  if (!url || !`${url.href}/`.startsWith(base) || url.protocol === 'data:') return undefined;
  return `/${`${url.origin}${url.pathname}`.slice(base.length)}`;
}

function buildCheckError(path: string, finding: string): ServiceError {
  return new ServiceError('internal', `The page ${path} of the new release ${finding}.`, {
    hint: 'The last release keeps serving. Every page was rendered again and the check failed all the same: the page code is at fault.',
    reason: 'check_failed',
    details: { path },
  });
}
