import { listListingDays, listRoundDays } from '../catalogue/market.ts';
import { CATEGORIES, type Category } from '../model/category.ts';
import type { Reliability } from '../model/listing.ts';
import { type CategoryFigures, getPriceStep, getQuartiles, type MarketData } from '../views/pages/market-data.ts';
import { buildMarketPage, type MarketPage } from '../views/pages/market-page.ts';
import type { ListingEntry } from './entry.ts';
import { getCounts } from './entry-lists.ts';
import { listChangeNews } from './news.ts';
import type { Reading } from './reading.ts';
import { listEntries, type Snapshot } from './snapshot.ts';

/** Prices of documents are decimal numbers; whole ones are counted and compared. */
const ATOMIC_PER_USDC = 1_000_000;

const marketOf = new WeakMap<Snapshot, MarketData>();

/** How many pieces of news the page about the market ends with. */
const NEWEST = 8;

/** Gives the page about the market as the catalogue stands now. */
export function getMarketPage(reading: Reading): MarketPage {
  const snapshot = reading.getSnapshot();
  return buildMarketPage(getMarketData(reading), listChangeNews(reading, snapshot, NEWEST), getCounts(snapshot));
}

/** Gives the market in figures as the catalogue stands now: one pass over the listings in memory, once for each snapshot. */
export function getMarketData({ catalogue, getSnapshot }: Pick<Reading, 'catalogue' | 'getSnapshot'>): MarketData {
  const snapshot = getSnapshot();
  let market = marketOf.get(snapshot);
  if (!market) {
    market = {
      as_of: snapshot.revised_at,
      live: snapshot.live_listings,
      verified: snapshot.settlement_verified,
      ...countEntries(snapshot),
      listing_days: listListingDays(catalogue),
      round_days: listRoundDays(catalogue),
    };
    marketOf.set(snapshot, market);
  }
  return market;
}

function countEntries(snapshot: Snapshot): Pick<MarketData, 'categories' | 'networks' | 'neither'> {
  const byCategory = new Map(CATEGORIES.map((category) => [category, openFigures()]));
  const networks = { base: { advertised: 0, verified: 0 }, solana: { advertised: 0, verified: 0 } };
  let neither = 0;
  for (const entry of listEntries(snapshot)) {
    const figures = byCategory.get(entry.category);
    if (figures) count(figures, entry);
    for (const key of entry.networks) networks[key].advertised += 1;
    for (const key of entry.verified_networks) networks[key].verified += 1;
    if (entry.networks.length === 0) neither += 1;
  }
  const categories = [...byCategory].map(([category, figures]) => closeFigures(category, figures));
  return { categories, networks, neither };
}

/** Figures while they are being counted. Many listings ask the same few prices, so prices are counted, not collected. */
interface OpenFigures {
  listings: number;
  verified: number;
  readonly bands: Record<Reliability['band'], number>;
  readonly prices: Map<number, number>;
}

function openFigures(): OpenFigures {
  return { listings: 0, verified: 0, bands: { established: 0, thin: 0, unscored: 0 }, prices: new Map() };
}

function count(figures: OpenFigures, { reliability_band, payment_verified, price_min_usdc }: ListingEntry): void {
  figures.listings += 1;
  figures.bands[reliability_band] += 1;
  if (payment_verified) figures.verified += 1;
  figures.prices.set(price_min_usdc, (figures.prices.get(price_min_usdc) ?? 0) + 1);
}

function closeFigures(category: Category, { prices, ...figures }: OpenFigures): CategoryFigures {
  const counted = [...prices]
    .map(([usdc, listings]) => [Math.round(usdc * ATOMIC_PER_USDC), listings] as const)
    .sort(([a], [b]) => a - b);
  const steps = new Map<number, number>();
  for (const [price, listings] of counted) {
    const step = getPriceStep(price);
    steps.set(step, (steps.get(step) ?? 0) + listings);
  }
  return { category, ...figures, quartiles: getQuartiles(counted), steps };
}
