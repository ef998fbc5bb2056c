import { ASKED_BY_PROVIDER } from '../../evidence/changes.ts';
import { getDomain } from '../../evidence/domains.ts';
import type { Mark } from '../../evidence/marks.ts';
import { getCurrentTerms } from '../../evidence/terms.ts';
import { isProofOld } from '../../evidence/verification.ts';
import type { Category } from '../../model/catalogue.ts';
import type { Change } from '../../model/change.ts';
import { formatRoute, listCounted } from '../../model/route.ts';
import { cutText, lowerFirst } from '../../model/text.ts';
import { type BadgeLines, buildBadgeLines } from '../badge.ts';
import { buildBareCall, type CallGuide, findTellingRoute } from '../call/guide.ts';
import { buildListingJsonLd, type JsonLd } from '../json-ld.ts';
import { buildUrl, PATHS } from '../links.ts';
import { hasProviderPath } from '../pages/provider-page.ts';
import type { Site } from '../site.ts';
import { type CautionView, listCautionViews } from '../words/caution.ts';
import { describeEvidence, describeReason } from '../words/decision.ts';
import { formatCount, formatDay, formatInteger, formatMedian, formatMinute } from '../words/figures.ts';
import { describeSources, getAuthor } from '../words/source.ts';
import type { Standing } from '../words/standing.ts';
import type { PaidAnswers } from './fields.ts';
import {
  buildDecisionRows,
  buildPriceHistory,
  buildProbeStrip,
  type DecisionRow,
  isPriceSeen,
  type PriceHistory,
  type ProbeStrip,
} from './history.ts';
import {
  type AgentItem,
  buildListingCard,
  formatItemPrice,
  formatLastProved,
  formatOtherRoutes,
  formatVerification,
  type ListingCard,
  listItemStandings,
} from './item.ts';
import { ROUTES_MAX } from './query.ts';
import type { PublicHead, PublicListing, Tombstone } from './record.ts';
import {
  buildRouteDetail,
  buildRouteRow,
  isRoutePage,
  listVerifiedRoutes,
  type RouteDetail,
  type RouteRow,
  type VerifiedRoute,
} from './routes.ts';
import { describeOffer, formatNetworks } from './tag.ts';

/** Everything that the page of a live listing shows (specification, "Listing page"). */
export interface ListingPage {
  readonly kind: 'live';
  readonly slug: string;
  readonly id: string;
  /** Provider's text. */
  readonly title: string;
  /** Host that the API is called at: our fact, beside the title. */
  readonly host: string;
  /** Title and host in one line; a long title is cut so that the host stays. */
  readonly name: string;
  /** Provider's text: one line. */
  readonly tagline: string;
  /** True if this service made the tagline from the routes, so that it is not quoted as the provider's. */
  readonly is_tagline_ours: boolean;
  /** The tagline and the status in one line, for link previews. */
  readonly summary: string;
  /** Provider's text, of several lines; may be empty. */
  readonly description: string;
  /** Author of title, tagline and descriptions. Nobody checked these words. */
  readonly words_by: ReturnType<typeof getAuthor>;
  /** Provider's text. */
  readonly provider_name: string;
  /** Addresses that the provider gives. */
  readonly base_url: string;
  readonly docs_url: string | null;
  readonly mcp_endpoint: string | null;
  readonly status: ListingStatus;
  /** Its cautions, the gravest first. */
  readonly cautions: readonly CautionView[];
  /** Its mark as a demo, a host for tests or a token sale; null for nearly all. */
  readonly marked: Mark | null;
  readonly glance: Glance;
  readonly category_href: string;
  readonly category_inferred: boolean;
  /** The MCP address of the service. */
  readonly service_mcp_url: string;
  /** Everything on record, as JSON. */
  readonly record_url: string;
  /** The registered domain of its host, and the page of all listings there; null where it has no page. */
  readonly provider: { readonly domain: string; readonly href: string } | null;
  readonly badge: BadgeLines;
  /** The call of a listing that names no routes; null where each route has its own. */
  readonly call: CallGuide | null;
  /** Empty when no route is verified. */
  readonly verified_routes: readonly VerifiedRoute[];
  /** Sentence on the routes that are not verified. */
  readonly unverified_statement: string;
  /** Routes of this page, the one whose call shows most first. */
  readonly routes: readonly ListedRoute[];
  /** Number of all routes, number of those before this page, and address of the next ones as Markdown. */
  readonly routes_total: number;
  readonly routes_before: number;
  readonly next_href: string | null;
  readonly networks: readonly NetworkRow[];
  readonly reliability: string;
  /** Time that valid answers took, with the basis of the figures; null while too few were measured. */
  readonly latency: string | null;
  /** Null while no sample was taken. */
  readonly probes: ProbeStrip | null;
  readonly price_history: PriceHistory;
  /** The latest first. */
  readonly decisions: readonly DecisionRow[];
  readonly sources: readonly SourceRow[];
  readonly related: readonly ListingCard[];
  /** Listings that are the same product at other addresses. */
  readonly same_product: readonly { readonly slug: string; readonly href: string }[];
  readonly listed_on: string;
  readonly changed_on: string;
  /** Structured data for search engines. */
  readonly json_ld: readonly JsonLd[];
}

/** A route as the page of its listing lists it. */
export interface ListedRoute extends RouteRow {
  /** Its own page. */
  readonly href: string;
  /** Details of its call; null where only its own page has them, because the listing has many routes. */
  readonly detail: RouteDetail | null;
  /** True where its details are unfolded at first. */
  readonly is_open: boolean;
}

/** Parts of a listing page besides the listing. */
export interface ListingSurroundings {
  /** The short forms of its related listings, the nearest first. */
  readonly related?: readonly AgentItem[];
  /** Slugs of listings that are the same product at other addresses. */
  readonly same_product?: readonly string[];
  /** Its receipts that have a page. */
  readonly receipts?: PaidAnswers | undefined;
  /** Number of the page of routes, from 1. */
  readonly number?: number;
  /** Its latest `priced` changes, the earliest first. */
  readonly priced?: readonly Change[];
  /** Its latest changes of other kinds. */
  readonly decisions?: readonly Change[];
}

/** Builds the page model of a live listing. Pure: the same listing and changes give the same page at any time. */
export function buildListingPage(
  listing: PublicListing,
  { related = [], same_product = [], priced = [], decisions = [], receipts, number = 1 }: ListingSurroundings,
  site: Site,
): ListingPage {
  const status = buildStatus(listing);
  const routesBefore = (number - 1) * ROUTES_MAX;
  return {
    kind: 'live',
    slug: listing.slug,
    id: listing.id,
    title: listing.title,
    host: listing.host,
    name: formatName(listing.title, listing.host),
    tagline: listing.tagline,
    is_tagline_ours: listing.tagline_is_ours === true,
    summary: `${listing.tagline} ${Object.values(status).join(', ')}.`.trim(),
    description: omitTagline(listing),
    words_by: getAuthor(listing),
    provider_name: listing.provider_name,
    base_url: listing.base_url,
    docs_url: listing.docs_url,
    mcp_endpoint: listing.mcp_endpoint,
    status,
    cautions: listCautionViews(listing),
    marked: listing.marked ?? null,
    glance: buildGlance(listing),
    category_href: PATHS.category(listing.category),
    category_inferred: listing.category_inferred,
    service_mcp_url: buildUrl(site.baseUrl, PATHS.mcp),
    record_url: buildUrl(site.baseUrl, PATHS.agentListing(listing.slug)),
    provider: findProviderLink(listing),
    badge: buildBadgeLines(listing.slug, site),
    call: listing.routes.length === 0 ? buildBareCall(listing) : null,
    verified_routes: listVerifiedRoutes(listing.routes, receipts),
    unverified_statement: formatOtherRoutes(listing) || formatUnverified(findLapsedProof(listing)),
    routes: listRoutes(listing, receipts, routesBefore),
    routes_total: listing.routes.length,
    routes_before: routesBefore,
    next_href:
      listing.routes.length > routesBefore + ROUTES_MAX
        ? `${PATHS.listingMarkdown(listing.slug)}?page=${number + 1}`
        : null,
    networks: buildNetworkRows(listing),
    reliability: formatReliabilityEvidence(listing),
    latency: formatLatency(listing),
    probes: buildProbeStrip(listing.reliability),
    price_history: buildPriceHistory(priced, listing.updated_at, { confirmed: isPriceSeen(listing.routes) }),
    decisions: buildDecisionRows(decisions),
    sources: buildSourceRows(listing),
    related: related.map(buildListingCard),
    same_product: same_product.map((slug) => ({ slug, href: PATHS.listing(slug) })),
    listed_on: formatDay(listing.listed_at),
    changed_on: formatDay(listing.updated_at),
    json_ld: buildListingJsonLd(listing, site),
  };
}

/**
 * Most details of routes on one page, in UTF-16 units of the parts that differ from route to route. Further routes have
 * their details on pages of their own.
 */
const DETAIL_ROOM = 18_000;
/** Share of that room for the row of a route. */
const ROW_ROOM = 80;

/** Longest description of a route whose details are on its own page, in UTF-16 units. */
const BRIEF_LENGTH = 70;

/** Most routes that are all unfolded at first. */
const OPEN_ROUTES = 2;

function listRoutes(listing: PublicListing, receipts: PaidAnswers | undefined, before: number): ListedRoute[] {
  const { routes, slug, updated_at } = listing;
  const telling = findTellingRoute(routes.filter(({ folded_under }) => !folded_under));
  const ordered = telling ? [telling, ...routes.filter((route) => route !== telling)] : routes;
  const shown = ordered.slice(before, before + ROUTES_MAX);
  const told = new Map(routes.map((route) => [formatRoute(route), route.description]));
  let room = DETAIL_ROOM - ROW_ROOM * shown.length;
  return shown.map((route) => {
    const row = buildRouteRow(route, { slug, asOf: updated_at }, receipts);
    const isWhole = (room > 0 && !route.folded_under) || route === telling;
    const whole = isWhole ? buildRouteDetail(listing, route, receipts) : null;
    room -= whole ? JSON.stringify([whole.input, whole.output, whole.call.curl]).length : 0;
    const detail = room > 0 || route === telling ? whole : null;
    const said = routes.length === 1 ? listing.tagline : told.get(route.folded_under?.route ?? '');
    const isRepeated = row.description === said;
    const description = isRepeated ? '' : row.description;
    return {
      ...row,
      description: detail ? description : cutText(description, BRIEF_LENGTH),
      href: PATHS.route(slug, row.anchor),
      detail,
      is_open: route === telling || routes.length <= OPEN_ROUTES,
    };
  });
}

/** The page of one route of a live listing. */
export interface RoutePage {
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly listing: Pick<ListingPage, 'slug' | 'title' | 'host' | 'cautions' | 'category_href' | 'words_by'> & {
    readonly category: Category;
    readonly routes: number;
  };
  readonly route: RouteRow & { readonly detail: RouteDetail };
}

/** Builds the page of a route by its name, which is its anchor; undefined where the listing has none. */
export function buildRoutePage(
  listing: PublicListing,
  name: string,
  receipts: PaidAnswers | undefined,
): RoutePage | undefined {
  const route = listing.routes.find((one) => isRoutePage(name, one));
  if (!route) return undefined;
  const row = buildRouteRow(route, { slug: listing.slug, asOf: listing.updated_at }, receipts);
  const prices = row.offers.map(({ price, networks }) => `${price} USDC on ${networks}`).join(', ');
  return {
    path: PATHS.route(listing.slug, row.anchor),
    title: `${cutText(formatRoute(route), NAME_LENGTH)} (${listing.host})`,
    summary:
      `${row.description || listing.tagline} ${prices || 'Price unknown'}, ${lowerFirst(row.verification)}.`.trim(),
    listing: {
      slug: listing.slug,
      title: listing.title,
      host: listing.host,
      cautions: listCautionViews(listing),
      category_href: PATHS.category(listing.category),
      words_by: getAuthor(listing),
      category: listing.category,
      routes: listing.routes.length,
    },
    route: { ...row, detail: buildRouteDetail(listing, route, receipts) },
  };
}

/** Cuts the tagline from the description: sources often give its first sentence. A paragraph stays whole. */
function omitTagline({ tagline, description }: PublicHead): string {
  if (tagline === '' || !description.startsWith(tagline)) return description;
  const rest = description.slice(tagline.length);
  return rest.startsWith('\n') ? description : rest.trim();
}

function findProviderLink({ base_url }: PublicHead): ListingPage['provider'] {
  const domain = getDomain(base_url);
  return hasProviderPath(domain) ? { domain, href: PATHS.provider(domain) } : null;
}

/** Says that no route is verified (specification, "Listing page"), with the day of the last verified call if any. */
function formatUnverified(lapsedOn: string | undefined): string {
  return lapsedOn === undefined
    ? 'No route of this listing has been verified: all of its routes are unverified.'
    : `No route of this listing is verified any longer: the last verified call was on ${lapsedOn}, and all of its routes are unverified.`;
}

const NAME_LENGTH = 60;

/** Names a listing for titles of windows and previews by its title, which anybody can write, and its host, a fact. */
function formatName(title: string, host: string): string {
  return `${cutText(title, NAME_LENGTH)} (${host})`;
}

/** The status line of a listing page, part by part in its order (specification, "Listing page"). */
interface ListingStatus {
  /** `1 of 2 routes settlement-verified, 2026-11-20` or `unverified`. */
  readonly verification: string;
  /** `0.001-0.05 USDC per request`. */
  readonly price: string;
  /** `2 endpoints`. */
  readonly endpoints: string;
  readonly category: Category;
  /** The networks, the primary one first: `Base, Solana (declared, not seen)`. */
  readonly network: string;
  /** The payment protocol: `x402`. */
  readonly protocol: string;
}

/** Builds the status line of a listing. */
function buildStatus(listing: PublicHead): ListingStatus {
  return {
    verification: formatVerification(listing),
    price: `${formatItemPrice(listing)} USDC per request`,
    endpoints: formatCount(listing.endpoints_count, 'endpoint'),
    category: listing.category,
    network: formatNetworks(listing),
    protocol: 'x402',
  };
}

/** A fact to decide by: its value, and a note with the evidence. */
export interface GlanceFact {
  readonly value: string;
  readonly note: string;
}

/** Facts that a reader decides by before reading on: standing, price, reliability. */
interface Glance {
  /** Its gravest standing. */
  readonly standing: Standing;
  /** Extent of the verification, or why there is none. */
  readonly verification: string;
  /** Value in USDC per request. */
  readonly price: GlanceFact;
  readonly reliability: GlanceFact;
}

/** Builds the facts on the first screen of a listing's page. */
function buildGlance(listing: PublicListing): Glance {
  const [standing] = listItemStandings(listing);
  const isProof = standing.tone === 'proved' || standing.tone === 'partly';
  const proof = formatVerification(listing);
  return {
    standing: isProof ? { ...standing, text: proof } : standing,
    verification:
      listing.last_verified_at === null
        ? `Unverified: ${formatLackOfProof(listing)}`
        : `${isProof ? '' : `${proof}. `}${formatOtherRoutes(listing)}`,
    price: {
      value: formatItemPrice(listing),
      note: formatPriceEvidence(listing),
    },
    reliability: buildReliability(listing),
  };
}

/** Says why no route is verified. It names a payment without a product, or one that no longer proves anything. */
function formatLackOfProof(listing: PublicListing): string {
  const undelivered = listing.routes.flatMap((route) => route.undelivered?.at ?? []).sort();
  const latest = undelivered.at(-1);
  if (latest !== undefined) return `paid ${formatDay(latest)}; nothing was delivered`;
  const lapsed = findLapsedProof(listing);
  return lapsed === undefined ? 'no route was paid for by this service' : `the last verified call was on ${lapsed}`;
}

/** Finds the day of the last verified call of a listing; undefined while a route is verified. */
function findLapsedProof({ routes, network_entries }: PublicListing): string | undefined {
  if (routes.some(({ proof }) => proof !== null)) return undefined;
  const latest = network_entries.flatMap(({ last_verified_at }) => last_verified_at ?? []).sort();
  const day = latest.at(-1);
  return day === undefined ? undefined : formatDay(day);
}

function formatPriceEvidence({ routes }: PublicListing): string {
  const current = listCounted(routes).flatMap(({ terms }) => getCurrentTerms(terms));
  const seen = current.flatMap(({ evidence, last_seen_at }) =>
    evidence === 'observed' && last_seen_at !== null ? [last_seen_at] : [],
  );
  const latest = seen.sort().at(-1);
  return latest === undefined ? 'as declared' : `402 seen ${formatDay(latest)}`;
}

function buildReliability({ reliability }: PublicHead): GlanceFact {
  const { band, score, samples, window_days, last_sample_at, days } = reliability;
  if (last_sample_at === null)
    return { value: 'Unscored', note: days.length === 0 ? 'not yet sampled' : 'no conclusive answer so far' };
  const basis = `${formatCount(samples, 'sample')} in ${window_days} days`;
  return score === null
    ? { value: 'Unscored', note: `too little is known, ${basis}` }
    : { value: `${score} of 100`, note: `${band}, ${basis}` };
}

/** A source of a listing, with its claims and the day they were seen. */
interface SourceRow {
  /** Kind of the source, in words. */
  readonly kind: string;
  /** Author of its claims, and the facts that come from it; no facts if another source is believed in all. */
  readonly authority: string;
  readonly said: string;
  /** Address or file name of the source, as recorded. */
  readonly name: string;
  /** Day on which its claims were observed; null for a bare claim. */
  readonly observed_on: string | null;
  /** Place where it was seen, if not in the source itself; may be a web address. */
  readonly observed_in: string | null;
}

/** One network of a listing, as its page shows it. */
interface NetworkRow {
  readonly label: string;
  /** Page of all listings that are paid on it. */
  readonly href: string;
  /** Chain identifier: `eip155:8453`. */
  readonly id: string;
  /** Its state in words. */
  readonly state: string;
}

/** Builds the rows of the sources of a listing. */
function buildSourceRows(listing: Pick<PublicListing, 'sources' | 'said_by' | 'routes'>): SourceRow[] {
  return describeSources(listing).map(({ title, authority, said }, at) => {
    const { name = '', observed_at = null, observed_in = null } = listing.sources[at] ?? {};
    return {
      kind: title,
      authority,
      said,
      name,
      observed_on: observed_at === null ? null : formatDay(observed_at),
      observed_in,
    };
  });
}

/** Builds the rows of the networks on which a listing can be paid, with the evidence. */
function buildNetworkRows(listing: PublicHead): NetworkRow[] {
  return listing.network_entries.map((entry) => {
    const { key, label, id, last_seen_at, settlement_verified, last_verified_at } = entry;
    const seen = last_seen_at === null ? '' : `, last seen ${formatDay(last_seen_at)}`;
    const paid = last_verified_at === null ? 'never verified' : `last verified ${formatDay(last_verified_at)}`;
    const isOld = last_verified_at !== null && isProofOld(last_verified_at, listing.updated_at);
    const proved = isOld
      ? formatLastProved(last_verified_at)
      : `settlement-verified ${formatDay(last_verified_at ?? '')}`;
    const state = [`${describeOffer(entry)}${seen}`, settlement_verified ? proved.trim() : paid];
    return { label, href: PATHS.network(key), id, state: state.join('; ') };
  });
}

/** Writes the reliability of a listing: score, band, and their evidence. */
function formatReliabilityEvidence({ reliability }: Pick<PublicHead, 'reliability'>): string {
  const { band, score, samples, window_days, last_sample_at, days } = reliability;
  if (last_sample_at === null) {
    return days.length === 0 ? 'unscored, not yet sampled' : 'unscored, no sample so far tells anything';
  }
  const basis = `${formatCount(samples, 'sample')} in ${window_days} days, the last ${formatMinute(last_sample_at)}`;
  return score === null ? `unscored, too little is known (${basis})` : `${score} of 100, ${band} (${basis})`;
}

/** Writes the time that valid answers to probes took, and the evidence for it; null without a figure. */
function formatLatency({ latency, reliability }: Pick<PublicHead, 'latency' | 'reliability'>): string | null {
  if (latency === null) return null;
  const { p95_ms, probes } = latency;
  const basis = `${formatCount(probes, 'valid answer')} in ${reliability.window_days} days`;
  return `${formatMedian(latency)}, 95 % within ${formatInteger(p95_ms)} ms (${basis}, as our probe saw it, from one place)`;
}

/** Page of a delisted listing, with status 410. */
export interface TombstonePage {
  readonly kind: 'gone';
  readonly slug: string;
  readonly id: string;
  /** Provider's text. */
  readonly title: string;
  /** Host at which it was called. */
  readonly host: string;
  /** Title and host in one line. */
  readonly name: string;
  readonly delisted_on: string;
  /** Author of the decision: `the operator of this catalogue`. */
  readonly delisted_by: string;
  /** The reason on record: the words of the one who decided, or the meaning of a rule's code. */
  readonly reason: string;
  /** Evidence for the decision, line by line; may be empty. */
  readonly evidence: readonly string[];
}

const DECIDERS: Readonly<Record<Tombstone['delisted_by'], string>> = {
  operator: 'the operator of this catalogue',
  provider: 'the provider',
  rule: 'a rule of this catalogue',
};

/** Builds the page model of a delisted listing; `decision` is the change that removed it. */
export function buildTombstonePage(tombstone: Tombstone, decision?: Change): TombstonePage {
  return {
    kind: 'gone',
    slug: tombstone.slug,
    id: tombstone.id,
    title: tombstone.title,
    host: tombstone.host,
    name: formatName(tombstone.title, tombstone.host),
    delisted_on: formatDay(tombstone.delisted_at),
    delisted_by: DECIDERS[tombstone.delisted_by],
    reason: formatReason(tombstone),
    evidence: decision ? describeEvidence(decision.detail) : [],
  };
}

/** Writes the reason of a removal. A rule, or a provider without own words, gives a code; other text stays as it is. */
function formatReason({ delisted_by, reason }: Tombstone): string {
  const isCode = delisted_by === 'rule' || reason === ASKED_BY_PROVIDER;
  const words = isCode ? describeReason(reason) : reason;
  return /^[a-z0-9_]+$/.test(words) ? words.replaceAll('_', ' ') : words;
}
