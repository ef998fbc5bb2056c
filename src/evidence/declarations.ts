import type { Category } from '../model/catalogue.ts';
import { type Declaration, SOURCE_KINDS } from '../model/declaration.ts';
import type { Listing } from '../model/listing.ts';
import type { DeclaredRoute } from '../model/route.ts';
import { type InferredCategory, inferCategory } from './category.ts';
import { buildTagline, isTagline } from './taglines.ts';
import { getHostTitle, isTitle } from './titles.ts';

/** A declaration on record. It is withdrawn when a complete pull of its source no longer holds it. */
export interface RecordedDeclaration {
  declaration: Declaration;
  withdrawn_at: string | null;
}

/**
 * One route: its texts come from the source closest to the provider that has them, its terms from the source that saw
 * it last.
 */
export interface MergedRoute {
  route: DeclaredRoute;
  /** The source of the terms. */
  source: Declaration['source'];
}

/** The texts about a listing, each from the best source that has it. */
export interface MergedWords {
  title: string;
  /** True if a source gives the title, and false if it was made from the host. */
  is_named: boolean;
  tagline: string;
  description: string;
  provider_name: string;
}

/** What all sources together say about a listing. */
export interface MergedDeclaration {
  words: MergedWords;
  category: Category;
  /** How the category was chosen if no source names one; otherwise null. */
  inferred: InferredCategory | null;
  routes: MergedRoute[];
  /** The declarations that are not withdrawn; all of them if every one is withdrawn. */
  declarations: Declaration[];
  /** False if every source has withdrawn the listing. */
  offered: boolean;
}

/** What readers saw of a listing so far. */
export type RecordedWords = Pick<Listing, 'title' | 'category' | 'sources'>;

/**
 * Merges what the sources say about one listing. Each text comes from the source closest to the provider that has it, and
 * of equally close ones from the freshest. The title and the category on record stay while an equally close source gives
 * them, or if they were made here and nothing is clearly better. The terms of each route come from the source that
 * saw it last, so that its price is the freshest on record. If the provider itself lists its routes, only those routes
 * and the prices it states are used. Throws on an empty list.
 */
export function mergeDeclarations(all: readonly RecordedDeclaration[], recorded?: RecordedWords): MergedDeclaration {
  const offering = all.filter(({ withdrawn_at }) => withdrawn_at === null);
  const declarations = (offering.length > 0 ? offering : all)
    .map(({ declaration }) => declaration)
    .toSorted(compareCloseness);
  const [first] = declarations;
  if (!first) throw new Error('a listing has at least one declaration');
  const routes = mergeRoutes(declarations);
  const words = mergeWords(first.base_url, declarations, routes, recorded);
  const declared = choose(declarations, ({ category }) => category, recorded?.category);
  const inferred =
    declared === undefined
      ? inferCategory(
          {
            title: words.title,
            tagline: findTagline(declarations, words.title) ?? '',
            description: words.description,
            tags: [...new Set(declarations.flatMap(({ tags }) => tags ?? []))],
            routes: routes.map(({ route }) => route),
          },
          // Words of a closer source than there was before count as if nothing were on record.
          recorded && getCloseness(declarations.map(({ source }) => source)) >= getCloseness(recorded.sources)
            ? recorded.category
            : undefined,
        )
      : null;
  return {
    words,
    category: declared ?? inferred?.category ?? 'Tools',
    inferred,
    routes,
    declarations,
    offered: offering.length > 0,
  };
}

function mergeWords(
  baseUrl: string,
  declarations: readonly Declaration[],
  routes: readonly MergedRoute[],
  recorded: RecordedWords | undefined,
): MergedWords {
  const given = choose(declarations, ({ title }) => (isTitle(title, baseUrl) ? title : null), recorded?.title);
  const known = recorded && isTitle(recorded.title, baseUrl) ? recorded.title : undefined;
  const title = given ?? known ?? getHostTitle(baseUrl, listTexts(declarations));
  const { host } = new URL(baseUrl);
  const providers = declarations.map(({ provider_name }) => provider_name);
  return {
    title,
    is_named: given !== undefined,
    tagline: findTagline(declarations, title) ?? buildTagline(routes.map(({ route }) => route)),
    description: declarations.find(({ description }) => description !== '')?.description ?? '',
    provider_name: providers.find((name) => name !== '' && name !== host) ?? host,
  };
}

/** Finds the first tagline of a source that says something. */
function findTagline(declarations: readonly Declaration[], title: string): string | undefined {
  return declarations.find(({ tagline, base_url }) => isTagline(tagline, title, base_url))?.tagline;
}

/**
 * Chooses what the closest kind of source that has it says: what is on record if one of these sources still says so, else
 * what the freshest of them says.
 */
function choose<Value>(
  declarations: readonly Declaration[],
  get: (declaration: Declaration) => Value | null,
  recorded: Value | undefined,
): Value | undefined {
  const first = declarations.find((declaration) => get(declaration) !== null);
  if (!first) return undefined;
  const equal = declarations.filter(({ source }) => source.kind === first.source.kind).map(get);
  return recorded !== undefined && equal.includes(recorded) ? recorded : (get(first) ?? undefined);
}

function listTexts(declarations: readonly Declaration[]): string[] {
  return declarations.flatMap(({ tagline, description, routes }) => [
    tagline,
    description,
    ...routes.flatMap((route) => [route.description, route.path]),
  ]);
}

/**
 * Returns a declaration of a feed with the words that it lacks and an earlier one of the same feed has: a feed that drops
 * words does not say that they are wrong. Terms, and which routes there are, stay as the declaration has them.
 */
export function keepWords(declaration: Declaration, earlier: Declaration): Declaration {
  const { base_url: baseUrl } = declaration;
  const known = new Map(earlier.routes.map((route) => [getRouteKey(route), route]));
  const tags = declaration.tags?.length ? declaration.tags : earlier.tags;
  return {
    ...declaration,
    service_name: declaration.service_name ?? earlier.service_name,
    title: isTitle(declaration.title, baseUrl) ? declaration.title : earlier.title,
    tagline: declaration.tagline || earlier.tagline,
    description: declaration.description || earlier.description,
    provider_name: isTitle(declaration.provider_name, baseUrl) ? declaration.provider_name : earlier.provider_name,
    category: declaration.category ?? earlier.category,
    docs_url: declaration.docs_url ?? earlier.docs_url,
    mcp_endpoint: declaration.mcp_endpoint ?? earlier.mcp_endpoint,
    ...(tags && { tags }),
    routes: declaration.routes.map((route) => {
      const before = known.get(getRouteKey(route));
      if (!before) return route;
      return {
        ...route,
        description: route.description || before.description,
        mime_type: route.mime_type ?? before.mime_type,
        input_schema: route.input_schema ?? before.input_schema,
        output_schema: route.output_schema ?? before.output_schema,
        example: route.example ?? before.example,
      };
    }),
  };
}

/** Merges the routes by method and path. Texts come from the closest source, prices from the freshest. */
function mergeRoutes(declarations: readonly Declaration[]): MergedRoute[] {
  const stated = declarations.filter(({ source, routes }) => source.kind === 'provider' && routes.length > 0);
  const itemising = stated.length > 0 ? stated : declarations;
  const fresh = itemising.toSorted(compareFreshness);
  const keys = new Set(itemising.flatMap(({ routes }) => routes.map(getRouteKey)));
  const [byCloseness, byFreshness] = [groupMentions(declarations), groupMentions(fresh)];
  return [...keys].sort().flatMap((key) => {
    const mentions = byCloseness.get(key) ?? [];
    const priced = byFreshness.get(key)?.[0];
    const words = mentions[0]?.route;
    if (!priced || !words) return [];
    const route: DeclaredRoute = {
      ...words,
      description: mentions.find(({ route: { description } }) => description)?.route.description ?? '',
      mime_type: mentions.find(({ route: { mime_type } }) => mime_type)?.route.mime_type ?? null,
      input_schema: mentions.find(({ route: { input_schema } }) => input_schema)?.route.input_schema ?? null,
      output_schema: mentions.find(({ route: { output_schema } }) => output_schema)?.route.output_schema ?? null,
      example: mentions.find(({ route: { example } }) => example)?.route.example ?? null,
      terms: priced.route.terms,
    };
    return [{ route, source: priced.source }];
  });
}

/** Groups the declared routes of all sources by method and path, in the order of the sources. */
function groupMentions(sources: readonly Declaration[]): Map<string, MergedRoute[]> {
  const mentions = sources.flatMap(({ routes, source }) => routes.map((route) => ({ route, source })));
  return Map.groupBy(mentions, ({ route }) => getRouteKey(route));
}

function getRouteKey({ path, method }: DeclaredRoute): string {
  return `${path} ${method}`;
}

/** Returns how close the closest of some sources is to the provider: 0 is the provider itself. */
function getCloseness(sources: readonly Declaration['source'][]): number {
  return Math.min(...sources.map(({ kind }) => SOURCE_KINDS.indexOf(kind)));
}

function compareCloseness(a: Declaration, b: Declaration): number {
  const closeness = SOURCE_KINDS.indexOf(a.source.kind) - SOURCE_KINDS.indexOf(b.source.kind);
  return closeness || compareFreshness(a, b);
}

function compareFreshness(a: Declaration, b: Declaration): number {
  const [seenA, seenB] = [a.source.observed_at ?? '', b.source.observed_at ?? ''];
  if (seenA !== seenB) return seenA < seenB ? 1 : -1;
  return a.source.name < b.source.name ? -1 : 1;
}
