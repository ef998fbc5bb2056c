import { createHash } from 'node:crypto';
import { CATEGORIES } from '../model/category.ts';
import { PATHS } from '../views/links.ts';
import { PAGE_SIZE } from '../views/pages/list-page.ts';
import { MARKET_TABLES } from '../views/pages/market-tables.ts';
import type { ListingEntry } from './entry.ts';
import { findEntryPage, getSelections } from './entry-lists.ts';
import { listRelated } from './related.ts';
import { listEntries, type Snapshot } from './snapshot.ts';

/** One static page: where it is read, the file that holds it, and what it was made of. */
export interface PageRef {
  /** Path from the base address: `/api/x`. */
  readonly path: string;
  /** File in a release: `api/x.html`. */
  readonly file: string;
  /** Names the revision of all that the page shows: same key, same catalogue content on the page. */
  readonly key: string;
}

/** Key of what shows nothing of the catalogue. */
const FIXED_KEY = 'fixed';

/**
 * Lists every static page at a snapshot. Pages that show counts change with every revision; a listing's page changes with
 * the listing and its related ones alone, a further page of a list with the listings on it.
 */
export function* listPages(snapshot: Snapshot): Generator<PageRef> {
  yield* listSitePages(snapshot);
  for (const entry of listEntries(snapshot)) yield new ListingPageRef(entry, snapshot);
  yield* listReceiptPages(snapshot);
}

/** Lists the pages of current receipts. Of its listing such a page shows no more than what changes with the listing. */
export function* listReceiptPages(snapshot: Snapshot): Generator<PageRef> {
  for (const { receipts, revision } of listEntries(snapshot)) {
    for (const path of receipts.map(PATHS.receipt)) yield { path, file: `${getFile(path)}.html`, key: `r${revision}` };
  }
}

/** The page of a listing. There are as many as listings, so what follows from these is not kept beside them. */
class ListingPageRef implements PageRef {
  readonly #entry: ListingEntry;
  readonly #snapshot: Snapshot;

  constructor(entry: ListingEntry, snapshot: Snapshot) {
    this.#entry = entry;
    this.#snapshot = snapshot;
  }

  get path(): string {
    return PATHS.listing(this.#entry.slug);
  }

  get file(): string {
    return `${getFile(this.path)}.html`;
  }

  get key(): string {
    return getListingKey(this.#entry, listRelated(this.#snapshot, this.#entry.slug));
  }
}

/** Lists the static pages that are not of one listing. */
export function* listSitePages(snapshot: Snapshot): Generator<PageRef> {
  const { byCategory, verified } = getSelections(snapshot);
  const current = `r${snapshot.revision}`;
  yield { path: PATHS.home, file: 'index.html', key: current };
  yield { path: PATHS.guide, file: getFile(PATHS.guide), key: current };
  yield { path: PATHS.notFound, file: `${getFile(PATHS.notFound)}.html`, key: FIXED_KEY };
  // `/docs` beside what lies in `docs/`: a file and a folder.
  const { method, docs, docsAgents, docsApi, docsChangelog, docsOperating, docsArchitecture, providers } = PATHS;
  const guides = [method, docs, docsAgents, docsApi, docsChangelog, docsOperating, docsArchitecture, providers];
  for (const path of guides) yield { path, file: `${getFile(path)}.html`, key: FIXED_KEY };
  for (const path of [PATHS.manifestSchema, PATHS.providerSchema]) yield { path, file: getFile(path), key: FIXED_KEY };
  for (const path of [PATHS.market, PATHS.changes]) yield { path, file: `${getFile(path)}.html`, key: current };
  for (const name of MARKET_TABLES) {
    const path = PATHS.marketData(name);
    yield { path, file: getFile(path), key: current };
  }
  for (const category of CATEGORIES) {
    yield* listListPages(byCategory.get(category) ?? [], current, (page) => PATHS.category(category, page));
  }
  yield* listListPages(verified, current, PATHS.verifiedPage);
}

function* listListPages(
  list: readonly ListingEntry[],
  current: string,
  getPath: (page: number) => string,
): Generator<PageRef> {
  for (let page = 1; page === 1 || (page - 1) * PAGE_SIZE < list.length; page += 1) {
    const part = findEntryPage(list, page);
    const key = page === 1 ? current : buildKey(part?.entries ?? [], part?.has_next ? 'next' : 'last');
    yield { path: getPath(page), file: `${getFile(getPath(page))}.html`, key };
  }
}

const keysOfRelated = new WeakMap<readonly ListingEntry[], { entry: ListingEntry; key: string }>();

/** Gives the key of a listing's page, made once for as long as the listing and its related ones stay as they are. */
function getListingKey(entry: ListingEntry, related: readonly ListingEntry[]): string {
  const known = keysOfRelated.get(related);
  if (known?.entry === entry) return known.key;
  const key = buildKey([entry, ...related], '');
  keysOfRelated.set(related, { entry, key });
  return key;
}

/** Builds the key of what is made of listings, in their order: their latest revision, and a digest of which at which. */
function buildKey(entries: readonly ListingEntry[], rest: string): string {
  const latest = entries.reduce((newest, { revision }) => Math.max(newest, revision), 0);
  const shown = entries.map(({ slug, revision }) => `${slug}@${revision}`).join(' ');
  return `r${latest}-${createHash('sha256').update(`${shown} ${rest}`).digest('base64url').slice(0, 16)}`;
}

function getFile(path: string): string {
  return path.slice(1);
}
