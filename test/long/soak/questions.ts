import { type Asked, buildToolCall } from '../../../scripts/bench/measuring.ts';
import { buildSyntheticDeclaration, pickWords } from '../../../scripts/bench/synthetic.ts';
import { buildUrl, PATHS } from '../../../src/views/links.ts';

/** A kind of request, how often it comes among all, and one of it. */
interface Kind {
  readonly weight: number;
  build(): Asked;
}

/** Builds the next request of a mixed load. */
export type BuildQuestion = () => Asked;

/** How many different searches and questions about terms there are. */
const VARIETY = 100;

/** How clients have answers compressed. */
const ENCODINGS = ['identity', 'gzip', 'br'];

/** Builds a mixed load over every kind of answer: pages most, large documents seldom. */
export function openQuestions(options: { slugs: readonly string[]; random: () => number }): BuildQuestion {
  const { slugs, random } = options;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const get = (path: string): Asked => ({ path, headers: {} });
  const searches = Array.from({ length: VARIETY }, () => pickWords(random, 3));
  const checks = Array.from({ length: Math.min(VARIETY, slugs.length) }, (_, index) => buildCheck(index));
  const search = () => new URLSearchParams({ q: pick(searches) });
  const sitePages = [PATHS.home, PATHS.changes, PATHS.category('Data'), PATHS.category('Tools')];
  const kinds: Kind[] = [
    { weight: 30, build: () => get(PATHS.listing(pick(slugs))) },
    { weight: 5, build: () => get(PATHS.listingMarkdown(pick(slugs))) },
    { weight: 8, build: () => get(pick(sitePages)) },
    { weight: 3, build: () => get(`${PATHS.search}?${search()}`) },
    { weight: 8, build: () => get(PATHS.agentList) },
    { weight: 8, build: () => get(`${PATHS.agentList}?${search()}&limit=20`) },
    { weight: 8, build: () => get(PATHS.agentListing(pick(slugs))) },
    { weight: 5, build: () => get(pick(checks)) },
    { weight: 4, build: () => get(`${PATHS.agentChanges}?since=${pick([0, 1])}&limit=50`) },
    { weight: 2, build: () => get(PATHS.changesFeed) },
    { weight: 2, build: () => get(`${PATHS.discoveryResources}?limit=20`) },
    { weight: 5, build: () => buildToolCall('search_listings', { q: pick(searches), limit: 5 }) },
    { weight: 3, build: () => buildToolCall('get_listing', { slug: pick(slugs) }) },
    { weight: 2, build: () => buildToolCall('catalogue_summary', {}) },
    { weight: 2, build: () => get(pick([PATHS.sitemapIndex, PATHS.sitemap(1), PATHS.guide])) },
    { weight: 1, build: () => get(PATHS.openapi) },
    { weight: 1, build: () => get(PATHS.guideFull) },
  ];
  const deck = kinds.flatMap((kind) => Array<Kind>(kind.weight).fill(kind));
  return () => {
    const asked = pick(deck).build();
    return { ...asked, headers: { ...asked.headers, 'accept-encoding': pick(ENCODINGS) } };
  };
}

/** Builds the question whether the first offer of a listing is on record. */
function buildCheck(index: number): string {
  const { base_url, routes } = buildSyntheticDeclaration(index);
  const route = routes[0];
  const terms = route?.terms[0];
  if (!route || !terms) throw new Error('a synthetic listing has a route with terms');
  const { network, asset, pay_to, amount } = terms;
  const fields = { url: buildUrl(base_url, route.path), method: route.method, network, asset, amount: String(amount) };
  return `${PATHS.agentCheck}?${new URLSearchParams({ ...fields, ...(pay_to !== null && { pay_to }) })}`;
}
