import { listListingDays, listRoundDays } from '../catalogue/market.ts';
import { CATEGORIES, type Category } from '../model/category.ts';
import { type CategoryFigures, getPriceStep, getQuartiles, type MarketData } from '../views/pages/market-data.ts';
import { buildMarketPage, type MarketPage } from '../views/pages/market-page.ts';
import { listChangeNews } from './news.ts';
import type { Reading } from './reading.ts';
import { getCounts } from './selections.ts';
import { type ListingEntry, listEntries, type Snapshot } from './snapshot.ts';

/** One digit after another is lost to binary fractions; prices are whole numbers of these. */
const ATOMIC = 1_000_000;

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
  const byCategory = new Map(CATEGORIES.map((category) => [category, openFigures(category)]));
  const networks = { base: { advertised: 0, verified: 0 }, solana: { advertised: 0, verified: 0 } };
  let neither = 0;
  for (const { item, verified_networks } of listEntries(snapshot)) {
    byCategory.get(item.category)?.add(item);
    for (const key of item.networks) networks[key].advertised += 1;
    for (const key of verified_networks) networks[key].verified += 1;
    if (item.networks.length === 0) neither += 1;
  }
  return { categories: [...byCategory.values()].map(({ close }) => close()), networks, neither };
}

function openFigures(category: Category): { add(item: ListingEntry['item']): void; close(): CategoryFigures } {
  const bands = { established: 0, thin: 0, unscored: 0 };
  const steps = new Map<number, number>();
  const prices: number[] = [];
  let verified = 0;
  return {
    add(item) {
      const price = Math.round(item.price_min_usdc * ATOMIC);
      const step = getPriceStep(price);
      prices.push(price);
      steps.set(step, (steps.get(step) ?? 0) + 1);
      bands[item.reliability_band] += 1;
      if (item.payment_verified) verified += 1;
    },
    close: () => {
      const quartiles = getQuartiles(Float64Array.from(prices).sort());
      return { category, listings: prices.length, verified, bands, quartiles, steps };
    },
  };
}
