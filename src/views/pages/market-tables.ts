import { NETWORKS, type NetworkKey } from '../../model/network.ts';
import { formatUsdc, getUsdcNumber } from '../../model/usdc.ts';
import type { Cell } from '../csv.ts';
import { getNextPriceStep, type MarketData } from './market-data.ts';
import { listListingPeriods, listRoundPeriods } from './market-periods.ts';

/** The tables behind the plots, as their addresses name them. */
export const MARKET_TABLES = ['prices', 'categories', 'networks', 'listings', 'probes'] as const;
export type MarketTableName = (typeof MARKET_TABLES)[number];

/** The figures that one plot draws, for people and for programs. */
export interface MarketTable {
  readonly name: MarketTableName;
  readonly caption: string;
  readonly columns: readonly { readonly key: string; readonly label: string }[];
  readonly rows: readonly (readonly Cell[])[];
}

const BUILDERS: Readonly<Record<MarketTableName, (data: MarketData) => Omit<MarketTable, 'name'>>> = {
  prices: (data) => ({
    caption:
      'Live listings by category and price step of their lowest price. A step takes in its lower edge, not its upper.',
    columns: [
      { key: 'category', label: 'Category' },
      { key: 'from_usdc', label: 'From, USDC' },
      { key: 'below_usdc', label: 'Below, USDC' },
      { key: 'listings', label: 'Listings' },
    ],
    rows: data.categories.flatMap(({ category, steps }) =>
      [...steps]
        .sort(([a], [b]) => a - b)
        .map(([step, listings]) => [category, formatUsdc(step), formatUsdc(getNextPriceStep(step)), listings]),
    ),
  }),
  categories: (data) => ({
    caption: 'Live listings by category: verification, reliability band, and the quartiles of the lowest price.',
    columns: [
      { key: 'category', label: 'Category' },
      { key: 'listings', label: 'Listings' },
      { key: 'settlement_verified', label: 'Verified' },
      { key: 'established', label: 'Established' },
      { key: 'thin', label: 'Thin' },
      { key: 'unscored', label: 'Unscored' },
      { key: 'price_quartile_1_usdc', label: 'First quartile, USDC' },
      { key: 'price_median_usdc', label: 'Median, USDC' },
      { key: 'price_quartile_3_usdc', label: 'Third quartile, USDC' },
    ],
    rows: data.categories.map(({ category, listings, verified, bands, quartiles }) => [
      ...[category, listings, verified, bands.established, bands.thin, bands.unscored],
      ...(quartiles?.map(getUsdcNumber) ?? [null, null, null]),
    ]),
  }),
  networks: (data) => ({
    caption:
      'Live listings by the network on which they advertise payment now, and on which a payment of ours proved a route.',
    columns: [
      { key: 'network', label: 'Network' },
      { key: 'advertised', label: 'Advertised' },
      { key: 'settlement_verified', label: 'Verified' },
      { key: 'live_listings', label: 'Live listings' },
    ],
    rows: (Object.keys(data.networks) as NetworkKey[]).map((key) => {
      const { advertised, verified } = data.networks[key];
      return [NETWORKS[key].label, advertised, verified, data.live];
    }),
  }),
  listings: (data) => ({
    caption: 'Days on which listings came, went or changed their verification, and what stood at the end of each.',
    columns: [
      { key: 'day', label: 'Day' },
      { key: 'live_listings', label: 'Live' },
      { key: 'settlement_verified', label: 'Verified' },
      { key: 'listed', label: 'Listed' },
      { key: 'taken_out', label: 'Taken out' },
    ],
    rows: listListingPeriods(data).map(({ from, live, verified, listed, taken_out }) => [
      ...[from, live, verified, listed, taken_out],
    ]),
  }),
  probes: (data) => ({
    caption:
      'Hosts asked in rounds of six hours, and how many gave a valid 402. Rounds in which the fault was ours count for nothing.',
    columns: [
      { key: 'from', label: 'From' },
      { key: 'to', label: 'To' },
      { key: 'hosts_asked', label: 'Asked' },
      { key: 'valid', label: 'Valid 402' },
      { key: 'rounds_left_out', label: 'Rounds left out' },
    ],
    rows: listRoundPeriods(data).map(({ from, to, asked, valid, our_rounds }) => [from, to, asked, valid, our_rounds]),
  }),
};

/** Builds the figures behind one plot. */
export function buildMarketTable(name: MarketTableName, data: MarketData): MarketTable {
  return { name, ...BUILDERS[name](data) };
}

/** Finds a table by its name in an address. */
export function findMarketTableName(name: string): MarketTableName | undefined {
  return MARKET_TABLES.find((candidate) => candidate === name);
}
