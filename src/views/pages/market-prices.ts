import { formatUsdc } from '../../model/usdc.ts';
import { formatCount } from '../words/figures.ts';
import {
  buildScale,
  type Chart,
  type ChartPanel,
  type ChartTick,
  formatShare,
  formatX,
  LABEL_ROOM,
  PANEL_GAP,
} from './chart.ts';
import { type CategoryFigures, getNextPriceStep, type MarketData } from './market-data.ts';
import { buildMarketTable } from './market-tables.ts';

const PANEL_HEIGHT = 44;
const GAP_SHARE = 0.06;

/** Builds the chart of prices by category: one panel each, all on one logarithmic scale of price and one scale of share. */
export function buildPriceChart(data: MarketData): Chart {
  const { categories } = data;
  const steps = categories.flatMap((figures) => [...figures.steps.keys()]);
  const low = getDecade(Math.min(...steps, 1_000_000));
  const high = Math.max(getNextPriceStep(Math.max(...steps, low)), low * 10);
  const getX = (amount: number) => Math.log10(amount / low) / Math.log10(high / low);
  const shares = categories.flatMap(({ listings, steps: counts }) => [...counts.values()].map((n) => n / listings));
  const highest = Math.max(...shares, 0.1);
  const panels = categories.map((figures, index) => buildPanel(figures, index, { getX, highest }));
  const middle = categories.filter(({ quartiles }) => quartiles !== null);
  return {
    id: 'prices',
    title: 'Prices by category',
    summary:
      `Lowest price per request of ${formatCount(data.live, 'live listing')}. ` +
      (middle.length > 0
        ? `Medians: ${middle.map(({ category, quartiles }) => `${category} ${formatUsdc(quartiles?.[1] ?? 0)}`).join(', ')} USDC.`
        : 'There is none yet.'),
    axis: 'Lowest USDC per request, logarithmic',
    height: (panels.at(-1)?.base ?? 0) + 1,
    panels,
    ticks: listDecades(low, high, getX),
    legend: [
      { tone: 'main', words: 'share of the category’s listings in a price step' },
      { tone: 'mark', words: 'median' },
    ],
    table: buildMarketTable('prices', data),
  };
}

function buildPanel(
  { category, listings, steps, quartiles }: CategoryFigures,
  index: number,
  { getX, highest }: { getX: (amount: number) => number; highest: number },
): ChartPanel {
  const top = index * (LABEL_ROOM + PANEL_HEIGHT + PANEL_GAP);
  const base = top + LABEL_ROOM + PANEL_HEIGHT;
  const { getY, scale } = buildScale(highest, {
    ...{ base, height: PANEL_HEIGHT },
    format: (share) => formatShare(share, 1),
  });
  const bars = [...steps].map(([step, count]) => {
    const [from, to] = [getX(step), getX(getNextPriceStep(step))];
    const y = getY(count / listings);
    return {
      x: formatX(from + (to - from) * GAP_SHARE),
      width: formatX((to - from) * (1 - 2 * GAP_SHARE)),
      y,
      height: Math.round((base - y) * 10) / 10,
      tone: 'main' as const,
      words: `${category}, ${formatUsdc(step)} to below ${formatUsdc(getNextPriceStep(step))} USDC: ${count} of ${listings} (${formatShare(count, listings)})`,
    };
  });
  const median = quartiles?.[1];
  return {
    label: `${category}: ${formatCount(listings, 'listing')}${median === undefined ? '' : `, median ${formatUsdc(median)}`}`,
    ...{ top, base, scale, bars },
    mark:
      median === undefined
        ? null
        : { x: formatX(getX(median)), words: `Median of ${category}: ${formatUsdc(median)} USDC` },
  };
}

function getDecade(amount: number): number {
  return 10 ** (String(amount).length - 1);
}

function listDecades(low: number, high: number, getX: (amount: number) => number): ChartTick[] {
  const decades = [];
  for (let amount = low; amount <= high; amount *= 10) decades.push(amount);
  // On a phone five labels have room.
  const every = Math.ceil(decades.length / 5);
  return decades
    .filter((_, index) => index % every === 0)
    .map((amount) => {
      const share = getX(amount);
      return {
        x: formatX(share),
        anchor: share === 0 ? 'start' : share > 0.95 ? 'end' : 'middle',
        label: formatUsdc(amount),
      };
    });
}
