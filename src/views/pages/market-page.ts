import type { ChangeNews } from '../changes.ts';
import { PATHS } from '../links.ts';
import { type Counts, formatCounts, formatMinute } from '../words/figures.ts';
import type { Chart } from './chart.ts';
import type { MarketData } from './market-data.ts';
import { buildPriceChart } from './market-prices.ts';
import { buildBandChart, buildNetworkChart, buildVerifiedChart } from './market-shares.ts';
import { MARKET_TABLES } from './market-tables.ts';
import { buildListingsChart, buildProbeChart } from './market-times.ts';
import { buildNewsRow, type NewsRow } from './news-row.ts';

/** The page about the market as a whole. */
export interface MarketPage {
  /** When the figures are as of, to the minute. */
  readonly as_of: string;
  readonly counts: string;
  readonly charts: readonly Chart[];
  readonly news: readonly NewsRow[];
  /** Addresses of the figures behind the plots. */
  readonly tables: readonly string[];
}

/** Builds the page about the market. */
export function buildMarketPage(data: MarketData, news: readonly ChangeNews[], counts: Counts): MarketPage {
  return {
    as_of: formatMinute(data.as_of),
    counts: formatCounts(counts),
    charts: [
      buildPriceChart(data),
      buildProbeChart(data),
      buildVerifiedChart(data),
      buildBandChart(data),
      buildNetworkChart(data),
      buildListingsChart(data),
    ],
    news: news.map(buildNewsRow),
    tables: MARKET_TABLES.map(PATHS.marketData),
  };
}
