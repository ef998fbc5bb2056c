import type { Listing } from '../../model/listing.ts';
import type { Route } from '../../model/route.ts';
import { AUTHORITY_WORDS, type ListedSource, type ListingFact, type RouteFact, SOURCES } from '../../model/source.ts';
import { formatCount, formatDay } from './figures.ts';

const LISTING_WORDS: Readonly<Record<ListingFact, string>> = {
  title: 'title',
  tagline: 'one-line description',
  description: 'description',
  category: 'category',
  docs_url: 'documentation',
  mcp_endpoint: 'MCP server',
  price: 'price of the whole',
};

const ROUTE_WORDS: Readonly<Record<RouteFact, (count: number) => string>> = {
  route: (count) => formatCount(count, 'route'),
  description: (count) => `descriptions of ${count}`,
  input: (count) => `inputs of ${count}`,
  output: (count) => `outputs of ${count}`,
  example: (count) => `examples of ${count}`,
  price: (count) => `declared prices of ${count}`,
};

/** A source of a listing in words. */
export interface SourceWords {
  /** Heading: `An OpenAPI document`. */
  readonly title: string;
  /** Author of its claims: `the API's own host says so`. */
  readonly authority: string;
  /** Facts of the listing that come from it: `title, category, 3 routes`; empty if other sources are trusted for all of them. */
  readonly said: string;
}

/** Describes the sources of a listing in order, each with its author and the facts that come from it. */
export function describeSources({
  sources,
  said_by,
  routes,
}: Pick<Listing, 'sources' | 'said_by' | 'routes'>): SourceWords[] {
  return sources.map(({ kind, authority }, place) => {
    const facts = Object.entries(said_by).flatMap(([fact, by]) =>
      by === place ? LISTING_WORDS[fact as ListingFact] : [],
    );
    const ofRoutes = Object.entries(ROUTE_WORDS).flatMap(([fact, describe]) => {
      // The source that names a route is counted once, not again for each fact of the route.
      const isTold = ({ said_by: by }: (typeof routes)[number]) =>
        by[fact as RouteFact] === place && (fact === 'route' || by.route !== place);
      const count = routes.filter(isTold).length;
      return count > 0 ? describe(count) : [];
    });
    return {
      title: SOURCES[kind].title,
      authority: AUTHORITY_WORDS[authority],
      said: [...facts, ...ofRoutes].join(', '),
    };
  });
}

type Author = 'the provider' | 'a manifest' | 'a discovery feed';

/** Returns the author of title and descriptions; completes "In the words of". */
export function getAuthor({ sources, said_by }: Pick<Listing, 'sources' | 'said_by'>): Author {
  return nameAuthor(sources[said_by.description ?? said_by.title ?? said_by.tagline ?? 0]);
}

/**
 * Names the authors of facts about a route, such as its description, input and output, each with the day on which that was seen;
 * completes "In the words of": `a manifest, seen 2026-03-17`. Empty if no source states any of them.
 */
export function describeRouteAuthors(
  { sources }: Pick<Listing, 'sources'>,
  { said_by }: Pick<Route, 'said_by'>,
  facts: readonly RouteFact[] = ['description', 'input', 'example', 'output'],
): string {
  const names = facts.flatMap((fact) => {
    const place = said_by[fact];
    const source = place === undefined ? undefined : sources[place];
    if (!source) return [];
    const { observed_at } = source;
    return `${nameAuthor(source)}${observed_at === null ? '' : `, seen ${formatDay(observed_at)}`}`;
  });
  return [...new Set(names)].join(', and of ');
}

function nameAuthor(source: ListedSource | undefined): Author {
  if (source?.kind === 'manifest') return 'a manifest';
  return source?.authority === 'hearsay' ? 'a discovery feed' : 'the provider';
}
