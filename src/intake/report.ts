import { networkKey } from '../model/network.ts';
import type { AgentItem } from '../views/listing/item.ts';
import type { CheckLine, CheckResult } from '../views/provider-check.ts';
import type { Report } from './checks.ts';

/** Most lines, listings and routes of one report. */
const MAX_LINES = 300;
const MAX_LISTINGS = 8;
const MAX_ROUTES = 100;

/** Most characters of one report, so that no host takes the space of others. */
const MAX_SIZE = 256 * 1024;

/** Adds lines to a report. */
export function addLines({ view, changes }: Report, lines: readonly CheckLine[]): void {
  view.checks.push(...listFitting(lines.slice(0, MAX_LINES - view.checks.length), view));
  changes.emit('change');
}

/** Completes a report with the result of a check. */
export function addResult({ view }: Report, { listings, ...result }: Omit<CheckResult, 'checks'>): void {
  const shown = listings.slice(0, MAX_LISTINGS);
  Object.assign(view, result, {
    listings: shown.map(({ routes, ...listing }) => ({ ...listing, routes: routes.slice(0, MAX_ROUTES) })),
    items: shown.flatMap((listing) => buildItem(listing, view.checked_at) ?? []),
  });
}

const getSize = (value: unknown): number => JSON.stringify(value).length;

/** Returns the items that still fit into a report. */
function listFitting<Item>(items: readonly Item[], view: Report['view']): Item[] {
  let room = MAX_SIZE - getSize(view);
  return items.filter((item) => {
    const left = room - getSize(item);
    if (left >= 0) room = left;
    return left >= 0;
  });
}

/** Builds the row that lists would show of a checked listing, which has no slug and no evidence yet; undefined without a price. */
function buildItem(
  { base_url, title, tagline, category, routes }: CheckResult['listings'][number],
  at: string,
): AgentItem | undefined {
  const priced = routes.filter((route) => route.listable && route.price_usdc !== undefined);
  const prices = priced.map(({ price_usdc }) => Number(price_usdc));
  if (prices.length === 0) return undefined;
  const networks = new Set(priced.flatMap((route) => route.networks));
  return {
    slug: '',
    id: '',
    title,
    tagline,
    category,
    provider_name: '',
    base_url,
    host: new URL(base_url).host,
    page_url: base_url,
    price_min_usdc: Math.min(...prices),
    price_max_usdc: Math.max(...prices),
    networks: networkKey.options.filter((key) => networks.has(key)),
    endpoints_count: routes.length,
    verified_route_count: 0,
    last_verified_at: null,
    payment_verified: false,
    reliability_band: 'unscored',
    reliability_score: null,
    latency: null,
    updated_at: at,
    cautions: [],
    source_names: [],
  };
}
