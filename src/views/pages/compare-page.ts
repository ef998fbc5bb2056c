import { z } from 'zod';
import { getCurrentTerms } from '../../evidence/terms.ts';
import { listRouteCautions } from '../../model/listing.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { COMPARED_MAX, compareQuery, describeAbsence, getProofAge, type NamedRoute } from '../compare.ts';
import { PATHS } from '../links.ts';
import type { AgentItem } from '../listing/item.ts';
import { buildMatchedRoute } from '../listing/matched-route.ts';
import { listFilters } from '../listing/query.ts';
import type { PublicHead } from '../listing/record.ts';
import type { PublicRoute } from '../listing/route-record.ts';
import { formatOfferEvidence, getRouteAnchor, listRouteOffers, listRouteStandings } from '../listing/routes.ts';
import { buildComparePath, formatRouteName } from '../route-name.ts';
import { formatCount, formatMedian, formatMinute } from '../words/figures.ts';
import type { Standing } from '../words/standing.ts';

/** Query of the page. One route is enough to look for similar ones, with the given words if any. */
export const comparePageQuery = z.strictObject({
  routes: z
    .array(compareQuery.shape.routes.element)
    .min(1)
    .max(COMPARED_MAX)
    .refine((names) => new Set(names).size === names.length, 'each route once')
    .describe(compareQuery.shape.routes.description ?? ''),
  q: listFilters.shape.q,
});

/** A link to the comparison of some routes. */
interface CompareLink {
  readonly name: string;
  readonly href: string;
}

/** A route in the table. */
export interface ComparedColumn {
  /** Its name in the address. */
  readonly name: string;
  /** `GET /v1/weather`. */
  readonly route: string;
  /** The comparison without it; null if it is the only one. */
  readonly without: string | null;
  /** Facts on record; null without any. */
  readonly facts: ComparedFacts | null;
  /** Reason why there are no facts; null if there are. */
  readonly notice: string | null;
  /** Its page: the route on its listing's page, or a tombstone; null for a route without a page. */
  readonly href: string | null;
  /** Comparisons with a route of a similar name instead. */
  readonly nearest: readonly CompareLink[];
}

/** Facts of a live route in the table. Titles and names of fields are the provider's. */
export interface ComparedFacts {
  readonly title: string;
  readonly host: string;
  /** USDC per request: `0.001` or `0.001-0.002`; `unknown`. */
  readonly price: string;
  /** `402 seen 2026-11-20`, or `declared, undated`; empty if no price is known. */
  readonly price_evidence: string;
  /** Lowest and highest recorded price, if the range is wider than that asked now; else null. */
  readonly recorded: string | null;
  /** `0.001 USDC on Base`, each. */
  readonly networks: readonly string[];
  /** Its standings, the gravest first. */
  readonly standing: readonly Standing[];
  /** `3 days old`; null for a route that is not verified. */
  readonly proof_age: string | null;
  /** Reliability of the listing: `84 of 100, established`, or `unscored`. */
  readonly reliability: string;
  /** `median 90 ms`, or `too few measured`. */
  readonly latency: string;
  /** Fields of its input and output, by the provider's names; empty where not declared. */
  readonly input: string;
  readonly output: string;
}

/** Routes side by side, and other routes to add. */
export interface ComparePage {
  readonly columns: readonly ComparedColumn[];
  /** Names of the routes, as the address has them. */
  readonly names: readonly string[];
  /** Words of the reader for finding other routes; empty if the service chose them. */
  readonly q: string;
  readonly as_of: string;
  /** Routes to add, each with the resulting comparison; empty if no more can be added. */
  readonly others: readonly { readonly item: AgentItem; readonly href: string }[];
  readonly can_add: boolean;
  /** Error in the address, with a hint to correct it. */
  readonly fault: { readonly message: string; readonly hint: string } | null;
}

/** Returns the words for finding routes similar to the first live one. */
export function getLikeWords(routes: readonly NamedRoute[]): string | undefined {
  const first = routes.find(({ route }) => route !== undefined);
  if (!first?.route) return undefined;
  const words = [first.route.description, first.live?.tagline, first.live?.title].find((text) => text?.trim());
  return words?.slice(0, LIKE_LENGTH);
}

/** Longest text for finding similar routes, since the beginning says enough. */
const LIKE_LENGTH = 200;

/** Most routes that are offered to be added. */
const OTHERS = 6;

/** Number of similar routes to find, since those already in the table are left out. */
export const OTHERS_SOUGHT = OTHERS + COMPARED_MAX;

/** Builds the comparison of routes as of a time (ISO 8601 UTC). */
export function buildComparePage(
  { routes, q = '' }: { routes: readonly NamedRoute[]; q?: string | undefined },
  { items, asOf }: { items: readonly AgentItem[]; asOf: string },
): ComparePage {
  const names = routes.map(({ name }) => name);
  const known = new Set(
    routes.flatMap(({ live, route }) => (live && route ? [formatRouteName(live.slug, route)] : [])),
  );
  const others = items.flatMap((item) => {
    const name = item.route && formatRouteName(item.slug, item.route);
    return name === undefined || known.has(name) ? [] : [{ item, href: buildComparePath([...names, name], q) }];
  });
  const can_add = names.length < COMPARED_MAX;
  return {
    columns: routes.map((found) => buildColumn(found, { names, asOf, q })),
    names,
    q,
    as_of: formatMinute(asOf),
    can_add,
    others: can_add ? others.slice(0, OTHERS) : [],
    fault: null,
  };
}

/** Builds the page that explains an error in the address. */
export function buildRefusedComparePage(fault: NonNullable<ComparePage['fault']>): ComparePage {
  return { columns: [], names: [], q: '', as_of: '', others: [], can_add: false, fault };
}

function buildColumn(
  found: NamedRoute,
  { names, asOf, q }: { names: readonly string[]; asOf: string; q: string },
): ComparedColumn {
  const { name, live, route, nearest, tombstone } = found;
  const slug = live?.slug ?? tombstone?.slug;
  const others = names.filter((other) => other !== name);
  const place = { name, without: others.length === 0 ? null : buildComparePath(others, q) };
  const [, label = name] = /^\S+ (.*)$/s.exec(name) ?? [];
  if (live && route) {
    return {
      ...place,
      route: `${route.method} ${route.path}`,
      facts: buildFacts(live, route, asOf),
      notice: null,
      href: `${PATHS.listing(live.slug)}#${getRouteAnchor(route)}`,
      nearest: [],
    };
  }
  return {
    ...place,
    route: label,
    facts: null,
    notice: describeAbsence(found),
    href: slug === undefined ? null : PATHS.listing(slug),
    nearest: nearest
      .filter((near) => !names.includes(near))
      .map((near) => ({
        name: near,
        href: buildComparePath(
          names.map((one) => (one === name ? near : one)),
          q,
        ),
      })),
  };
}

function buildFacts(listing: PublicHead, route: PublicRoute, asOf: string): ComparedFacts {
  const offers = listRouteOffers(route.terms);
  const { input = '', outputs } = buildMatchedRoute(listing, route);
  const { score, band } = listing.reliability;
  const [price, recorded] = [formatRange(getCurrentTerms(route.terms)), formatRange(route.terms)];
  const age = getProofAge(route, asOf);
  return {
    title: listing.title,
    host: listing.host,
    price: price || 'unknown',
    price_evidence: offers[0] ? formatOfferEvidence(offers[0]) : '',
    recorded: recorded === price ? null : recorded,
    networks: offers.map((offer) =>
      offers.length === 1 ? offer.networks : `${offer.price} USDC on ${offer.networks}`,
    ),
    proof_age: age === null ? null : age === 0 ? 'less than a day old' : `${formatCount(age, 'day')} old`,
    standing: listRouteStandings({ ...route, cautions: listRouteCautions(listing.listing_cautions, route) }, asOf),
    reliability: score === null ? 'unscored' : `${score} of 100, ${band}`,
    latency: route.probe?.latency ? formatMedian(route.probe.latency) : 'too few measured',
    input,
    output: outputs.join(', '),
  };
}

function formatRange(terms: readonly { amount: number }[]): string {
  const amounts = terms.map(({ amount }) => amount);
  return amounts.length === 0 ? '' : formatPriceRange(Math.min(...amounts), Math.max(...amounts));
}
