import { PATH_TEMPLATE } from '../model/request.ts';
import { getToolName } from '../model/route.ts';

/** Replaces a template while a path is split; no path contains this character. */
const GAP = '\0';

/**
 * The literal parts of a segment or a query value, with a template between each two. A single part means that there is
 * no template.
 */
type Pattern = readonly string[];

/** A route, prepared for finding it by the address of a call. */
interface Matcher<R> {
  readonly route: R;
  readonly segments: readonly Pattern[];
  /** The fixed query of the route, as pairs that a call must contain. */
  readonly query: readonly (readonly [name: string, value: Pattern])[];
  /** Number of segments without a template: of two matching routes the one with more of them wins. */
  readonly literals: number;
  /** The tool that a route is, which a call must name; empty for other routes. */
  readonly tool: string;
}

/** The routes of one base address, indexed for finding them by address. */
export interface RouteIndex<R> {
  /** Routes without a template in the path, by path. */
  readonly fixed: ReadonlyMap<string, readonly Matcher<R>[]>;
  /** The other routes, by their number of segments. */
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
 * Lists the routes that match a called address, whatever their method, the most specific first. A template matches any
 * segment, part of a segment or query value. A slash at the end and query parameters that the route does not fix are
 * ignored. A call of a tool names it in the fragment.
 */
export function listMatchingRoutes<R>({ fixed, templated }: RouteIndex<R>, url: URL): R[] {
  const segments = splitPath(url.pathname).map(decode);
  const candidates = [...(fixed.get(segments.join('/')) ?? []), ...(templated.get(segments.length) ?? [])];
  return candidates
    .filter((matcher) => isRouteMatch(matcher, segments, url.searchParams))
    .filter(({ tool }) => tool === '' || tool === getToolName(url.hash))
    .sort((a, b) => b.tool.length - a.tool.length || b.literals - a.literals || b.query.length - a.query.length)
    .map(({ route }) => route);
}

/**
 * Returns whether the resource that a challenge names is the address that was called. Scheme, port and query are
 * ignored, because sellers behind a proxy do not know theirs. A template in the resource matches any value.
 */
export function isResourceOf(resource: string, url: URL): boolean {
  const named = URL.parse(resource, url);
  // The specification of x402 over MCP names a tool this way.
  if (named?.protocol === 'mcp:') return url.hash !== '' && named.pathname.slice(1) === getToolName(url.hash);
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
    tool: getToolName(route.path),
  };
}

function isFixed({ segments, literals }: Matcher<unknown>): boolean {
  return segments.length === literals;
}

function isRouteMatch({ segments, query }: Matcher<unknown>, called: string[], search: URLSearchParams): boolean {
  return (
    segments.every((pattern, index) => isPatternMatch(pattern, called[index] ?? '')) &&
    query.every(([name, value]) => search.getAll(name).some((given) => isPatternMatch(value, given)))
  );
}

/**
 * Returns whether a text consists of the literal parts with something between each two. Each part is taken at its first
 * occurrence. That finds a match whenever there is one, and no hostile pattern can make it slow.
 */
function isPatternMatch(pattern: Pattern, text: string): boolean {
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

/** Undoes percent-encoding if it is valid, so that two spellings of one path are equal. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}
