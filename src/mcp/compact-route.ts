import { z } from 'zod';
import { listMissing, listNeeds } from '../evidence/abilities.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { Ability } from '../model/ability.ts';
import type { Caution } from '../model/caution.ts';
import { networkKey } from '../model/network.ts';
import { isPayable } from '../model/probe.ts';
import { getRouteUrl, isToolPath, type Route, type RouteProbe, routeVerification } from '../model/route.ts';
import { isCeiling, type RecordedTerms } from '../model/terms.ts';
import { formatPrice, formatPriceRange, formatUsdc, type PriceCeilings } from '../model/usdc.ts';
import { describeCaution } from '../views/words/caution.ts';
import { formatDay } from '../views/words/figures.ts';
import { formatOutcome } from '../views/words/outcome.ts';
import { getTokenEstimate, shortenText } from './compact.ts';
import { shortenSchema } from './compact-schema.ts';

const DESCRIPTION_LENGTH = 100;
const SCHEMA_TOKENS = 160;
const EXAMPLE_TOKENS = 80;
/** A route offers one or two ways to pay; more than this is a list nobody reads. */
const MAX_OFFERS = 4;

/** An object that the provider wrote. It may hold whatever JSON allows, which a recursive schema would only spell out at length. */
const anyObject = z.looseObject({});

/** Whom a route pays, and on which network. */
export const payOption = z.object({
  network: networkKey,
  pay_to: z.string().optional(),
  price_usdc: z.string().optional().describe("Where not the route's"),
  needs: z.string().optional(),
  missing: z.string().optional(),
});
export type PayOption = z.infer<typeof payOption>;

/** A route as `get_listing` shows it: enough to call it and to know what it should ask. */
export const compactRoute = z.object({
  cautions: z.array(z.string()).optional(),
  method: z.string(),
  url: z.string().describe('Fill in :name and {name} first'),
  description: z.string().optional().describe("Provider's text, cut"),
  price_usdc: z.string().optional().describe('One price, or lowest-highest'),
  evidence: z.enum(['declared', 'observed']).optional().describe('observed: read from a live 402; declared: a claim'),
  seen_at: z.string().optional(),
  verification: routeVerification,
  proof: z
    .object({ verified_at: z.string(), network: networkKey, paid_usdc: z.string(), url: z.string().optional() })
    .optional()
    .describe('The payment that verified it'),
  pay: z.array(anyObject).optional().describe("Where not the answer's"),
  input: anyObject.optional().describe("Provider's JSON Schema"),
  output: z.string().optional(),
  example: anyObject.optional(),
  failing: z.string().optional(),
  shortened: z.boolean().optional().describe('details_url has the whole'),
});
export type CompactRoute = z.infer<typeof compactRoute>;

/** Builds the compact form of a route with all its ways to pay. */
export function buildCompactRoute(
  route: Route,
  baseUrl: string,
  can?: ReadonlySet<Ability>,
): CompactRoute & { pay: PayOption[] } {
  const offers = getCurrentTerms(route.terms).toSorted((a, b) => a.amount - b.amount);
  const [cheapest, dearest] = [offers[0], offers.at(-1)];
  const seen = offers.flatMap(({ last_seen_at }) => last_seen_at ?? []).toSorted();
  const input = route.input_schema === null ? undefined : shortenSchema(route.input_schema, SCHEMA_TOKENS);
  const example = findShortExample(route);
  const shortened = input !== (route.input_schema ?? undefined) || example !== (route.example ?? undefined);
  return {
    ...(route.cautions.length > 0 && { cautions: route.cautions.map(formatCaution) }),
    method: route.method,
    url: getRouteUrl(baseUrl, route.path),
    ...(route.description !== '' && { description: shortenText(route.description, DESCRIPTION_LENGTH) }),
    ...(cheapest && dearest && { price_usdc: formatPriceRange(cheapest.amount, dearest.amount, getEnds(offers)) }),
    ...(cheapest && { evidence: cheapest.evidence }),
    ...(seen.length > 0 && { seen_at: seen.at(-1) }),
    verification: route.verification,
    ...(route.proof && { proof: buildProof(route.proof) }),
    pay: offers.slice(0, MAX_OFFERS).map((offer) => ({
      network: offer.network,
      ...(offer.pay_to !== null && { pay_to: offer.pay_to }),
      ...(cheapest?.amount !== dearest?.amount && { price_usdc: formatPrice(offer.amount, isCeiling(offer)) }),
      ...buildNeeds(listNeeds(offer, { isTool: isToolPath(route.path) }), can),
    })),
    ...(input && { input }),
    ...(example && { example }),
    ...(route.probe && !isPayable(route.probe.outcome) && { failing: formatFailure(route.probe) }),
    ...(shortened && { shortened }),
  };
}

/** Returns which ends of sorted offers are ceilings. */
function getEnds(offers: readonly RecordedTerms[]): PriceCeilings {
  const isAll = (amount: number | undefined) => offers.filter((offer) => offer.amount === amount).every(isCeiling);
  return { min: isAll(offers[0]?.amount), max: isAll(offers.at(-1)?.amount) };
}

/** Abilities that every client of the SDK has: they go without saying. */
const PLAIN: readonly string[] = ['v1', 'v2', 'evm', 'svm', 'exact', 'eip3009'];

function buildNeeds(needs: readonly string[], can: ReadonlySet<Ability> | undefined): Partial<PayOption> {
  const special = needs.filter((need) => !PLAIN.includes(need));
  const missing = can === undefined ? [] : listMissing(needs, can);
  return {
    ...(special.length > 0 && { needs: special.join(' ') }),
    ...(missing.length > 0 && { missing: missing.join(' ') }),
  };
}

function findShortExample({ example }: Route): Route['example'] | undefined {
  return example !== null && getTokenEstimate(JSON.stringify(example)) <= EXAMPLE_TOKENS ? example : undefined;
}

function buildProof(proof: NonNullable<Route['proof']>): CompactRoute['proof'] {
  return {
    verified_at: proof.verified_at,
    network: proof.network,
    paid_usdc: formatUsdc(proof.amount),
    ...(proof.transaction_url !== null && { url: proof.transaction_url }),
  };
}

/** Longest reply of a provider that is quoted, in UTF-16 units. */
const REPLY_LENGTH = 100;

function formatCaution(caution: Caution): string {
  const { code, severity, reply } = caution;
  const words = reply ? ` Provider replies: "${shortenText(reply.text, REPLY_LENGTH)}"` : '';
  return `${severity}, ${code}: ${describeCaution(caution)}${words}`;
}

function formatFailure({ outcome, cause, at, failing_since }: RouteProbe): string {
  const since = failing_since === null ? '' : `, failing since ${formatDay(failing_since)}`;
  return `${formatOutcome(outcome, cause)}, ${formatDay(at)}${since}`;
}
