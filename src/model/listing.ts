import { z } from 'zod';
import { category } from './catalogue.ts';
import {
  CAUTION_CODES,
  CAUTIONS,
  type Caution,
  type CautionCode,
  type CautionSeverity,
  caution,
  sortCautions,
} from './caution.ts';
import { networkEntry, networkKey } from './network.ts';
import { correctedReceipt } from './payment.ts';
import { latency } from './probe.ts';
import { formatRoute, type Route, route } from './route.ts';
import { listedSource, listingSaidBy } from './source.ts';

export const reliabilityBand = z.enum(['established', 'thin', 'unscored']);

/** Outcomes of the samples of one day (UTC). */
const sampledDay = z.object({
  day: z.iso.date(),
  valid: z.int().nonnegative().describe('Valid 402 answers'),
  failed: z.int().nonnegative().describe('Conclusive failures'),
  inconclusive: z.int().nonnegative().describe('Samples that count for nobody and against nobody'),
});
export type SampledDay = z.infer<typeof sampledDay>;

/** Reliability of the listing. The band says how much is known, the score how good it is. */
export const reliability = z
  .object({
    band: reliabilityBand,
    score: z.number().min(0).max(100).nullable().describe('Null while the band is unscored'),
    samples: z.int().nonnegative().describe('Conclusive samples in the window'),
    window_days: z.int().positive(),
    method: z.int().positive().describe('Version of the method that gave band and score'),
    last_sample_at: z.iso.datetime().nullable(),
    days: z.array(sampledDay).describe('The samples of the window by day, those left out that show our own faults'),
  })
  .meta({ id: 'Reliability' });
export type Reliability = z.infer<typeof reliability>;

/** `live`: published. `held`: known, but something is missing, such as a price. `delisted`: removed, a tombstone remains. */
export const listingState = z.enum(['live', 'held', 'delisted']);

const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const SLUG_MAX_LENGTH = 64;
export const slug = z.string().regex(slugPattern).max(SLUG_MAX_LENGTH);

/** A listing as the catalogue publishes it. Amounts are atomic USDC, times ISO 8601 UTC. */
export const listing = z.object({
  id: z.uuid(),
  slug,
  base_url: z.url(),
  title: z.string(),
  tagline: z.string(),
  description: z.string(),
  provider_name: z.string(),
  category,
  category_inferred: z.boolean(),
  mcp_endpoint: z.url().nullable(),
  docs_url: z.url().nullable(),
  state: listingState,
  /** Reason why it is not live: a reason code and, for a tombstone, the decider. Null while live. */
  state_reason: z.string().nullable(),
  state_by: z.enum(['operator', 'provider', 'rule']).nullable(),
  state_at: z.iso.datetime().nullable(),
  price_min: z.int().positive().nullable(),
  price_max: z.int().positive().nullable(),
  /** The network under which it is shown, whether or not payment on it is advertised. */
  primary_network: networkKey,
  networks: z.array(networkEntry),
  routes: z.array(route),
  reliability,
  /** Time that valid answers to probes took; null while there are too few. */
  latency: latency.nullable(),
  /** Cautions about the whole listing; those about one of its routes are listed with the route. */
  cautions: z.array(caution),
  /** Receipts of its routes that the operator corrected, the latest first. */
  corrections: z.array(correctedReceipt),
  /** All sources, the most trusted first. */
  sources: z.array(listedSource),
  said_by: listingSaidBy,
  listed_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** The catalogue revision of its last reader-visible change. */
  revision: z.int().nonnegative(),
});
export type Listing = z.infer<typeof listing>;

/** A listing that readers see. It always has a price. */
export type LiveListing = Listing & { state: 'live'; price_min: number; price_max: number };

/** Returns true if a listing is live. */
export function isLive(candidate: Listing): candidate is LiveListing {
  return candidate.state === 'live' && candidate.price_min !== null && candidate.price_max !== null;
}

/** Returns the number of settlement-verified routes of a listing. */
export function getVerifiedRouteCount({ routes }: Pick<Listing, 'routes'>): number {
  return routes.filter(({ verification }) => verification === 'settlement-verified').length;
}

/** Summary of a listing's cautions with one code, for however many of its routes. */
export interface CautionSummary {
  readonly code: CautionCode;
  readonly severity: CautionSeverity;
  /** Its only route, such as `POST /v1/x`; null if it is about several routes or the whole listing. */
  readonly route: string | null;
  /** Number of its routes; all routes if it is about the whole listing. */
  readonly routes: number;
  /** Start of the earliest of them; null if none has a date. */
  readonly since: string | null;
}

/** Lists the cautions about a listing or any of its routes, one entry for each code, the gravest first. */
export function listCautionSummaries({ cautions, routes }: Pick<Listing, 'cautions' | 'routes'>): CautionSummary[] {
  return CAUTION_CODES.flatMap((code) => {
    const isOfCode = (one: Caution) => one.code === code;
    const whole = cautions.filter(isOfCode);
    // A route that others may have invented gives its listing no caution.
    const concerned = routes.filter(({ cautions: own, set_aside }) => !set_aside && own.some(isOfCode));
    const found = [...whole, ...concerned.flatMap((candidate) => candidate.cautions.filter(isOfCode))];
    if (found.length === 0) return [];
    const [only, ...others] = concerned;
    return {
      code,
      severity: CAUTIONS[code].severity,
      route: whole.length === 0 && only && others.length === 0 ? formatRoute(only) : null,
      routes: whole.length > 0 ? routes.length : concerned.length,
      since: found.flatMap(({ since }) => since ?? []).sort()[0] ?? null,
    };
  });
}

/** Lists the cautions about a route and those about its whole listing (`ofListing`), the gravest first. */
export function listRouteCautions(ofListing: readonly Caution[], route: Pick<Route, 'cautions'>): Caution[] {
  return sortCautions([...route.cautions, ...ofListing]);
}

/**
 * Returns the canonical form of a listing's address: scheme and host in lower case, no trailing slash, no fragment. The
 * provider's path and query stay.
 */
export function getCanonicalBaseUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}${url.search}`;
}

/**
 * Returns the host of a listing's address, with its port unless it is the default. Names in other scripts are returned in the
 * form in which they are resolved (`xn--…`), so that no letter can be mistaken for another.
 */
export function getHost(baseUrl: string): string {
  return new URL(baseUrl).host;
}
