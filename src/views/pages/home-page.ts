import { CATEGORIES, type Category } from '../../model/catalogue.ts';
import { upperFirst } from '../../model/text.ts';
import type { ChangeNews } from '../changes.ts';
import { buildUrl, PATHS } from '../links.ts';
import type { RowItem } from '../listing/page.ts';
import type { Site } from '../site.ts';
import { type Counts, formatCount, formatCounts, formatDay, formatInteger } from '../words/figures.ts';
import { CATEGORY_WORDS } from './category-page.ts';
import { buildNewsRow, type NewsRow } from './changes-page.ts';
import { buildSearchPath } from './search-page.ts';

/** A way for agents to read the catalogue. */
export interface Channel {
  readonly name: string;
  /** Absolute address. */
  readonly url: string;
  /** Its purpose in one sentence. */
  readonly purpose: string;
}

export interface HomePage {
  readonly title: string;
  /** Number of listings, with its time. */
  readonly counts: string;
  /** Text about a catalogue in which nothing was probed or verified yet; null once something was. */
  readonly fresh: string | null;
  /** Searches to begin with. */
  readonly shortcuts: readonly { text: string; href: string }[];
  readonly categories: readonly { name: Category; href: string; description: string; count: string }[];
  readonly newest: readonly { item: RowItem; listed_on: string }[];
  /** Empty while nothing is verified. */
  readonly newly_verified: readonly RowItem[];
  /** The newest changes. */
  readonly news: readonly NewsRow[];
  readonly channels: readonly Channel[];
}

/** Input of the home page; each list has the newest first. */
export interface HomeParts {
  readonly counts: Counts;
  /** First and last time of declared prices, ISO 8601 UTC; undefined once anything was probed. */
  readonly declared: { readonly from: string; readonly to: string } | undefined;
  readonly by_category: ReadonlyMap<Category, number>;
  readonly newest: readonly { item: RowItem; at: string }[];
  readonly newly_verified: readonly RowItem[];
  readonly news: readonly ChangeNews[];
}

/** Searches for common jobs, as examples. */
const JOBS = [
  'weather forecast',
  'web search',
  'read a web page',
  'generate an image',
  'token prices',
  'check a wallet',
];

const SHORTCUTS: HomePage['shortcuts'] = [
  ...JOBS.map((q) => ({ text: upperFirst(q), href: buildSearchPath({ q }) })),
  { text: 'Settlement-verified', href: buildSearchPath({ verified: 'true' }) },
];

/** Builds the home page. */
export function buildHomePage(parts: HomeParts, site: Site): HomePage {
  const { counts, declared, by_category, newest, newly_verified, news } = parts;
  return {
    title: site.serviceTitle,
    counts: formatCounts(counts),
    fresh: declared && counts.settlement_verified === 0 ? formatFresh(counts, declared) : null,
    shortcuts: SHORTCUTS,
    categories: CATEGORIES.map((name) => ({
      name,
      href: PATHS.category(name),
      description: CATEGORY_WORDS[name],
      count: formatInteger(by_category.get(name) ?? 0),
    })),
    newest: newest.map(({ item, at }) => ({ item, listed_on: formatDay(at) })),
    newly_verified,
    news: news.map(buildNewsRow),
    channels: buildChannels(site),
  };
}

/** Writes `63 APIs as their sources described them in March 2026; nothing probed yet`. */
function formatFresh({ live_listings }: Counts, { from, to }: NonNullable<HomeParts['declared']>): string {
  const [first, last] = [formatMonth(from), formatMonth(to)];
  const when = first === last ? `in ${first}` : `from ${first} to ${last}`;
  return `${formatCount(live_listings, 'API')} as their sources described them ${when}; nothing probed yet`;
}

const months = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

function formatMonth(day: string): string {
  return months.format(new Date(day));
}

/** Lists the ways in which agents read the catalogue (specification, "What the service does" 7). */
export function buildChannels({ baseUrl }: Site): Channel[] {
  return [
    {
      name: 'MCP server',
      url: buildUrl(baseUrl, PATHS.mcp),
      purpose: 'Search the catalogue from any MCP client (Streamable HTTP).',
    },
    {
      name: 'Search over HTTP',
      url: `${buildUrl(baseUrl, PATHS.agentList)}?q=weather`,
      purpose: 'Search and filter the catalogue as JSON.',
    },
    {
      name: 'OpenAPI document',
      url: buildUrl(baseUrl, PATHS.openapi),
      purpose: 'OpenAPI 3.1.0 with one tag per listing.',
    },
    { name: 'llms.txt', url: buildUrl(baseUrl, PATHS.guide), purpose: 'The plain-text guide to all of this.' },
  ];
}
