import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { listDeclarations } from '../catalogue/read/declarations.ts';
import { countSpent } from '../catalogue/write/payments.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { getAuthority } from '../evidence/authority.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { Listing } from '../model/listing.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import type { Payment, PreparedPayment } from '../model/payment.ts';
import { type RequestExample, requestExample } from '../model/request.ts';
import { formatRoute, type Route } from '../model/route.ts';
import { isCeiling, type Terms, type TermsDifference } from '../model/terms.ts';
import { findNearest } from '../model/text.ts';
import { buildProbeRequest } from '../probing/probe-request.ts';
import { runProbing } from '../probing/run.ts';
import { findFeedTool, readRequest, readToolRequest } from '../sources/bazaar/item.ts';
import type { Requirement } from '../x402/requirements.ts';
import { isChanged } from '../x402/terms-differences.ts';
import type { Call } from './paid-call.ts';
import { payForCall } from './pay.ts';
import type { Payer } from './payer.ts';
import type { DeclaredProduct } from './product.ts';
import { fetchQuote, type Quote } from './quote.ts';
import type { Rail } from './rail.ts';
import type { PayEvent } from './reconcile.ts';
import { findStop } from './stop-file.ts';

/** The call to verify. Default: the only route of the listing, with its example request. */
export interface VerifyRequest {
  route: string | undefined;
  input: string | undefined;
  /** The most that the call may cost, in atomic USDC, if that is less than the cap for a call. */
  most?: number;
  onPrepared?: (payment: PreparedPayment) => void;
}

/** The result of a verification. Amounts are atomic USDC. */
export interface VerifyResult {
  slug: string;
  route: string;
  request: { method: string; url: string };
  /** Status of the unpaid request. */
  status: number;
  asked: Terms[];
  on_record: Terms[];
  differences: TermsDifference[];
  would_pay: { network: NetworkKey; amount: number; is_ceiling: boolean; pay_to: string | null } | null;
  /** Reason why nothing would be paid; null if something would be. */
  refused: Quote['refused'];
  /** The balance is null if the node could not be asked after a payment. */
  wallets: { network: NetworkKey; payer: string; balance: number | null }[];
  caps: { per_call: number; per_day: number; spent: number };
  /** Earlier attempts that were left open, in their current state on the chain. */
  reconciled: Payment[];
  /** Null if nothing was paid. */
  payment: Payment | null;
}

/** Fetches the live 402 of a route and, if the payer pays, pays for the call. Throws what paying throws. */
export async function verifyRoute(payer: Payer, listing: Listing, request: VerifyRequest): Promise<VerifyResult> {
  const { catalogue, client, rails, ledgers, now, signal, pay } = payer;
  const { maxPerCall, maxPerDay, stopFile } = payer.payer;
  const route = getNamedRoute(listing, request.route);
  const call = buildCall(listing, route, request.input);
  const known = getCurrentTerms(route.terms);
  const networks = rails.length > 0 ? rails.map(({ network }) => network) : listNetworks();
  const payeeRotates = route.payee === 'rotating';
  const quote = await fetchQuote({ client, call, known, payeeRotates, networks, signal });
  if (isChanged(quote.differences)) await recordDifference(listing, route.id, payer);
  const { chosen } = quote;
  const isOwnInput =
    request.input !== undefined ||
    !isInputOfOthers(listing, route) ||
    (chosen !== null && isInputOfOffer(route, chosen));
  // Input that others state may be wrong, and a request other than GET may do harm with it.
  const isUnfit = !isOwnInput && route.method !== 'GET' ? ('input_of_others' as const) : null;
  const refused = quote.refused ?? isUnfit ?? (pay && rails.length === 0 ? 'no_wallet' : null);
  const rail = rails.find(({ network }) => network === chosen?.terms.network);
  const ledger = rail && ledgers.get(rail);
  const payment =
    refused === null && chosen && rail && ledger
      ? await payForCall({
          client,
          rail,
          ledger,
          call,
          now,
          signal,
          caps: { per_call: Math.min(maxPerCall, request.most ?? maxPerCall), per_day: maxPerDay },
          route_id: route.id,
          requirement: chosen,
          declared: route,
          own: await listProviderProducts(catalogue, listing, route),
          countsAgainst: isOwnInput,
          findStop: () => findStop(stopFile),
          onEvent: (event) => {
            if (event.type === 'prepared') request.onPrepared?.(event.payment);
            payer.say(describeEvent(event));
          },
        })
      : null;
  return {
    slug: listing.slug,
    route: formatRoute(route),
    request: { method: call.method, url: call.url.href },
    status: quote.status,
    asked: quote.offered,
    on_record: quote.known,
    differences: quote.differences,
    would_pay: chosen ? getPrice(chosen.terms) : null,
    refused,
    wallets: await readWallets(rails, { isPaid: payment !== null }),
    caps: { per_call: maxPerCall, per_day: maxPerDay, spent: await countSpent(catalogue, now().toISOString()) },
    reconciled: [...payer.reconciled],
    payment,
  };
}

/** Returns true if only hearsay states the input of a route. */
export function isInputOfOthers({ sources }: Listing, { said_by }: Route): boolean {
  const place = said_by.example ?? said_by.input ?? said_by.route;
  return place !== undefined && sources[place]?.authority === 'hearsay';
}

/** Returns true if the 402 itself describes its request by the example of the route. */
function isInputOfOffer(
  { example, method }: Route,
  { raw, extensions, terms: { x402_version } }: Requirement,
): boolean {
  const item = { x402Version: x402_version, accepts: [raw], extensions };
  const tool = findFeedTool(item);
  const described = tool ? readToolRequest(tool, () => undefined) : readRequest(item, method, () => undefined);
  return example !== null && isDeepStrictEqual(described.example, example);
}

/**
 * Lists the products in documents that the provider wrote itself, including those that the operator handed over. Only these can
 * make its answer unrecognised.
 */
async function listProviderProducts(
  catalogue: Catalogue,
  { id }: Listing,
  { method, path }: Route,
): Promise<DeclaredProduct[]> {
  return (await listDeclarations(catalogue, id))
    .filter(({ declaration: { source, base_url }, withdrawn_at }) => {
      const isProviders = source.kind !== 'manifest' && getAuthority(source, base_url) !== 'hearsay';
      return withdrawn_at === null && isProviders;
    })
    .flatMap(({ declaration }) => declaration.routes)
    .filter((route) => route.method === method && route.path === path)
    .map(({ mime_type, output_schema }) => ({ mime_type, output_schema }));
}

function listNetworks(): NetworkKey[] {
  return Object.values(NETWORKS).map(({ key }) => key);
}

function getPrice({ network, scheme, amount, pay_to }: Terms) {
  return { network, amount, is_ceiling: isCeiling({ scheme }), pay_to };
}

async function readWallets(rails: readonly Rail[], { isPaid }: { isPaid: boolean }): Promise<VerifyResult['wallets']> {
  return Promise.all(
    rails.map(async ({ network, payer, chain }) => {
      const balance = await chain.getBalance(payer).catch((error: unknown) => {
        // A payment is reported even if the node fails afterwards.
        if (isPaid && error instanceof ServiceError) return null;
        throw error;
      });
      return { network, payer, balance };
    }),
  );
}

/** Probes the route to put a difference on record, because it is evidence like any other. */
async function recordDifference({ slug }: Listing, routeId: string, payer: Payer): Promise<void> {
  const { catalogue, config, now, signal, say } = payer;
  say('The live 402 differs from the record; probing the route to put that on record.');
  await runProbing(
    catalogue,
    { kind: 'chosen', slugs: [slug], routeIds: [routeId] },
    {
      config,
      now,
      signal,
      random: Math.random,
      atOnce: 1,
      pauseMs: 1000,
      timeoutMs: 15_000,
      onProgress: () => undefined,
    },
  );
}

function describeEvent(event: PayEvent): string {
  switch (event.type) {
    case 'prepared':
      return `Recorded as ${event.payment.id}, valid until ${event.payment.expires_at}.`;
    case 'sent':
      return 'Signed and sent.';
    case 'answered':
      return `Answered with status ${event.answer.answer?.status}.`;
    case 'unanswered':
      return `No usable answer came (${event.reason}).`;
    case 'waiting':
      return `Waiting for the chain, until ${event.until} at the latest.`;
  }
}

/**
 * Returns the route that the operator names, or the only one of the listing. Throws `bad_input` with the routes to
 * choose from.
 */
function getNamedRoute({ slug, routes }: Listing, name: string | undefined): Route {
  const names = routes.map(formatRoute);
  const [only, ...others] = routes;
  if (name === undefined && only && others.length === 0) return only;
  const route = routes.find((candidate) => formatRoute(candidate) === name?.trim());
  if (route) return route;
  const nearest = name === undefined ? undefined : findNearestName(name, names);
  const listed = names.slice(0, 8).join(', ') + (names.length > 8 ? `, and ${names.length - 8} more` : '');
  const message =
    name === undefined ? `${slug} has ${routes.length} routes; name one.` : `${slug} has no route "${name}".`;
  throw new ServiceError('bad_input', message, {
    hint: nearest ? `Did you mean "${nearest}"?` : `--route takes one of: ${listed || 'none is itemised'}.`,
    reason: 'no_route',
  });
}

function findNearestName(name: string, names: readonly string[]): string | undefined {
  const small = names.map((candidate) => candidate.toLowerCase());
  const nearest = findNearest(name, small);
  return nearest === undefined ? undefined : names[small.indexOf(nearest)];
}

/**
 * Builds the call to pay for: the route's example request, or the one in the file `input`. Throws `bad_input` if the
 * request would need made-up values, which nobody should pay for.
 */
function buildCall({ base_url }: Listing, route: Route, input: string | undefined): Call {
  const example = input === undefined ? route.example : readInput(input);
  const terms = getCurrentTerms(route.terms);
  const request = buildProbeRequest(base_url, { ...route, example, terms });
  if (!request) {
    throw new ServiceError('bad_input', `${formatRoute(route)} does not give a valid address.`, { reason: 'bad_url' });
  }
  const { invented, url, headers, body } = request;
  if (invented.length > 0) {
    throw new ServiceError('bad_input', `No value is known for ${invented.join(', ')} in ${route.path}.`, {
      hint: `Give one in a file: --input file.json with {"query": {"${invented[0]}": "…"}}.`,
      reason: 'made_up_parameter',
    });
  }
  if (body !== undefined && example?.body === undefined) {
    throw new ServiceError('bad_input', `No body is known for ${formatRoute(route)}.`, {
      hint: 'Give one in a file: --input file.json with {"body": {…}}.',
      reason: 'made_up_body',
    });
  }
  return { method: route.method, url, headers, body };
}

function readInput(file: string): RequestExample {
  try {
    return requestExample.strict().parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const word = error instanceof z.ZodError ? z.prettifyError(error).split('\n')[0] : getErrorMessage(error);
    throw new ServiceError('bad_input', `The input ${file} cannot be used: ${word}.`, {
      hint: 'It is a JSON object with query, headers and body, each of them optional.',
      reason: 'bad_input_file',
      cause: error,
    });
  }
}
