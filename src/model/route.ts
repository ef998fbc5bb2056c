import { z } from 'zod';
import { caution } from './caution.ts';
import { jsonObject } from './json-object.ts';
import { networkKey } from './network.ts';
import { unrecognisedReason } from './payment.ts';
import { paymentIdentifier } from './payment-identifier.ts';
import { latency, probeCause, probeOutcome } from './probe.ts';
import { httpMethod, paidRequest, requestExample } from './request.ts';
import { routeSaidBy } from './source.ts';
import { recordedTerms, terms } from './terms.ts';
import { compareTexts } from './text.ts';

const routeFacts = z.object({
  method: httpMethod,
  path: z
    .string()
    .startsWith('/')
    .describe("Path after the listing's base address; templates (:id, {id}) stay templates, a fixed query may follow"),
  description: z.string().describe("Provider's text; may be empty"),
  mime_type: z.string().nullable().describe('Declared media type of the product'),
  input_schema: jsonObject.nullable().describe('Declared input, as the source gave it'),
  output_schema: jsonObject.nullable().describe('Declared output, as the source gave it'),
  example: requestExample.nullable(),
  payment_identifier: paymentIdentifier
    .optional()
    .describe(
      'Takes, or requires, an id of the payment (x402 extension payment-identifier): a call sent again with the same id is not charged again. Absent where neither its 402 nor a document of its provider says so',
    ),
});

/**
 * The texts of a feed's item, or of an operation or entry of a document, besides its description: its own name, and its text
 * about the whole service. A field is absent if the item lacks it.
 */
const itemWords = z.object({
  /** The name of what the route does, not of the service. */
  name: z.string().optional(),
  /** The item's whole text, if it is longer than the description of the route, or has several lines. */
  text: z.string().optional(),
  service_name: z.string().optional(),
  /** Title of the web site at the host, as the feed found it. */
  site_title: z.string().optional(),
  description: z.string().optional(),
  docs_url: z.url().optional(),
  tags: z.array(z.string()).optional(),
});
export type ItemWords = z.infer<typeof itemWords>;

/** Lowest price that another document of the same provider states, in atomic USDC, and the name of that document. */
const otherPrice = z.object({ source: z.string(), amount: z.int().positive() });
export type OtherPrice = z.infer<typeof otherPrice>;

/** A route as one source declares it. */
export const declaredRoute = routeFacts.extend({
  terms: z.array(terms),
  /** Present if the source names no network, so that the network of its terms is assumed. */
  network_assumed: z.literal(true).optional(),
  /** Different price in another document that is read together with this one, in atomic USDC. */
  other_price: otherPrice.optional(),
  /** Further texts of the item, until they are merged into those of route and listing. */
  item: itemWords.optional(),
  /** Time by our clock when a feed first had the route; absent if it was the same as for the listing. */
  heard_at: z.iso.datetime().optional(),
});
export type DeclaredRoute = z.infer<typeof declaredRoute>;

/** The proof of a route by a paid test call. */
export const routeProof = z.object({
  receipt_id: z.string(),
  network: networkKey,
  amount: z.int().positive().describe('What was paid, in atomic USDC'),
  ceiling: z
    .int()
    .positive()
    .optional()
    .describe('Scheme upto: the most that the call might cost; absent where exactly the amount was signed'),
  pay_to: z.string().describe('Whom it was paid to'),
  verified_at: z.iso.datetime(),
  transaction: z.string(),
  public_chain: z.boolean().describe('False for a local test chain, whose money is worth nothing'),
  request: paidRequest
    .nullable()
    .describe(
      'The request that worked, as a known-good example, without payment and secrets; null where its values are on no public record',
    ),
  transaction_url: z.url().nullable().describe('Explorer page; null for a local test chain'),
});
export type RouteProof = z.infer<typeof routeProof>;

/** Result of the latest probe of a route, number of failures since its last valid answer, and latency. */
const routeProbe = z.object({
  at: z.iso.datetime(),
  outcome: probeOutcome,
  cause: probeCause,
  status: z.int().nullable().describe('HTTP status of the answer; null where none came'),
  valid_at: z.iso.datetime().nullable().describe('Time of the last valid 402 on record; null where there is none'),
  failures: z.int().nonnegative().describe('Conclusive failures since then'),
  failing_since: z.iso.datetime().nullable().describe('Time of the first of these; null while there is none'),
  reads_differently_since: z.iso
    .datetime()
    .optional()
    .describe('Since when its valid 402s can be read in two ways; absent where the last one cannot'),
  latency: latency.nullable().describe('How long its valid answers took; null while fewer than 12 were measured'),
});
export type RouteProbe = z.infer<typeof routeProbe>;

/** `rotating`: the seller names a fresh payee in each challenge, so payees are not compared. */
export const payeeKind = z.enum(['fixed', 'rotating']);
export type PayeeKind = z.infer<typeof payeeKind>;

/** A paid test call that settled and was not delivered: the seller kept the money. */
const undeliveredCall = z.object({
  receipt_id: z.string(),
  at: z.iso.datetime(),
  network: networkKey,
  amount: z.int().positive().describe('What was paid for nothing, in atomic USDC'),
  public_chain: z.boolean().describe('False for a local test chain, whose money is worth nothing'),
  unrecognised: unrecognisedReason
    .nullable()
    .describe('Why the answer was not recognised as the product; null where nothing was delivered at all'),
});
export type UndeliveredCall = z.infer<typeof undeliveredCall>;

export const routeVerification = z.enum(['unverified', 'settlement-verified']);

/** A route as the catalogue publishes it: claims, observations and proof kept apart. */
export const route = routeFacts.extend({
  id: z.uuid(),
  said_by: routeSaidBy.describe('For each fact the place of its source in `sources`; absent for what no source says'),
  set_aside: z
    .literal(true)
    .optional()
    .describe(
      'There where only others name it and no 402 of it was seen, while another route was seen or the provider names ' +
        'its routes: it counts neither for the prices nor for the number of endpoints',
    ),
  folded_under: z
    .object({
      route: z.string().describe('Method and path of that route'),
      because: z.enum(['template', 'same_text']).describe('It fits its template, or has its description'),
    })
    .optional()
    .describe('There where another route of the listing stands for it in lists'),
  verification: routeVerification,
  proof: routeProof.nullable().describe('The latest payment that proves it'),
  proofs: z.array(routeProof).describe('The latest on each network that proves it now, the latest first'),
  cautions: z.array(caution).describe('What speaks against it, the gravest first'),
  undelivered: undeliveredCall.nullable().describe('The latest paid call, where that settled and was not delivered'),
  payee: payeeKind.nullable().describe('Null while it was not seen often enough to tell'),
  probe: routeProbe.nullable().describe('Null while the route was never probed'),
  terms: z.array(recordedTerms),
});
export type Route = z.infer<typeof route>;

/** Lists the routes that count: all that are not set aside. */
export function listCounted<Listed extends { readonly set_aside?: boolean | undefined }>(
  routes: readonly Listed[],
): Listed[] {
  return routes.filter(({ set_aside }) => set_aside !== true);
}

/** Compares routes by path, then by method. */
export function compareRoutes(a: Pick<Route, 'path' | 'method'>, b: Pick<Route, 'path' | 'method'>): number {
  return compareTexts(a.path, b.path) || compareTexts(a.method, b.method);
}

/** Writes a route as commands and pages name it: `POST /v1/x`. */
export function formatRoute({ method, path }: Readonly<Record<'method' | 'path', string>>): string {
  return `${method} ${path}`;
}

/** Pattern of tool names in MCP (revision 2025-11-25, "Tool Names"), with a slash also allowed. */
export const TOOL_NAME = /^[\w./-]{1,128}$/;

/** Returns true if a route is a tool of an MCP server: its path is that of the server, with the tool's name as fragment. */
export function isToolPath(path: string): boolean {
  return path.includes('#');
}

/** Returns the name of the tool in the path of a route; empty for a route that is no tool. */
export function getToolName(path: string): string {
  return path.split('#')[1] ?? '';
}

/** Returns the address at which a route is called: the base URL, without query and fragment, followed by the route's path. */
export function getRouteUrl(baseUrl: string, path: string): string {
  const base = new URL(baseUrl);
  return `${base.origin}${base.pathname.replace(/\/$/, '')}${path}`;
}
