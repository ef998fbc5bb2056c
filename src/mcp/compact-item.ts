import { z } from 'zod';
import { isProofOld } from '../evidence/verification.ts';
import {
  type AgentItem,
  agentItem,
  formatItemPrice,
  formatLastProved,
  formatOfferPrice,
  formatVerifiedPrice,
} from '../views/listing/item.ts';
import type { MatchedRoute } from '../views/listing/matched-route.ts';
import { getCautionPhrase } from '../views/words/decision.ts';
import { formatDay } from '../views/words/figures.ts';
import { formatCompactRatio, shortenText } from './compact.ts';

const { slug, category } = agentItem.shape;

/** Longest quotes of provider's text in a search answer, in UTF-16 units. */
const TITLE_LENGTH = 50;
const DESCRIPTION_LENGTH = 100;
const INPUT_LENGTH = 160;
const OUTPUT_LENGTH = 80;

/** Longest address that is given: it is called as it stands, so it is never cut. */
const ADDRESS_LENGTH = 300;

/** What the search tool shows: with q the route of a listing that fits best, enough to check and call it; else the listing. */
export const compactItem = z.object({
  caution: z.string().optional(),
  match: z.number().optional(),
  slug,
  title: z.string().describe("Provider's text, cut"),
  method: z.string().optional(),
  url: z.string().optional().describe('Fill in :name and {name} first'),
  host: z.string().optional(),
  description: z.string().optional(),
  price_usdc: z.string().describe('Per request, with networks'),
  verified: z.string().describe('Of the route: no, or when; of a listing: 1 of 2 routes, when'),
  input: z.string().optional().describe('? is optional'),
  output: z.string().optional(),
  category: category.optional(),
  reliability: z.string().optional().describe('0-100, band'),
});
export type CompactItem = z.infer<typeof compactItem>;

/** Builds the search tool's form of a listing from its short form. */
export function buildCompactItem(item: AgentItem): CompactItem {
  const { route, reliability_score: score, reliability_band: band } = item;
  const description = shortenText(route?.description || item.tagline, DESCRIPTION_LENGTH);
  const cautions = route ? listRouteCautions(route, item.cautions) : item.cautions;
  return {
    ...(cautions.length > 0 && { caution: formatCautions(cautions) }),
    ...(item.match !== undefined && { match: item.match }),
    slug: item.slug,
    title: shortenText(item.title, TITLE_LENGTH),
    ...(route ? buildCompactMatch(route, description, item) : buildCompactWhole(item, description)),
    ...(score !== null && { reliability: `${score} ${band}` }),
  };
}

function buildCompactMatch(route: MatchedRoute, description: string, { updated_at }: AgentItem) {
  const { method, url, offers, verified, verified_at: at, input, outputs } = route;
  const day = at !== null && (isProofOld(at, updated_at) ? formatLastProved(at) : formatDay(at));
  return {
    method,
    ...(url.length <= ADDRESS_LENGTH ? { url } : { host: new URL(url).host }),
    ...(description !== '' && { description }),
    price_usdc: offers.map((offer) => `${formatOfferPrice(offer)} ${offer.network}`).join(', '),
    verified: verified && day ? `${day}${formatVerifiedPrice(route)}` : 'no',
    ...(input !== undefined && { input: shortenText(input, INPUT_LENGTH) }),
    ...(outputs.length > 0 && { output: shortenText(outputs.join(', '), OUTPUT_LENGTH) }),
  };
}

function buildCompactWhole(item: AgentItem, description: string) {
  return {
    host: item.host,
    ...(description !== '' && { description }),
    price_usdc: `${formatItemPrice(item)} ${item.networks.join(', ')}`.trimEnd(),
    verified: formatCompactRatio(item),
    category: item.category,
  };
}

/** Lists what speaks against a route, and what of danger speaks against others of its listing: the seller is the same. */
function listRouteCautions({ cautions, method, path }: MatchedRoute, all: AgentItem['cautions']) {
  const own = cautions.map((caution) => ({ ...caution, route: `${method} ${path}`, routes: 1 }));
  const others = all.filter(
    ({ code, severity }) => severity === 'danger' && cautions.every((caution) => caution.code !== code),
  );
  return [...own, ...others];
}

/** Longest name of a route that is quoted. */
const ROUTE_LENGTH = 60;

/** A danger in a sentence, since it decides; a notice by its code. Routes are named by their providers. */
export function formatCautions(cautions: AgentItem['cautions']): string {
  const parts = cautions.map(({ code, severity, route, routes, since }) => {
    const day = since === null ? '' : ` ${code === 'never_seen' ? 'declared' : 'since'} ${formatDay(since)}`;
    if (severity === 'notice') return `${code}${day}`;
    const subject = route === null ? `${routes} routes` : shortenText(route, ROUTE_LENGTH);
    return `DANGER, do not pay, ${code}${day}: ${getCautionPhrase(code)} (${subject})`;
  });
  return parts.join('; ');
}
