import { ASKED_BY_PROVIDER } from '../../evidence/changes.ts';
import { getDomain } from '../../evidence/domains.ts';
import { getCurrentTerms } from '../../evidence/terms.ts';
import type { NetworkEntry } from '../../model/network.ts';
import { formatRoute, listCounted } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { hasProviderPath } from '../pages/provider.ts';
import { describeReason } from '../words/decision.ts';
import { formatCount, formatDay, formatInteger, formatMedian, formatMinute } from '../words/figures.ts';
import type { Standing } from '../words/standing.ts';
import { isPriceSeen } from './history.ts';
import { formatItemPrice, formatOtherRoutes, formatProof, formatVerification, listItemStandings } from './item.ts';
import type { RoutePage } from './page.ts';
import type { PublicHead, PublicListing, Tombstone } from './record.ts';
import { formatRouteVerification, listRouteOffers } from './routes.ts';
import { describeOffer, formatNetworks } from './tag.ts';

/** Longest title in a window's title, in UTF-16 units. */
const NAME_LENGTH = 60;

/** Names a listing in window titles and previews: by its title, which anybody can write, and its host, which is a fact. */
export function formatName({ title, host }: Pick<PublicHead, 'title' | 'host'>): string {
  return `${cutText(title, NAME_LENGTH)} (${host})`;
}

/** Writes the tagline and the most important facts in one line, for link previews. */
export function formatSummary(listing: PublicHead): string {
  const facts = [
    formatVerification(listing),
    `${formatItemPrice(listing)} USDC per request`,
    formatCount(listing.endpoints_count, 'endpoint'),
    ...[listing.category, formatNetworks(listing), 'x402'],
  ];
  return `${listing.tagline} ${facts.join(', ')}.`.trim();
}

/** Names a route for titles of windows and previews: `GET /v1/weather (api.example.com)`. */
export function formatRouteTitle({ listing, route }: Pick<RoutePage, 'listing' | 'route'>): string {
  return `${cutText(formatRoute(route), NAME_LENGTH)} (${listing.host})`;
}

/** Writes the purpose, prices and verification of a route in one line, for link previews. */
export function formatRouteSummary({ listing, route }: Pick<RoutePage, 'listing' | 'route'>): string {
  const prices = listRouteOffers(route.terms).map(({ price, networks }) => `${price} USDC on ${networks}`);
  const verification = formatRouteVerification(route, listing.updated_at);
  return `${route.description || listing.tagline} ${prices.join(', ') || 'Price unknown'}, ${verification}.`.trim();
}

/** Returns the description of a listing without its tagline, with which sources often begin it. A paragraph stays whole. */
export function getDescription({ tagline, description }: Pick<PublicHead, 'tagline' | 'description'>): string {
  if (tagline === '' || !description.startsWith(tagline)) return description;
  const rest = description.slice(tagline.length);
  return rest.startsWith('\n') ? description : rest.trim();
}

/** Finds the registered domain of a listing's host; undefined if it has no provider page. */
export function findProviderDomain({ base_url }: Pick<PublicHead, 'base_url'>): string | undefined {
  const domain = getDomain(base_url);
  return hasProviderPath(domain) ? domain : undefined;
}

/** Returns the gravest standing of a listing; a proof in the specification's words. */
export function getStanding(listing: PublicHead): Standing {
  const [standing] = listItemStandings(listing);
  return isProof(standing) ? { ...standing, text: formatVerification(listing) } : standing;
}

const isProof = ({ tone }: Standing) => tone === 'proved' || tone === 'partly';

/** Describes how far a listing is verified, or why it is not, below its standing. */
export function describeVerification(listing: PublicListing): string {
  if (listing.last_verified_at === null) return `Unverified: ${formatLackOfProof(listing)}`;
  return `${isProof(getStanding(listing)) ? '' : `${formatVerification(listing)}. `}${formatOtherRoutes(listing)}`;
}

/** Describes the routes of a listing that are not verified (specification, "Listing page"). */
export function describeUnverified(listing: PublicListing): string {
  const others = formatOtherRoutes(listing);
  if (others) return others;
  const lapsedOn = findLapsedProof(listing);
  return lapsedOn === undefined
    ? 'No route of this listing has been verified: all of its routes are unverified.'
    : `No route of this listing is verified any longer: the last verified call was on ${lapsedOn}, and all of its routes are unverified.`;
}

/** Describes why no route is verified: a payment without a recognised product, a lapsed proof, or no payment that counts. */
function formatLackOfProof(listing: PublicListing): string {
  const undelivered = listing.routes.flatMap((route) => route.undelivered ?? []);
  const latest = undelivered.sort((a, b) => (a.at < b.at ? -1 : 1)).at(-1);
  if (latest !== undefined) {
    const outcome = latest.unrecognised === null ? 'nothing was delivered' : 'answered, product not recognised';
    return `paid ${formatDay(latest.at)}; ${outcome}`;
  }
  const lapsed = findLapsedProof(listing);
  if (lapsed !== undefined) return `the last verified call was on ${lapsed}`;
  const corrected = listing.corrections.length > 0 ? '; the operator corrected the record of one' : '';
  return `no paid call verifies a route${corrected}`;
}

/** Finds the day of the last verified call of a listing; undefined while a route is verified. */
function findLapsedProof({ routes, network_entries }: PublicListing): string | undefined {
  if (routes.some(({ proof }) => proof !== null)) return undefined;
  const latest = network_entries.flatMap(({ last_verified_at }) => last_verified_at ?? []).sort();
  const day = latest.at(-1);
  return day === undefined ? undefined : formatDay(day);
}

/**
 * Describes the evidence for the prices of a listing: `402 seen 2026-11-20`, `as declared`, or `partly as declared; 402 seen
 * 2026-11-20` if a 402 asked only some of them.
 */
export function formatPriceEvidence({ routes }: PublicListing): string {
  const current = listCounted(routes).flatMap(({ terms }) => getCurrentTerms(terms));
  const seen = current.flatMap(({ evidence, last_seen_at }) =>
    evidence === 'observed' && last_seen_at !== null ? [last_seen_at] : [],
  );
  const latest = seen.sort().at(-1);
  if (latest === undefined) return 'as declared';
  return `${isPriceSeen(routes) ? '' : 'partly as declared; '}402 seen ${formatDay(latest)}`;
}

/** Writes the reliability of a listing in a few words: `80 of 100`, `Unscored`. */
export function formatScore({ reliability }: Pick<PublicHead, 'reliability'>): string {
  return reliability.score === null ? 'Unscored' : `${reliability.score} of 100`;
}

/** Describes the evidence for the reliability of a listing: `established, 60 samples in 30 days`. */
export function formatScoreBasis({ reliability }: Pick<PublicHead, 'reliability'>): string {
  const { band, score, samples, window_days, last_sample_at, days } = reliability;
  if (last_sample_at === null) return days.length === 0 ? 'not yet sampled' : 'no conclusive answer so far';
  return `${score === null ? 'too little is known' : band}, ${formatCount(samples, 'sample')} in ${window_days} days`;
}

/** Writes the reliability of a listing in one line: score, band, and evidence. */
export function formatReliabilityEvidence({ reliability }: Pick<PublicHead, 'reliability'>): string {
  const { band, score, samples, window_days, last_sample_at, days } = reliability;
  if (last_sample_at === null) {
    return days.length === 0 ? 'unscored, not yet sampled' : 'unscored, no sample so far tells anything';
  }
  const basis = `${formatCount(samples, 'sample')} in ${window_days} days, the last ${formatMinute(last_sample_at)}`;
  return score === null ? `unscored, too little is known (${basis})` : `${score} of 100, ${band} (${basis})`;
}

/** Writes the time that valid answers to probes took, with its evidence; null if there is no figure. */
export function formatLatency({ latency, reliability }: Pick<PublicHead, 'latency' | 'reliability'>): string | null {
  if (latency === null) return null;
  const { p95_ms, probes } = latency;
  const basis = `${formatCount(probes, 'valid answer')} in ${reliability.window_days} days`;
  return `${formatMedian(latency)}, 95 % within ${formatInteger(p95_ms)} ms (${basis}, as our probe saw it, from one place)`;
}

/**
 * Describes how a listing is paid on a network as of a time (ISO 8601 UTC): `advertised, last seen 2026-11-20; never verified`.
 */
export function describeNetwork(entry: NetworkEntry, asOf: string): string {
  const { last_seen_at, settlement_verified, last_verified_at } = entry;
  const seen = last_seen_at === null ? '' : `, last seen ${formatDay(last_seen_at)}`;
  const paid =
    last_verified_at === null
      ? 'never verified'
      : settlement_verified
        ? formatProof(last_verified_at, asOf, 'settlement-verified ')
        : `last verified ${formatDay(last_verified_at)}`;
  return `${describeOffer(entry)}${seen}; ${paid}`;
}

const DECIDERS: Readonly<Record<Tombstone['delisted_by'], string>> = {
  operator: 'the operator of this catalogue',
  provider: 'the provider',
  rule: 'a rule of this catalogue',
};

/** Names who removed a listing: `the operator of this catalogue`. */
export function formatDecider({ delisted_by }: Tombstone): string {
  return DECIDERS[delisted_by];
}

/**
 * Writes the reason of a removal. A code, from a rule or from a provider without a text, becomes a sentence; other text stays
 * unchanged.
 */
export function formatRemovalReason({ delisted_by, reason }: Tombstone): string {
  const isCode = delisted_by === 'rule' || reason === ASKED_BY_PROVIDER;
  const words = isCode ? describeReason(reason) : reason;
  return /^[a-z0-9_]+$/.test(words) ? words.replaceAll('_', ' ') : words;
}
