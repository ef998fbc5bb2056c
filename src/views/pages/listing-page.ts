import type { Change } from '../../model/change.ts';
import { getHost, type LiveListing } from '../../model/listing.ts';
import { cutText } from '../../model/text.ts';
import { type AgentItem, getVerification } from '../agent-item.ts';
import { buildCallGuide, type CallGuide } from '../call.ts';
import { type CautionView, listCautionViews } from '../caution-words.ts';
import { formatOtherRoutes, getVerifiedExtent, type VerifiedExtent } from '../description.ts';
import { buildListingJsonLd, type JsonLd } from '../json-ld.ts';
import { buildUrl, PATHS } from '../links.ts';
import type { Site } from '../site.ts';
import { formatDay } from '../times.ts';
import { buildListingCard, type ListingCard } from './listing-card.ts';
import { buildDecisionRows, type DecisionRow } from './listing-decisions.ts';
import {
  buildNetworkRows,
  buildSourceRows,
  formatReliabilityEvidence,
  type NetworkRow,
  type SourceRow,
} from './listing-evidence.ts';
import { buildGlance, findLapsedProof, type Glance } from './listing-glance.ts';
import {
  buildRouteRow,
  listVerifiedRoutes,
  type ReceiptIds,
  type RouteRow,
  type VerifiedRoute,
} from './listing-routes.ts';
import { buildStatus, type ListingStatus } from './listing-status.ts';
import { buildPriceHistory, isPriceSeen, type PriceHistory } from './price-history.ts';
import { buildProbeStrip, type ProbeStrip } from './probe-strip.ts';

/** Everything that the page of a live listing shows (specification, "Listing page"). */
export interface ListingPage {
  readonly kind: 'live';
  readonly slug: string;
  readonly id: string;
  /** Provider's text. */
  readonly title: string;
  /** Host that the API is called at: our fact, beside the title. */
  readonly host: string;
  /** Title and host in one line, neither of which can push out the other. */
  readonly name: string;
  /** Provider's text: one line. */
  readonly tagline: string;
  /** The tagline and the status in one line, for those who link here. */
  readonly summary: string;
  /** Provider's text, of several lines; may be empty. */
  readonly description: string;
  /** Whose words title, tagline and descriptions are. Either way nobody checked them. */
  readonly words_by: 'the provider' | 'a manifest';
  /** Provider's text. */
  readonly provider_name: string;
  /** Addresses that the provider gives. */
  readonly base_url: string;
  readonly docs_url: string | null;
  readonly mcp_endpoint: string | null;
  readonly verified: VerifiedExtent;
  readonly status: ListingStatus;
  /** What speaks against it, the gravest first. */
  readonly cautions: readonly CautionView[];
  readonly glance: Glance;
  readonly category_href: string;
  readonly category_inferred: boolean;
  /** The MCP address of the service. */
  readonly service_mcp_url: string;
  /** Everything on record, as JSON. */
  readonly record_url: string;
  readonly call: CallGuide;
  /** Empty when no route is verified. */
  readonly verified_routes: readonly VerifiedRoute[];
  /** What holds of every route that is not among the verified ones. */
  readonly unverified_statement: string;
  readonly routes: readonly RouteRow[];
  readonly networks: readonly NetworkRow[];
  readonly reliability: string;
  /** Null while no sample was taken. */
  readonly probes: ProbeStrip | null;
  readonly price_history: PriceHistory;
  /** The latest first. */
  readonly decisions: readonly DecisionRow[];
  readonly sources: readonly SourceRow[];
  readonly related: readonly ListingCard[];
  readonly listed_on: string;
  readonly changed_on: string;
  /** What search engines read of it. */
  readonly json_ld: readonly JsonLd[];
}

/** What a listing page shows besides the listing. */
export interface ListingSurroundings {
  /** The short forms of its related listings, the nearest first. */
  readonly related?: readonly AgentItem[];
  /** Those of its receipts that have a page. */
  readonly receipts?: ReceiptIds | undefined;
  /** Its latest `priced` changes, the earliest first. */
  readonly priced?: readonly Change[];
  /** Its latest changes of other kinds. */
  readonly decisions?: readonly Change[];
}

/** Builds the page model of a live listing. Pure: the same listing and changes give the same page at any time. */
export function buildListingPage(
  listing: LiveListing,
  { related = [], priced = [], decisions = [], receipts }: ListingSurroundings,
  site: Site,
): ListingPage {
  const status = buildStatus(listing);
  const verification = getVerification(listing);
  const host = getHost(listing.base_url);
  return {
    kind: 'live',
    slug: listing.slug,
    id: listing.id,
    title: listing.title,
    host,
    name: formatName(listing.title, host),
    tagline: listing.tagline,
    summary: `${listing.tagline} ${Object.values(status).join(', ')}.`.trim(),
    description: listing.description,
    words_by: getAuthor(listing),
    provider_name: listing.provider_name,
    base_url: listing.base_url,
    docs_url: listing.docs_url,
    mcp_endpoint: listing.mcp_endpoint,
    verified: getVerifiedExtent(verification),
    status,
    cautions: listCautionViews(listing),
    glance: buildGlance(listing),
    category_href: PATHS.category(listing.category),
    category_inferred: listing.category_inferred,
    service_mcp_url: buildUrl(site.baseUrl, PATHS.mcp),
    record_url: buildUrl(site.baseUrl, PATHS.agentListing(listing.slug)),
    call: buildCallGuide(listing),
    verified_routes: listVerifiedRoutes(listing.routes, receipts),
    unverified_statement: formatOtherRoutes(verification) || formatUnverified(findLapsedProof(listing)),
    routes: listing.routes.map((route) => buildRouteRow(route, listing.updated_at, receipts)),
    networks: buildNetworkRows(listing),
    reliability: formatReliabilityEvidence(listing),
    probes: buildProbeStrip(listing.reliability),
    price_history: buildPriceHistory(priced, listing.updated_at, { confirmed: isPriceSeen(listing.routes) }),
    decisions: buildDecisionRows(decisions),
    sources: buildSourceRows(listing.sources),
    related: related.map(buildListingCard),
    listed_on: formatDay(listing.listed_at),
    changed_on: formatDay(listing.updated_at),
    json_ld: buildListingJsonLd(listing, site),
  };
}

/** Says that no route is verified (specification, "Listing page"), and since when where one was. */
function formatUnverified(lapsedOn: string | undefined): string {
  return lapsedOn === undefined
    ? 'No route of this listing has been verified: all of its routes are unverified.'
    : `No route of this listing is verified any longer: the last verified call was on ${lapsedOn}, and all of its routes are unverified.`;
}

/** Words are those of the source closest to the provider, which comes first; a manifest is not always the provider's. */
function getAuthor({ sources: [closest] }: LiveListing): ListingPage['words_by'] {
  return closest?.kind === 'manifest' ? 'a manifest' : 'the provider';
}

const NAME_LENGTH = 60;

/** Names a listing by its title, which anybody can write, and its host, which is a fact: for titles of windows and previews. */
export function formatName(title: string, host: string): string {
  return `${cutText(title, NAME_LENGTH)} (${host})`;
}
