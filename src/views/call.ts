import { getCurrentTerms } from '../evidence/terms.ts';
import { isDangerous } from '../model/caution.ts';
import { type LiveListing, listRouteCautions } from '../model/listing.ts';
import { NETWORKS } from '../model/network.ts';
import type { Route } from '../model/route.ts';
import { formatUsdc } from '../model/usdc.ts';
import { buildCurl } from './call-curl.ts';
import { buildPython, getPythonInstallCommand } from './call-python.ts';
import { buildCallRequest } from './call-request.ts';
import { buildTypescript, type CallPrice, getInstallCommand } from './call-typescript.ts';
import { describeCaution } from './words/caution.ts';
import { formatDay } from './words/figures.ts';

/** How to call one route of a listing: first free of charge to see its 402, then paying. */
export interface CallGuide {
  /** The route shown: method and path as the provider declares them. */
  readonly route: string;
  /** Names to fill in at `{name}` in the address. */
  readonly placeholders: readonly string[];
  /** The price on record in USDC, and the name of the network it is paid on. */
  readonly price: string;
  readonly network: string;
  /** Asks without paying; the answer is HTTP 402 with the payment requirements. */
  readonly curl: string;
  /** Pays and receives the product, in two languages; null where nothing should be paid. */
  readonly paying: {
    readonly install: string;
    readonly typescript: string;
    readonly python_install: string;
    readonly python: string;
  } | null;
  /** Why nothing should be paid for this route; null where nothing of danger speaks against it. */
  readonly stop: string | null;
  /** Day on which this very request was paid for and answered; null where it is only an example, or made from the path. */
  readonly known_good_on: string | null;
  /** Whether the request is the example that a source gives. */
  readonly is_example: boolean;
}

/**
 * Builds the call guide of a live listing, for the route that shows most: a verified one, else one with an example. Where
 * something of danger speaks against that route as well, no code that pays is built.
 */
export function buildCallGuide(listing: LiveListing): CallGuide {
  const route = findTellingRoute(listing.routes);
  const request = buildCallRequest(listing.base_url, route);
  const price = findCallPrice(route) ?? {
    network: listing.primary_network,
    amount: listing.price_max,
  };
  const cautions = route ? listRouteCautions(listing, route) : listing.cautions;
  const dangers = cautions.filter(({ severity }) => severity === 'danger');
  return {
    route: request.route,
    placeholders: request.placeholders,
    price: formatUsdc(price.amount),
    network: NETWORKS[price.network].label,
    curl: buildCurl(request),
    paying:
      dangers.length > 0
        ? null
        : {
            install: getInstallCommand(price.network),
            typescript: buildTypescript(request, price),
            python_install: getPythonInstallCommand(price.network),
            python: buildPython(request, price),
          },
    stop: dangers.length > 0 ? dangers.map(describeCaution).join(' ') : null,
    known_good_on: route?.proof?.request ? formatDay(route.proof.verified_at) : null,
    is_example: Boolean(route?.example),
  };
}

/** Finds the route whose call shows most: verified, priced, with an example, nothing to fill in; else the first. */
function findTellingRoute(routes: readonly Route[]): Route | undefined {
  const getWorth = ({ proof, terms, example, path, cautions }: Route) =>
    (isDangerous(cautions) ? -16 : 0) +
    (proof ? 8 : 0) +
    (terms.length > 0 ? 4 : 0) +
    (example ? 2 : 0) +
    (/\/:|\{/.test(path) ? 0 : 1);
  return routes.reduce<Route | undefined>(
    (best, route) => (best === undefined || getWorth(route) > getWorth(best) ? route : best),
    undefined,
  );
}

/** Finds what a route's call costs now: its cheapest offer of the scheme that the example pays with, on Base where even. */
function findCallPrice(route: Route | undefined): CallPrice | undefined {
  const offers = getCurrentTerms(route?.terms ?? []).toSorted(
    (a, b) =>
      Number(b.scheme === 'exact') - Number(a.scheme === 'exact') ||
      a.amount - b.amount ||
      (a.network < b.network ? -1 : 1),
  );
  return offers[0];
}
