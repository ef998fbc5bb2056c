import { CATEGORIES, type Category } from '../model/catalogue.ts';
import type { Reliability } from '../model/listing.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';
import { type CategoryFigures, getPriceStep, getQuartiles, type MarketData } from '../views/market.ts';
import { buildMarketPage, type MarketPage } from '../views/pages/market-page.ts';
import type { Published } from './file.ts';
import { listListingDays, listRoundDays } from './market-days.ts';
import { listChangeNews } from './news.ts';
import { getCounts } from './page-lists.ts';
import type { Reading } from './reading.ts';
import type { Snapshot } from './snapshot.ts';

const marketOf = new WeakMap<Snapshot, MarketData>();

/** How many pieces of news the page about the market ends with. */
const NEWEST = 8;

/** Gives the page about the market as the catalogue is now. */
export function getMarketPage(reading: Reading): MarketPage {
  return reading.readAtOnce((snapshot) =>
    buildMarketPage(getMarketData(reading), listChangeNews(reading.published, snapshot, NEWEST), getCounts(snapshot)),
  );
}

/** Gives the market in figures as the catalogue is now, counted once for each snapshot. */
export function getMarketData({ published, readAtOnce }: Pick<Reading, 'published' | 'readAtOnce'>): MarketData {
  return readAtOnce((snapshot) => {
    const market = marketOf.get(snapshot) ?? {
      as_of: snapshot.revised_at,
      live: snapshot.live_listings,
      verified: snapshot.settlement_verified,
      categories: countCategories(published),
      ...countNetworks(published),
      listing_days: listListingDays(published),
      round_days: listRoundDays(published),
    };
    marketOf.set(snapshot, market);
    return market;
  });
}

/** Live listings that have the same category, band, verification and lowest price. */
interface Group {
  category: Category;
  band: Reliability['band'];
  verified: 0 | 1;
  price: number;
  listings: number;
}

const GROUPS = `SELECT category, reliability_band AS band, verified_routes > 0 AS verified, price_min AS price,
  count(*) AS listings FROM listings WHERE state = 'live' GROUP BY 1, 2, 3, 4`;

function countCategories(published: Published): CategoryFigures[] {
  const byCategory = new Map(CATEGORIES.map((category) => [category, openFigures()]));
  for (const { category, band, verified, price, listings } of published.prepare<Group>(GROUPS).all()) {
    const figures = byCategory.get(category);
    if (!figures) continue;
    figures.listings += listings;
    figures.bands[band] += listings;
    if (verified === 1) figures.verified += listings;
    figures.prices.set(price, (figures.prices.get(price) ?? 0) + listings);
  }
  return [...byCategory].map(([category, figures]) => closeFigures(category, figures));
}

const NETWORKS = `SELECT seen_networks AS networks, verified_networks, count(*) AS listings FROM listings WHERE +state = 'live' GROUP BY 1, 2`;

function countNetworks(published: Published): Pick<MarketData, 'networks' | 'neither'> {
  const networks = Object.fromEntries(networkKey.options.map((key) => [key, { advertised: 0, verified: 0 }])) as Record<
    NetworkKey,
    { advertised: number; verified: number }
  >;
  let neither = 0;
  const rows = published.prepare<{ networks: string; verified_networks: string; listings: number }>(NETWORKS).all();
  for (const row of rows) {
    for (const key of listKeys(row.networks)) networks[key].advertised += row.listings;
    for (const key of listKeys(row.verified_networks)) networks[key].verified += row.listings;
    if (row.networks === '') neither += row.listings;
  }
  return { networks, neither };
}

function listKeys(networks: string): NetworkKey[] {
  return networkKey.options.filter((key) => networks.split(' ').includes(key));
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

function closeFigures(category: Category, { prices, ...figures }: OpenFigures): CategoryFigures {
  const counted = [...prices].sort(([a], [b]) => a - b);
  const steps = new Map<number, number>();
  for (const [price, listings] of counted) {
    const step = getPriceStep(price);
    steps.set(step, (steps.get(step) ?? 0) + listings);
  }
  return { category, ...figures, quartiles: getQuartiles(counted), steps };
}
