import { PATH_TEMPLATE } from '../model/path-template.ts';

/** Stands for a template while a path is taken apart; no path holds it. */
const GAP = '\0';

/** The literal parts of a segment or a query value, with a template between each two; a single one is no template. */
type Pattern = readonly string[];

/** A route as it is found again by the address of a call. */
interface Matcher<R> {
  readonly route: R;
  readonly segments: readonly Pattern[];
  /** The fixed query that follows the path, as pairs that a call must have. */
  readonly query: readonly (readonly [name: string, value: Pattern])[];
  /** Segments without a template: of two routes that match the one with more of them is meant. */
  readonly literals: number;
}

/** Routes of one base address by what their addresses look like. */
export interface RouteIndex<R> {
  /** Those without a template in the path, by their path; the others by how many segments they have. */
  readonly fixed: ReadonlyMap<string, readonly Matcher<R>[]>;
  readonly templated: ReadonlyMap<number, readonly Matcher<R>[]>;
}

/** Builds the index of routes; paths follow the path of `baseUrl`. */
export function buildRouteIndex<R extends { path: string }>(baseUrl: string, routes: readonly R[]): RouteIndex<R> {
  const basePath = new URL(baseUrl).pathname;
  const matchers = routes.map((route) => buildMatcher(basePath, route));
  const [fixed, templated] = [matchers.filter(isFixed), matchers.filter((matcher) => !isFixed(matcher))];
  return {
    fixed: Map.groupBy(fixed, ({ segments }) => segments.join('/')),
    templated: Map.groupBy(templated, ({ segments }) => segments.length),
  };
}

/**
 * Lists the routes that a called address is of, whatever their method, the most specific first: templates match any one
 * segment, part of one or value, a slash at the end is none, and a query beside the route's own fixed one says nothing.
 */
export function listMatchingRoutes<R>({ fixed, templated }: RouteIndex<R>, url: URL): R[] {
  const segments = splitPath(url.pathname).map(decode);
  const candidates = [...(fixed.get(segments.join('/')) ?? []), ...(templated.get(segments.length) ?? [])];
  return candidates
    .filter((matcher) => isMatching(matcher, segments, url.searchParams))
    .sort((a, b) => b.literals - a.literals || b.query.length - a.query.length)
    .map(({ route }) => route);
}

/**
 * Says whether what a challenge says it is for is the address that was called. Scheme, port and query do not count, since
 * sellers behind a proxy do not know theirs, and a template stands for what it takes.
 */
export function isResourceOf(resource: string, url: URL): boolean {
  const named = URL.parse(resource, url);
  if (!named || named.hostname !== url.hostname) return false;
  const index = buildRouteIndex(named.origin, [{ path: decode(named.pathname) }]);
  return listMatchingRoutes(index, url).length > 0;
}

function buildMatcher<R extends { path: string }>(basePath: string, route: R): Matcher<R> {
  const [path = '', query = ''] =
    route.path
      .replace(PATH_TEMPLATE, GAP)
      .split('#')[0]
      ?.split(/\?(.*)/s) ?? [];
  const segments = [...splitPath(basePath), ...splitPath(path)].map((segment) => decode(segment).split(GAP));
  return {
    route,
    segments,
    query: [...new URLSearchParams(query)].map(([name, value]) => [name, value.split(GAP)] as const),
    literals: segments.filter((segment) => segment.length === 1).length,
  };
}

function isFixed({ segments, literals }: Matcher<unknown>): boolean {
  return segments.length === literals;
}

function isMatching({ segments, query }: Matcher<unknown>, called: string[], search: URLSearchParams): boolean {
  return (
    segments.every((pattern, index) => isFitting(pattern, called[index] ?? '')) &&
    query.every(([name, value]) => search.getAll(name).some((given) => isFitting(value, given)))
  );
}

/**
 * Says whether a text is the literal parts with something between each two. Each part is taken where it first stands, which
 * finds a fit where there is one, in a time that no pattern of a provider's making can stretch.
 */
function isFitting(pattern: Pattern, text: string): boolean {
  const [first = '', ...rest] = pattern;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from + 1);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from + 1 + last.length <= text.length;
}

function splitPath(path: string): string[] {
  return path.replace(/\/+$/, '').split('/').slice(1);
}

/** Undoes percent-encoding, where it can be: two spellings of one path are one. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}
