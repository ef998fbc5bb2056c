import { networkKey } from '../model/network.ts';
import { formatUsdc, getUsdcNumber } from '../model/usdc.ts';
import { type AddressCheck, type AddressCheckStep, type CheckPart, summarise } from '../probing/check-address.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import { type AgentItem, buildListingCard, type ListingCard } from '../views/listing/item.ts';
import { type CheckLine, type ReportView, summariseRoutes } from '../views/provider-check.ts';
import type { Site } from '../views/site.ts';
import type { Report } from './checks.ts';

/** Most lines, listings and routes of one report. */
const MAX_LINES = 300;
const MAX_LISTINGS = 8;
const MAX_ROUTES = 100;

/** Adds what was found to a report. */
export function addLines(report: Report, steps: readonly AddressCheckStep[]): void {
  report.lines.push(...steps.flatMap(buildLines).slice(0, MAX_LINES - report.lines.length));
  report.changes.emit('change');
}

function buildLines({ name, ok, found, hint, findings, corrected: _json, ...step }: AddressCheckStep): CheckLine[] {
  const fix = !ok && hint !== undefined ? { fix: hint } : {};
  const line: CheckLine = {
    ...step,
    passed: ok,
    item: name,
    detail: ok ? found : (hint ?? found),
    actual: found,
    ...fix,
  };
  const further = findings.map(
    ({ severity, message, fix: advice, example, patch, ...finding }): CheckLine => ({
      ...{ check: 'parse', passed: false, severity: severity === 'refused' ? 'required' : 'advisory', detail: message },
      ...{ ...finding, place: finding.place || 'body' },
      ...(advice !== null && { fix: advice }),
      ...(example !== null && { example }),
      ...(patch && { patch: [...patch] }),
    }),
  );
  return [line, ...further];
}

/** Returns what a report says at its end. */
export function buildResult(parts: readonly CheckPart[], at: string): Report['result'] {
  const { listings, corrected, refused } = summarise(parts);
  const routes = listings.flatMap((listing) => listing.routes);
  const known = new Set(routes.map(({ method, url }) => `${method} ${url}`));
  const others = parts.flatMap(({ seen }) =>
    [...seen].filter(([name, { status }]) => status === 402 && !known.has(name)),
  );
  const total = routes.length + refused + others.length;
  const listable = routes.filter((route) => route.listable).length;
  const shown = listings.slice(0, MAX_LISTINGS);
  return {
    summary: summariseRoutes(listable, total),
    valid: total > 0 && listable === total,
    corrected,
    listings: shown.map(({ base_url, title, routes: own }) => ({
      ...{ base_url, title },
      routes: own
        .slice(0, MAX_ROUTES)
        .map(({ price, ...route }) => ({ ...route, ...(price !== null && { price_usdc: formatUsdc(price) }) })),
    })),
    cards: shown.flatMap((listing) => buildCard(listing, at) ?? []),
  };
}

/** Builds the card of a listing as lists would have it; undefined without a price. */
function buildCard(
  { base_url, title, tagline, category, routes }: AddressCheck['listings'][number],
  at: string,
): ListingCard | undefined {
  const priced = routes.filter((route) => route.listable && route.price !== null);
  const prices = priced.map(({ price }) => getUsdcNumber(price ?? 0));
  if (prices.length === 0) return undefined;
  const networks = new Set(priced.flatMap((route) => route.networks));
  const item: AgentItem = {
    ...{ slug: 'x', id: '', title, tagline, category, provider_name: '', base_url, host: new URL(base_url).host },
    ...{ page_url: base_url, price_min_usdc: Math.min(...prices), price_max_usdc: Math.max(...prices) },
    networks: networkKey.options.filter((key) => networks.has(key)),
    ...{ endpoints_count: routes.length, verified_route_count: 0, last_verified_at: null, payment_verified: false },
    ...{ reliability_band: 'unscored', reliability_score: null, latency: null, updated_at: at, cautions: [] },
    source_names: [],
  };
  return { ...buildListingCard(item), href: base_url };
}

/** Builds a report as its page and the JSON have it. */
export function buildView({ id, url, at, state, lines, asked, result }: Report, site: Site): ReportView {
  const report_url = buildUrl(site.baseUrl, PATHS.submitted(id));
  const summary = result.summary || (state === 'waiting' ? 'Waiting for its turn.' : 'Being checked.');
  return { report_url, resource: url, checked_at: at, state, ...result, summary, checks: lines, asked };
}
