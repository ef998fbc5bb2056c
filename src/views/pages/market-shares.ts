import { NETWORKS, type NetworkKey } from '../../model/network.ts';
import { formatCount } from '../words/figures.ts';
import {
  type Chart,
  type ChartBar,
  type ChartPanel,
  type ChartTick,
  formatShare,
  formatX,
  LABEL_ROOM,
  PANEL_GAP,
} from './chart.ts';
import type { MarketData } from './market-data.ts';
import { buildMarketTable } from './market-tables.ts';

const BAR_HEIGHT = 14;

const TICKS: readonly ChartTick[] = [
  { x: '0%', anchor: 'start', label: '0%' },
  { x: '50%', anchor: 'middle', label: '50%' },
  { x: '100%', anchor: 'end', label: '100%' },
];

/** A lying bar of parts that follow one another, as shares of a whole. */
interface Row {
  readonly label: string;
  readonly whole: number;
  readonly parts: readonly { readonly tone: ChartBar['tone']; readonly count: number; readonly words: string }[];
}

/** Builds the chart of the verified share: of all listings, and by category. */
export function buildVerifiedChart(data: MarketData): Chart {
  const all = { category: 'All', listings: data.live, verified: data.verified };
  const rows = [all, ...data.categories].map(({ category, listings, verified }) => ({
    label: `${category}: ${verified} of ${listings}, ${formatShare(verified, listings)}`,
    whole: listings,
    parts: [{ tone: 'main' as const, count: verified, words: `${category}: ${verified} of ${listings} verified` }],
  }));
  return {
    id: 'verified',
    title: 'Settlement-verified, by category',
    summary: `${data.verified} of ${formatCount(data.live, 'live listing')} have at least one route that this service paid for itself and got the product of.`,
    axis: 'Share of live listings with a verified route',
    ...drawRows(rows),
    legend: [{ tone: 'main', words: 'at least one route verified' }],
    table: buildMarketTable('categories', data),
  };
}

/** Builds the chart of how much is known of reliability, by category. */
export function buildBandChart(data: MarketData): Chart {
  const sum = (band: keyof MarketData['categories'][number]['bands']) =>
    data.categories.reduce((total, { bands }) => total + bands[band], 0);
  const rows = data.categories.map(({ category, listings, bands }) => ({
    label: `${category}: ${bands.established} established, ${bands.thin} thin, ${bands.unscored} unscored`,
    whole: listings,
    parts: [
      {
        tone: 'main' as const,
        count: bands.established,
        words: `${category}: ${bands.established} of ${listings} established`,
      },
      { tone: 'soft' as const, count: bands.thin, words: `${category}: ${bands.thin} of ${listings} thin` },
      { tone: 'open' as const, count: bands.unscored, words: `${category}: ${bands.unscored} of ${listings} unscored` },
    ],
  }));
  return {
    id: 'bands',
    title: 'How much is known of reliability',
    summary: `Of ${formatCount(data.live, 'live listing')}, ${sum('established')} are established, ${sum('thin')} thin, and of ${sum('unscored')} too little is known for a score.`,
    axis: 'Share of live listings',
    ...drawRows(rows),
    legend: [
      { tone: 'main', words: 'established' },
      { tone: 'soft', words: 'thin' },
      { tone: 'open', words: 'unscored' },
    ],
    table: buildMarketTable('categories', data),
  };
}

/** Builds the chart of networks: how many listings advertise each, and on how many a payment was proved. */
export function buildNetworkChart(data: MarketData): Chart {
  const rows: Row[] = (Object.keys(data.networks) as NetworkKey[]).flatMap((key) => {
    const { advertised, verified } = data.networks[key];
    const { label } = NETWORKS[key];
    const build = (what: string, count: number, tone: ChartBar['tone']) => ({
      label: `${label}, ${what}: ${count}, ${formatShare(count, data.live)}`,
      whole: data.live,
      parts: [{ tone, count, words: `${label}: ${count} of ${data.live} ${what}` }],
    });
    return [build('advertised', advertised, 'soft'), build('settlement-verified', verified, 'main')];
  });
  const none = `${data.neither} of ${data.live}`;
  rows.push({
    label: `No network advertised now: ${data.neither}, ${formatShare(data.neither, data.live)}`,
    whole: data.live,
    parts: [{ tone: 'open', count: data.neither, words: `No network advertised now: ${none}` }],
  });
  return {
    id: 'networks',
    title: 'Networks',
    summary: `${(Object.keys(data.networks) as NetworkKey[]).map((key) => `${NETWORKS[key].label} is advertised by ${data.networks[key].advertised} listings and verified on ${data.networks[key].verified}`).join('; ')}. A listing can have both.`,
    axis: `Share of the ${formatCount(data.live, 'live listing')}`,
    ...drawRows(rows),
    legend: [
      { tone: 'soft', words: 'advertised: seen in a dated source' },
      { tone: 'main', words: 'settlement-verified' },
    ],
    table: buildMarketTable('networks', data),
  };
}

function drawRows(rows: readonly Row[]): Pick<Chart, 'panels' | 'ticks' | 'height'> {
  const panels = rows.map(({ label, whole, parts }, index): ChartPanel => {
    const top = index * (LABEL_ROOM + BAR_HEIGHT + PANEL_GAP / 2);
    const base = top + LABEL_ROOM + BAR_HEIGHT;
    let before = 0;
    const bars = parts
      .filter(({ count }) => count > 0)
      .map(({ tone, count, words }) => {
        const x = formatX(before / whole);
        before += count;
        return { x, width: formatX(count / whole), y: base - BAR_HEIGHT, height: BAR_HEIGHT, tone, words };
      });
    return { label, top, base, scale: [], bars, mark: null };
  });
  return { panels, ticks: TICKS, height: (panels.at(-1)?.base ?? 0) + 6 };
}
