import { z } from 'zod';
import { type AgentItem, agentItem } from '../views/listing/item.ts';
import type { MatchedRoute } from '../views/listing/matched-route.ts';
import { getCautionPhrase } from '../views/words/decision.ts';
import { formatDay } from '../views/words/figures.ts';
import { formatCompactRatio, shortenText } from './compact.ts';

const { slug, category, networks, reliability_band, page_url } = agentItem.shape;

/** Longest quotes of provider's text in a search answer, in UTF-16 units, and the longest address quoted whole. */
const TITLE_LENGTH = 60;
const TAGLINE_LENGTH = 120;
const ADDRESS_LENGTH = 120;

/** A listing as the search tool shows it: enough to choose by. */
export const compactItem = z.object({
  caution: z.string().optional(),
  match: z.number().optional(),
  slug,
  title: z.string().describe("Provider's text, cut"),
  host: z.string(),
  tagline: z.string(),
  route: z.looseObject({}).optional().describe('Fits q best'),
  category,
  price_usdc: z.string().describe('USDC per request: one price, or lowest-highest'),
  networks,
  verified_routes: z.string().describe('Settlement-verified, e.g. 1 of 2, 2026-11-20'),
  reliability_band,
  reliability_score: z.number().optional().describe('0-100; absent while unscored'),
  base_url: z.string().optional().describe('Absent where it is just the host'),
  page_url,
});
export type CompactItem = z.infer<typeof compactItem>;

/** Builds the search tool's form of a listing from its short form. */
export function buildCompactItem(item: AgentItem): CompactItem {
  return {
    ...(item.cautions.length > 0 && { caution: formatCautions(item.cautions) }),
    ...(item.match !== undefined && { match: item.match }),
    slug: item.slug,
    title: shortenText(item.title, TITLE_LENGTH),
    host: item.host,
    tagline: shortenText(item.tagline, TAGLINE_LENGTH),
    ...(item.route && { route: buildCompactMatch(item.route) }),
    category: item.category,
    price_usdc: formatItemPrice(item),
    networks: item.networks,
    verified_routes: formatCompactRatio(item),
    reliability_band: item.reliability_band,
    ...(item.reliability_score !== null && { reliability_score: item.reliability_score }),
    ...(item.base_url.length <= ADDRESS_LENGTH &&
      item.base_url !== `https://${item.host}` && { base_url: item.base_url }),
    page_url: item.page_url,
  };
}

/** Longest quotes of what a route does and takes. */
const DESCRIPTION_LENGTH = 80;
const INPUT_LENGTH = 80;

function buildCompactMatch(route: MatchedRoute) {
  const { method, path, url, description, offers, verified, cautions, inputs } = route;
  const own = cautions.map((caution) => ({ ...caution, route: `${method} ${path}`, routes: 1 }));
  return {
    ...(own.length > 0 && { caution: formatCautions(own) }),
    method,
    ...(url.length <= ADDRESS_LENGTH && { url }),
    ...(description !== '' && { description: shortenText(description, DESCRIPTION_LENGTH) }),
    price_usdc: offers.map(({ network, price_usdc }) => `${price_usdc} ${network}`).join(', '),
    verified,
    ...(inputs.length > 0 && { input: shortenText(inputs.join(', '), INPUT_LENGTH) }),
  };
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

/** Writes a price range as pages show it; at six decimals no price is so small that a number is written with an exponent. */
function formatItemPrice({ price_min_usdc: min, price_max_usdc: max }: AgentItem): string {
  return min === max ? String(min) : `${min}-${max}`;
}
