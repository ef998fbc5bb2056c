import type { Category } from '../../model/category.ts';
import type { CautionSeverity } from '../../model/caution.ts';
import { NETWORKS } from '../../model/network.ts';
import { formatPriceRange, formatUsdc, parseUsdc } from '../../model/usdc.ts';
import type { AgentItem } from '../agent-item.ts';
import { formatCautionLabel } from '../caution-words.ts';
import { formatCount, formatVerifiedRatio, getVerifiedExtent, type VerifiedExtent } from '../description.ts';
import { PATHS } from '../links.ts';
import type { MatchedRoute } from '../matched-route.ts';

/** A listing in a list: on the home page, in a category, among related listings. */
export interface ListingCard {
  readonly slug: string;
  /** Path of the listing page. */
  readonly href: string;
  /** Provider's text. */
  readonly title: string;
  /** Host that the API is called at: our fact, beside every title. */
  readonly host: string;
  /** Provider's text: one line. */
  readonly tagline: string;
  /** Provider's text. */
  readonly provider_name: string;
  readonly category: Category;
  /** USDC per request: `0.001` or `0.001-0.05`. */
  readonly price: string;
  /** `12 endpoints`. */
  readonly endpoints: string;
  /** Networks on which payment is currently advertised: `Base, Solana`; empty when none is. */
  readonly networks: string;
  readonly verified: VerifiedExtent;
  /** `1 of 2 routes verified, 2026-11-20`, or `unverified`. */
  readonly verified_ratio: string;
  /** `83.5, established`, or `unscored`. */
  readonly reliability: string;
  /** What speaks against it, the gravest first. */
  readonly cautions: readonly CardCaution[];
  /** In the results of a search, the route that answers it best; null elsewhere. */
  readonly route: CardRoute | null;
}

/** A route as a card names it. */
export interface CardRoute {
  /** `GET /v1/weather`. */
  readonly name: string;
  /** Provider's text; empty where the card says the same. */
  readonly summary: string;
  /** `0.001 USDC on Base`. */
  readonly price: string;
  readonly isVerified: boolean;
  /** What speaks gravely against this route. */
  readonly cautions: readonly CardCaution[];
}

/** A caution as a card marks it. */
export interface CardCaution {
  readonly severity: CautionSeverity;
  /** `paid, nothing delivered, since 2026-11-20`. */
  readonly text: string;
}

/** Builds the card of a live listing from its short form. */
export function buildListingCard(item: AgentItem): ListingCard {
  return {
    slug: item.slug,
    href: PATHS.listing(item.slug),
    title: item.title,
    host: item.host,
    tagline: item.tagline,
    provider_name: item.provider_name,
    category: item.category,
    price: formatPriceRange(getAtomic(item.price_min_usdc), getAtomic(item.price_max_usdc)),
    endpoints: formatCount(item.endpoints_count, 'endpoint'),
    networks: item.networks.map((key) => NETWORKS[key].label).join(', '),
    verified: getVerifiedExtent(item),
    verified_ratio: formatVerifiedRatio(item),
    reliability: item.reliability_score === null ? 'unscored' : `${item.reliability_score}, ${item.reliability_band}`,
    cautions: item.cautions.map(({ code, severity, since }) => ({ severity, text: formatCautionLabel(code, since) })),
    route: item.route ? buildCardRoute(item.route, item.tagline) : null,
  };
}

function buildCardRoute(
  { method, path, description, offers, verified, cautions }: MatchedRoute,
  tagline: string,
): CardRoute {
  return {
    name: `${method} ${path}`,
    summary: description === tagline ? '' : description,
    price: offers
      .map(({ network, price_usdc }) => `${formatUsdc(getAtomic(price_usdc))} USDC on ${NETWORKS[network].label}`)
      .join(', '),
    isVerified: verified,
    cautions: cautions
      .filter(({ severity }) => severity === 'danger')
      .map(({ code, severity, since }) => ({ severity, text: formatCautionLabel(code, since) })),
  };
}

/** Gives the atomic units of an amount that documents carry as a JSON number. */
function getAtomic(usdc: number): number {
  return parseUsdc(usdc.toFixed(6)) ?? 0;
}
