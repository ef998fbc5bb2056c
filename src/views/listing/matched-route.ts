import { z } from 'zod';
import { getCurrentTerms } from '../../evidence/terms.ts';
import { findProvedPrice } from '../../evidence/verification.ts';
import { needs } from '../../model/ability.ts';
import { type Caution, cautionCode, cautionSeverity } from '../../model/caution.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { listRouteCautions } from '../../model/listing.ts';
import { type NetworkKey, networkKey } from '../../model/network.ts';
import { httpMethod, requestExample } from '../../model/request.ts';
import { isCeiling } from '../../model/terms.ts';
import { cutText } from '../../model/text.ts';
import { getUsdcNumber } from '../../model/usdc.ts';
import { formatInputShape } from './input-shape.ts';
import type { PublicRoute, PublicTerms } from './route-record.ts';

/** Longest text of a route that search results quote, in UTF-16 units. */
const DESCRIPTION_LENGTH = 200;

/** Longest example of a request in search results, as JSON in UTF-16 units. A longer one is only in the listing's document. */
const EXAMPLE_LENGTH = 300;

/** Most names of fields that are listed for an input or output, and the longest name, in UTF-16 units. */
const FIELDS_MAX = 12;
const FIELD_LENGTH = 40;

/** A route as the results of a search show it. */
export const matchedRoute = z.object({
  method: httpMethod,
  path: z.string(),
  url: z.string().describe('Where it is called; fill in :name and {name} first'),
  description: z.string().describe("Provider's text, cut"),
  offers: z
    .array(
      z.object({
        network: networkKey,
        price_usdc: z.number().describe('Lowest price of one request there'),
        needs,
        is_ceiling: z.literal(true).optional().describe('There where it is the most that a call may cost'),
      }),
    )
    .describe('Current offers by network, the cheapest first'),
  verified: z.boolean().describe('True when this very route is settlement-verified'),
  verified_at: z.iso.datetime().nullable(),
  verified_price_usdc: z
    .number()
    .optional()
    .describe('Price that was verified; only where the route asks another price now'),
  cautions: z
    .array(z.object({ code: cautionCode, severity: cautionSeverity, since: z.iso.datetime().nullable() }))
    .describe('What speaks against this route, the gravest first'),
  inputs: z
    .array(z.string())
    .describe("The provider's names of the fields it takes; `?` marks those that may be left out"),
  input: z
    .string()
    .optional()
    .describe(
      "What it takes by place, with the provider's names: `query {city: string, units?}`; `?` marks what may be left out",
    ),
  example: requestExample.optional().describe('A request that a source gives, where it is short'),
  outputs: z.array(z.string()).describe("The provider's names of the fields it returns"),
});
export type MatchedRoute = z.infer<typeof matchedRoute>;

/** Builds a route for search results. */
export function buildMatchedRoute(
  { listing_cautions }: { readonly listing_cautions: readonly Caution[] },
  route: PublicRoute,
): MatchedRoute {
  const input = formatInputShape(route);
  const proved = findProvedPrice(route.proof, route.terms);
  const { method, path, url, description, verification, proof, input_schema, output_schema, example } = route;
  return {
    method,
    path,
    url,
    description: cutText(description, DESCRIPTION_LENGTH),
    offers: listOffers(route),
    verified: verification === 'settlement-verified',
    verified_at: proof?.verified_at ?? null,
    ...(proved !== null && { verified_price_usdc: getUsdcNumber(proved) }),
    cautions: listRouteCautions(listing_cautions, route).map(({ code, severity, since }) => ({
      code,
      severity,
      since,
    })),
    inputs: input_schema ? listFieldNames(input_schema) : [],
    ...(input !== '' && { input }),
    ...(example !== null && JSON.stringify(example).length <= EXAMPLE_LENGTH && { example }),
    outputs: output_schema ? listFieldNames(output_schema) : [],
  };
}

/** Lists the lowest price of a route on each network. */
function listOffers({ terms }: PublicRoute): MatchedRoute['offers'] {
  const lowest = new Map<NetworkKey, PublicTerms>();
  for (const offer of getCurrentTerms(terms)) {
    const known = lowest.get(offer.network);
    if (known === undefined || offer.amount < known.amount) lowest.set(offer.network, offer);
  }
  return [...lowest.values()]
    .sort((a, b) => a.amount - b.amount)
    .map((offer) => ({
      network: offer.network,
      price_usdc: getUsdcNumber(offer.amount),
      needs: offer.needs,
      ...(isCeiling(offer) && { is_ceiling: true as const }),
    }));
}

/** Properties of schemas that group the fields of a request by place. */
const PLACES = ['queryParams', 'body', 'pathParams', 'query', 'path'];

/** Lists the field names of a schema; for a request, those of all places. Without fields, lists those of its example. */
export function listFieldNames(schema: JsonObject): string[] {
  const { properties, required, items, examples } = schema;
  if (!isObject(properties)) {
    if (isObject(items)) return listFieldNames(items);
    const [example] = Array.isArray(examples) ? examples.flat() : [];
    return isObject(example) ? listFieldNames({ properties: example }) : [];
  }
  const names = Object.entries(properties).flatMap(([name, field]) => {
    if (PLACES.includes(name) && isObject(field) && isObject(field.properties)) return listFieldNames(field);
    const isOptional = Array.isArray(required) && !required.includes(name);
    return `${cutText(name, FIELD_LENGTH)}${isOptional ? '?' : ''}`;
  });
  return names.slice(0, FIELDS_MAX);
}
