import { z } from 'zod';
import { listListings } from '../catalogue/read/listings.ts';
import { getRevision } from '../catalogue/transaction.ts';
import { findCategory } from '../evidence/category.ts';
import { CATEGORIES, type Category } from '../model/catalogue.ts';
import { getVerifiedRouteCount, type Listing, listingState } from '../model/listing.ts';
import { isPaidOn } from '../model/network.ts';
import { listCounted } from '../model/route.ts';
import { formatPriceRange, getUsdcNumber } from '../model/usdc.ts';
import { getAtomic } from '../views/listing/item.ts';
import { type Command, defineCommand } from './command.ts';
import { withReadableCatalogue } from './open-catalogue.ts';
import { getStateCell } from './terminal/format.ts';
import type { Page } from './terminal/page.ts';

const input = z
  .object({
    state: z.enum(listingState.options, `one of ${listingState.options.join(', ')}`).optional(),
    category: z
      .string()
      .transform((text) => findCategory(text))
      .refine((found) => found !== undefined, `one of ${CATEGORIES.join(', ')}`)
      .optional(),
    verified: z.boolean().optional(),
    unverified: z.boolean().optional(),
    limit: z
      .string()
      .regex(/^[1-9]\d{0,6}$/, 'a whole number from 1 on')
      .transform(Number)
      .optional(),
  })
  .refine(({ verified, unverified }) => !(verified && unverified), 'Give --verified or --unverified, not both.');

/** A listing as the list shows it. Amounts are decimal USDC. */
interface ListedListing {
  slug: string;
  id: string;
  title: string;
  state: Listing['state'];
  state_reason: string | null;
  category: Category;
  provider_name: string;
  base_url: string;
  price_min_usdc: number | null;
  price_max_usdc: number | null;
  networks: string[];
  endpoints_count: number;
  verified_route_count: number;
  reliability_band: Listing['reliability']['band'];
  updated_at: string;
}

interface ListResult {
  revision: number;
  /** Number of listings that match the filters, without the limit. */
  total: number;
  listings: ListedListing[];
}

export const list: Command = defineCommand({
  summary: 'List the listings, of any state, by slug',
  details:
    'Without a terminal, one listing on each line, fields separated by tabs: slug, state, category, price, ' +
    'networks, verified and all routes, title.',
  options: [
    ['--state <state>', 'only those that are live, held or delisted'],
    ['--category <category>', `only those of a category: ${CATEGORIES.join(', ')}`],
    ['--verified', 'only those with a settlement-verified route'],
    ['--unverified', 'only those without one'],
    ['--limit <n>', 'at most this many'],
  ],
  examples: [
    ['list', 'everything on record'],
    ['list --state held', 'what is known but cannot go live without a price'],
    ['list --category Finance --json', 'for a program'],
  ],
  input,
  run: (filters, context) =>
    withReadableCatalogue(context, async (catalogue): Promise<ListResult> => {
      const fitting = (await listListings(catalogue)).filter((listing) => isFitting(listing, filters));
      return {
        revision: await getRevision(catalogue),
        total: fitting.length,
        listings: fitting.slice(0, filters.limit).map(buildListed),
      };
    }),
  render: renderList,
});

function isFitting(listing: Listing, filters: z.infer<typeof input>): boolean {
  const isVerified = getVerifiedRouteCount(listing) > 0;
  return (
    (filters.state === undefined || listing.state === filters.state) &&
    (filters.category === undefined || listing.category === filters.category) &&
    (!filters.verified || isVerified) &&
    (!filters.unverified || !isVerified)
  );
}

function buildListed(listing: Listing): ListedListing {
  const { price_min, price_max } = listing;
  return {
    slug: listing.slug,
    id: listing.id,
    title: listing.title,
    state: listing.state,
    state_reason: listing.state_reason,
    category: listing.category,
    provider_name: listing.provider_name,
    base_url: listing.base_url,
    price_min_usdc: price_min === null ? null : getUsdcNumber(price_min),
    price_max_usdc: price_max === null ? null : getUsdcNumber(price_max),
    networks: listing.networks.filter(isPaidOn).map(({ key }) => key),
    endpoints_count: listCounted(listing.routes).length,
    verified_route_count: getVerifiedRouteCount(listing),
    reliability_band: listing.reliability.band,
    updated_at: listing.updated_at,
  };
}

/** Writes the prices of a listing in USDC: `0.01`, `0.001-0.5`, and `–` for none. */
function formatPrices({ price_min_usdc: min, price_max_usdc: max }: ListedListing): string {
  return min === null || max === null ? '–' : formatPriceRange(getAtomic(min), getAtomic(max));
}

function renderList({ listings, total }: ListResult, page: Page): void {
  if (listings.length > 0 || !page.isTerminal) {
    page.table(
      [
        { heading: 'slug' },
        { heading: 'state' },
        { heading: 'category' },
        { heading: 'USDC', align: 'right' },
        { heading: 'networks' },
        { heading: 'verified', align: 'right' },
        { heading: 'title', cut: true },
      ],
      listings.map((entry) => [
        entry.slug,
        getStateCell(entry.state),
        entry.category,
        formatPrices(entry),
        entry.networks.join(' ') || '–',
        `${entry.verified_route_count}/${entry.endpoints_count}`,
        entry.title,
      ]),
    );
  }
  if (!page.isTerminal) return;
  const shown = listings.length === total ? '' : `${listings.length} of `;
  page.blank();
  page.say({ text: `${shown}${total} ${total === 1 ? 'listing' : 'listings'}`, style: 'dim' });
}
