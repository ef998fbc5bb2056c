import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { abilityList, parseAbilities } from '../../model/ability.ts';
import { slug } from '../../model/listing.ts';
import { isToolPath, type Route } from '../../model/route.ts';
import { listFittingRoutes } from '../../published/fitting-routes.ts';
import { findListingPart, findTombstone, listRouteNames, listSameProduct } from '../../published/listings.ts';
import type { AtRevision } from '../../published/reading.ts';
import { buildUrl, PATHS } from '../../views/links.ts';
import { listFieldNames } from '../../views/listing/matched-route.ts';
import { listFilters } from '../../views/listing/query.ts';
import { tombstone } from '../../views/listing/record.ts';
import { countFitting, getTokenEstimate, shortenText } from '../compact.ts';
import {
  buildCompactListing,
  buildCompactRoute,
  buildListingCaution,
  type CompactRoute,
  compactListing,
  compactRoute,
  type PayOption,
  payOption,
} from '../compact-listing.ts';
import { buildTool } from '../tool.ts';

/** Routes on a page by default and at most; fewer if the answer would have too many tokens. */
const ROUTES_DEFAULT = 10;
const ROUTES_MAX = 50;
const TOKENS_AN_ANSWER = 1150;
const TOKENS_A_ROUTE = 100;

/** Most other addresses of the same product that an answer names. */
const SAME_PRODUCTS = 5;

const HOW_TO_PAY =
  'Send the request to the url of a route: it answers 402 with its terms (x402), free of charge. Hand them to ' +
  'check_payment_terms. For an offer in safe_offers, sign the payment and send the same request again with it in the ' +
  'header PAYMENT-SIGNATURE (x402 v2) or X-PAYMENT (v1). The terms of the 402 are what counts.';

const HOW_TO_PAY_TOOLS =
  'Call the tool named after # at the MCP server before it: the result asks for the payment (x402). Hand that to ' +
  'check_payment_terms with the whole url. For an offer in safe_offers, sign the payment and call the tool again with it in ' +
  '_meta["x402/payment"].';

const DELISTED =
  'This listing was removed from the catalogue. What was known of its routes and prices is no longer kept up to date.';

const compactTombstone = tombstone.omit({ slug: true, id: true });

const output = z.object({
  revision: z.int().nonnegative(),
  slug,
  state: z.enum(['live', 'delisted']),
  note: z.string().optional(),
  tombstone: compactTombstone.optional(),
  listing: compactListing
    .optional()
    .describe('On the first page; title, description and provider_name are its own words'),
  caution: z.string().optional().describe('On further pages: what speaks against every route'),
  same_product: z.array(z.string()).optional(),
  how_to_pay: z.string().optional(),
  base_url: z.string().optional(),
  details_url: z.string().optional(),
  pay: z.array(payOption).optional().describe('For every route without its own'),
  routes: z.array(compactRoute).optional(),
  routes_total: z.int().nonnegative().optional(),
  next_routes_offset: z.int().positive().optional(),
});
type Answer = z.infer<typeof output>;

/** Returns everything that is needed to call and pay one listing, with its routes in pages that are short enough for a model. */
export const getListingTool = buildTool({
  title: 'One payable API',
  description:
    'What it takes to call and pay one API: routes with method, url, price, network, payee, input, example, ' +
    'proof and cautions: stop on danger. Text in it is written by the provider.',
  input: z.strictObject({
    slug: slug.describe('As search_listings gives it'),
    q: listFilters.shape.q.describe('What you need: fitting routes come first'),
    can: abilityList.optional(),
    routes_offset: z.int().min(0).max(100_000).default(0).describe('Routes to skip'),
    routes_limit: z.int().min(1).max(ROUTES_MAX).default(ROUTES_DEFAULT).describe('At most; fewer where they are long'),
  }),
  output,
  answer: (args, context): Answer => {
    const live = buildListingAnswer(args.slug, args, context);
    if (live) return live;
    const gravestone = findTombstone(context.reading.published, args.slug);
    if (gravestone) {
      const { slug, id: _id, ...tombstone } = gravestone;
      return { revision: context.snapshot.revision, slug, state: 'delisted', note: DELISTED, tombstone };
    }
    throw new ServiceError('not_found', `There is no live listing "${args.slug}".`, {
      hint: 'search_listings finds listings and gives their slugs.',
    });
  },
});

/** A page of a listing's routes: those at `positions`, else those that best answer `q`, else all in their own order. */
interface RoutesPage {
  readonly positions?: readonly number[];
  readonly q?: string | undefined;
  readonly can?: string | undefined;
  readonly routes_offset?: number;
  readonly routes_limit?: number;
}

/**
 * Builds the answer for a live listing with one page of its routes, by default the first. Undefined if there is no such live
 * listing.
 */
export function buildListingAnswer(slug: string, page: RoutesPage, context: AtRevision): Answer | undefined {
  const { can, routes_offset: offset = 0, routes_limit: limit = ROUTES_DEFAULT } = page;
  const { published, site } = context.reading;
  const positions = page.positions ?? listFitting(slug, page.q, context);
  const found = findListingPart(published, slug, { part: { from: offset, to: offset + limit }, fitting: positions });
  if (!found) return undefined;
  const total = positions?.length ?? found.routesTotal;
  const others = listSameProduct(published, slug);
  const asked = found.routes.map((route) => ({
    ...buildCompactRoute(route, can === undefined ? undefined : parseAbilities(can)),
    ...buildOutput(route),
  }));
  const { pay, routes } = shareOffers(asked);
  const frame: Answer = {
    revision: context.snapshot.revision,
    slug,
    state: 'live',
    ...(offset === 0 ? { listing: buildCompactListing(found.head) } : buildListingCaution(found.head)),
    ...(offset === 0 && others.length > 0 && { same_product: others.slice(0, SAME_PRODUCTS) }),
    ...(offset === 0 && {
      how_to_pay: getHowToPay(page.positions ? found.routes : listRouteNames(published, slug)),
    }),
    base_url: found.head.base_url,
    details_url: buildUrl(site.baseUrl, PATHS.agentListing(slug)),
    ...(pay.length > 0 && { pay }),
    routes_total: total,
  };
  const framing = getTokenEstimate(JSON.stringify(frame));
  const count = countFitting(routes, Math.max(TOKENS_AN_ANSWER, limit * TOKENS_A_ROUTE) - framing);
  const next = offset + count;
  return { ...frame, ...(next < total && { next_routes_offset: next }), routes: routes.slice(0, count) };
}

function getHowToPay(routes: readonly Pick<Route, 'path'>[]): string {
  return routes.length > 0 && routes.every(({ path }) => isToolPath(path)) ? HOW_TO_PAY_TOOLS : HOW_TO_PAY;
}

function listFitting(slug: string, q: string | undefined, { reading, snapshot }: AtRevision): number[] | undefined {
  return q === undefined ? undefined : listFittingRoutes(reading.published, snapshot, { slug, q });
}

/** Longest list of the fields that a route returns, in UTF-16 units. */
const OUTPUT_LENGTH = 240;

function buildOutput({ output_schema: schema }: Route): { output?: string } {
  const names = schema === null ? [] : listFieldNames(schema);
  return names.length > 0 ? { output: shortenText(names.join(', '), OUTPUT_LENGTH) } : {};
}

/**
 * Moves the offers of the first route to `pay`. Other routes keep theirs only if they differ, since most listings have one payee.
 */
function shareOffers(routes: readonly (CompactRoute & { pay: PayOption[] })[]): {
  pay: PayOption[];
  routes: CompactRoute[];
} {
  const shared = routes[0]?.pay ?? [];
  const key = JSON.stringify(shared);
  return {
    pay: shared,
    routes: routes.map(({ pay, ...route }) => (JSON.stringify(pay) === key ? route : { ...route, pay })),
  };
}
