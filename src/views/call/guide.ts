import { listMissing } from '../../evidence/abilities.ts';
import { type CallInput, fillCallInput } from '../../evidence/call-input.ts';
import type { Replaceable } from '../../evidence/made-value.ts';
import { getCurrentTerms } from '../../evidence/terms.ts';
import { type Caution, isDangerous } from '../../model/caution.ts';
import { listRouteCautions } from '../../model/listing.ts';
import { NETWORKS, networkKey } from '../../model/network.ts';
import { isCeiling } from '../../model/terms.ts';
import { formatPrice } from '../../model/usdc.ts';
import { getAtomic } from '../listing/item.ts';
import type { PublicHead, PublicListing } from '../listing/record.ts';
import type { PublicRoute } from '../listing/route-record.ts';
import { describeCaution } from '../words/caution.ts';
import { formatDay } from '../words/figures.ts';
import {
  buildAsk,
  buildCurl,
  buildPayingCode,
  type CallPrice,
  DONE_IN_CODE,
  PAID_SCHEMES,
  type PayingCode,
} from './code.ts';
import { buildBareRequest, buildCallRequest, type CallRequest } from './request.ts';

/** The call of one route of a listing: first free of charge to see its 402, then paying. */
export interface CallGuide {
  /** The route shown: method and path as the provider declares them. */
  readonly route: string;
  /** The parts that the caller replaces first. */
  readonly replace: readonly Replaceable[];
  /** The price on record in USDC, and the name of the network it is paid on; null where no price is on record. */
  readonly price: string | null;
  readonly network: string;
  /** Asks without paying; the answer is HTTP 402 with the payment requirements. */
  readonly curl: string;
  /** The same for a script of the page, as JSON; null if a browser cannot send it. */
  readonly ask: string | null;
  /** Pays and receives the product; null if nothing should be paid, or no call can be made. */
  readonly paying: PayingCode | null;
  /** The same on each other network on which it can be paid, with the price there. */
  readonly elsewhere: readonly (PayingCode & { readonly price: string; readonly network: string })[];
  /** The reason why nothing should be paid for this route; null if it has no danger. */
  readonly stop: string | null;
  /** The reason why the record is not enough for a paid call that works, as a sentence; null if it is enough. */
  readonly lack: string | null;
  /** Day on which this exact request was paid for and answered; null if it is made from declarations. */
  readonly known_good_on: string | null;
  /** The origin of the input. */
  readonly basis: CallInput['basis'];
}

/** Finds the route with the most complete example call: verified, priced, with an example, nothing to fill in; else the first. */
export function findTellingRoute(routes: readonly PublicRoute[]): PublicRoute | undefined {
  return routes.toSorted((a, b) => getScore(b) - getScore(a))[0];
}

function getScore({ proof, terms, example, path, cautions }: PublicRoute): number {
  return (
    (isDangerous(cautions) ? -16 : 0) +
    (proof ? 8 : 0) +
    (terms.length > 0 ? 4 : 0) +
    (example ? 2 : 0) +
    (/\/:|\{/.test(path) ? 0 : 1)
  );
}

/** Builds the call of a listing without routes that count: a plain request of its base URL. */
export function buildBareCall(listing: PublicListing): CallGuide {
  return buildGuide(buildBareRequest(listing.base_url), {
    prices: [getListingPrice(listing)],
    cautions: listing.listing_cautions,
    lack: `${listing.routes.length === 0 ? 'No route is on record' : 'Only others name its routes'}, so nothing says what a call takes.`,
    known_good_on: null,
    basis: 'none',
  });
}

/**
 * Builds the call of one route. It has no paying code if the route has a danger, or if the record is not enough for a request
 * that its declared input allows.
 */
export function buildRouteCall(listing: PublicListing, route: PublicRoute): CallGuide {
  const input = fillCallInput(route);
  const paid = route.proof?.request ? route.proof : null;
  const { prices, lack } = findCallPrices(listing, route);
  return buildGuide(buildCallRequest(listing.base_url, route, input), {
    prices,
    cautions: listRouteCautions(listing.listing_cautions, route),
    lack: lack ?? (paid ? null : input.lack),
    known_good_on: paid && formatDay(paid.verified_at),
    basis: input.basis,
  });
}

interface GuideFacts extends Pick<CallGuide, 'lack' | 'known_good_on' | 'basis'> {
  /** One for each network that the code can pay on, the best first. */
  readonly prices: readonly CallPrice[];
  readonly cautions: readonly Caution[];
}

function buildGuide(request: CallRequest, { prices, cautions, ...facts }: GuideFacts): CallGuide {
  const dangers = cautions.filter(({ severity }) => severity === 'danger');
  const isPaid = facts.lack === null && dangers.length === 0;
  const [price, ...others] = prices;
  return {
    ...facts,
    route: request.route,
    replace: request.replace,
    ...(price ? describePrice(price) : { price: null, network: '' }),
    curl: buildCurl(request),
    ask: buildAsk(request),
    paying: price && isPaid ? buildPayingCode(request, price) : null,
    elsewhere: isPaid ? others.map((other) => ({ ...describePrice(other), ...buildPayingCode(request, other) })) : [],
    stop: dangers.length > 0 ? dangers.map(describeCaution).join(' ') : null,
  };
}

function describePrice(price: CallPrice): { price: string; network: string } {
  return { price: formatPrice(price.amount, isCeiling(price)), network: NETWORKS[price.network].label };
}

/** The prices of a call, or a sentence that says why it has none. */
interface FoundPrices {
  readonly prices: readonly CallPrice[];
  readonly lack: string | null;
}

/**
 * Finds the current price of a call of the route on each network: its cheapest offer there that the code can pay, `exact` before
 * `upto`. The cheapest network comes first; between equal ones, the first of the table. If no route has an offer of its own, the
 * listing's price is that of each route.
 */
function findCallPrices(listing: PublicListing, route: PublicRoute): FoundPrices {
  const offers = getCurrentTerms(route.terms);
  if (offers.length === 0) {
    const isListingPrice = listing.routes.every(({ terms }) => terms.length === 0);
    if (isListingPrice) return { prices: [getListingPrice(listing)], lack: null };
    return { prices: [], lack: 'No price is on record for this route, so no code that pays is shown.' };
  }
  const known = offers.flatMap((offer) => {
    const scheme = PAID_SCHEMES[NETWORKS[offer.network].family].find((name) => name === offer.scheme);
    const missing = listMissing(offer.needs, DONE_IN_CODE);
    return scheme ? [{ price: { network: offer.network, amount: offer.amount, scheme }, missing }] : [];
  });
  const payable = known
    .filter(({ missing }) => missing.length === 0)
    .map(({ price }) => price)
    .sort(comparePrices);
  const prices = payable.filter((price, at) => payable.findIndex(({ network }) => network === price.network) === at);
  if (prices.length > 0) return { prices, lack: null };
  const [other] = known;
  if (!other) return { prices: [], lack: 'It is paid by a scheme that no code here pays by.' };
  return { prices: [], lack: `The offer on record needs what no code here does (${other.missing.join(', ')}).` };
}

function comparePrices(a: CallPrice, b: CallPrice): number {
  return (
    Number(b.scheme === 'exact') - Number(a.scheme === 'exact') ||
    a.amount - b.amount ||
    networkKey.options.indexOf(a.network) - networkKey.options.indexOf(b.network)
  );
}

function getListingPrice({ primary_network, price_max_usdc }: PublicHead): CallPrice {
  return { network: primary_network, amount: getAtomic(price_max_usdc), scheme: 'exact' };
}
