import { createHash } from 'node:crypto';
import { CATEGORIES } from '../model/catalogue.ts';
import { networkKey } from '../model/network.ts';
import { PATHS } from '../views/links.ts';
import { DOCS_SIDEBAR } from '../views/pages/docs-pages.ts';
import { PAGE_SIZE } from '../views/pages/lists.ts';
import { hasProviderPath } from '../views/pages/provider.ts';
import type { Published } from './file.ts';
import { countPassing } from './indexed-lists.ts';
import { iterateRefs, type LiveRef, listSameProduct } from './listings.ts';
import type { ListFilter } from './page-lists.ts';
import { iterateProviders } from './providers.ts';
import { iterateCurrentReceipts } from './receipts.ts';
import { listRelated, type Related } from './related.ts';
import type { Snapshot } from './snapshot.ts';

/** A static page: its path, its file, and a key of its content. */
export interface PageRef {
  /** Path from the base address: `/api/x`. */
  readonly path: string;
  /** File in the site folder: `api/x.html`. */
  readonly file: string;
  /** Key of the catalogue content on the page: same key, same content. */
  readonly key: string;
}

/** Key of pages that show nothing of the catalogue. */
const FIXED_KEY = 'fixed';

/** Lists all static pages at a snapshot, the pages that others link to first. See `listEntryPages`. */
export function* listPages(published: Published, snapshot: Snapshot): Generator<PageRef> {
  yield* listEntryPages(published, snapshot);
  yield* listSitePages(snapshot);
}

/**
 * Lists the static pages of each listing, provider and receipt at a snapshot. A listing's page and its Markdown change only with
 * the listing, its related ones, and the slugs of the same product. Go through the list while the file stays at the revision of
 * the snapshot.
 */
export function* listEntryPages(published: Published, snapshot: Snapshot): Generator<PageRef> {
  for (const listing of iterateRefs(published)) {
    const { number, slug, is_elsewhere } = listing;
    const others = is_elsewhere ? listSameProduct(published, slug).join(' ') : '';
    const key = getListingKey(listing, listRelated(published, snapshot, number), others);
    const [path, markdown] = [PATHS.listing(slug), PATHS.listingMarkdown(slug)];
    yield { path, file: `${getFile(path)}.html`, key };
    yield { path: markdown, file: getFile(markdown), key };
  }
  yield* listProviderPages(published);
  yield* listReceiptPages(published);
}

/**
 * Lists the first page of each provider with more than one live listing. It shows changes of all its listings, removed ones
 * included.
 */
export function* listProviderPages(published: Published): Generator<PageRef> {
  for (const { domain, listings } of iterateProviders(published)) {
    if (!hasProviderPath(domain)) continue;
    const path = PATHS.provider(domain);
    yield { path, file: `${getFile(path)}.html`, key: buildKey(listings, 'all') };
  }
}

/**
 * Lists the paths of further pages of lists and providers. They are rendered on request, since a new listing moves all of them.
 */
export function* listFurtherPages(published: Published): Generator<Pick<PageRef, 'path'>> {
  for (const { shown, getPath } of LISTS) yield* listFurther(countPassing(published, shown), getPath);
  for (const { domain, live } of iterateProviders(published)) {
    if (hasProviderPath(domain)) yield* listFurther(live, (page) => PATHS.provider(domain, page));
  }
}

function* listFurther(listings: number, getPath: (page: number) => string): Generator<{ path: string }> {
  for (let page = 2; (page - 1) * PAGE_SIZE < listings; page += 1) yield { path: getPath(page) };
}

/** The lists that are cut into pages: each category, each network, and the verified listings. */
const LISTS: readonly { readonly shown: ListFilter; readonly getPath: (page?: number) => string }[] = [
  ...CATEGORIES.map((category) => ({
    shown: { category },
    getPath: (page?: number) => PATHS.category(category, page),
  })),
  ...networkKey.options.map((network) => ({
    shown: { network },
    getPath: (page?: number) => PATHS.network(network, page),
  })),
  { shown: { verified: true }, getPath: PATHS.verifiedPage },
];

/** Lists the pages of current receipts. What such a page shows of its listing changes only with the listing. */
export function* listReceiptPages(published: Published): Generator<PageRef> {
  for (const { id, revision } of iterateCurrentReceipts(published)) {
    const path = PATHS.receipt(id);
    yield { path, file: `${getFile(path)}.html`, key: `r${revision}` };
  }
}

/** Lists the static pages that are not of one listing. Pages with counts change with every revision. */
export function* listSitePages(snapshot: Snapshot): Generator<PageRef> {
  const current = `r${snapshot.revision}`;
  yield { path: PATHS.home, file: 'index.html', key: current };
  yield { path: PATHS.guide, file: getFile(PATHS.guide), key: current };
  yield { path: PATHS.notFound, file: `${getFile(PATHS.notFound)}.html`, key: FIXED_KEY };
  // The site has both the page `/docs` and the folder `docs/`. The reference shows calls for listings of the current catalogue.
  for (const { path } of DOCS_SIDEBAR.flatMap(({ pages }) => pages)) {
    yield { path, file: `${getFile(path)}.html`, key: path === PATHS.docsApi ? current : FIXED_KEY };
  }
  for (const path of [PATHS.manifestSchema, PATHS.providerSchema]) yield { path, file: getFile(path), key: FIXED_KEY };
  yield { path: PATHS.changes, file: `${getFile(PATHS.changes)}.html`, key: current };
  for (const { getPath } of LISTS) yield { path: getPath(), file: `${getFile(getPath())}.html`, key: current };
}

/** A listing that a page shows, with its revision. */
type ShownListing = Pick<LiveRef, 'slug' | 'revision'>;

const keysOfRelated = new WeakMap<readonly Related[], { revision: number; others: string; key: string }>();

/**
 * Returns the key of a listing's page. It is computed once, and kept until the listing, a related one, or a slug of the same
 * product changes.
 */
function getListingKey(listing: ShownListing, related: readonly Related[], others: string): string {
  const known = keysOfRelated.get(related);
  if (known?.revision === listing.revision && known.others === others) return known.key;
  const key = buildKey([listing, ...related], others);
  keysOfRelated.set(related, { revision: listing.revision, others, key });
  return key;
}

/** Builds the key of a page from the listings on it: the latest of their revisions, and a digest of their slugs and revisions. */
function buildKey(listings: readonly ShownListing[], rest: string): string {
  const latest = listings.reduce((newest, { revision }) => Math.max(newest, revision), 0);
  const shown = listings.map(({ slug, revision }) => `${slug}@${revision}`).join(' ');
  return `r${latest}-${createHash('sha256').update(`${shown} ${rest}`).digest('base64url').slice(0, 16)}`;
}

function getFile(path: string): string {
  return path.slice(1);
}
