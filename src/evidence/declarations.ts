import type { Category } from '../model/catalogue.ts';
import { type Declaration, SOURCE_KINDS } from '../model/declaration.ts';
import type { DeclaredRoute } from '../model/route.ts';
import { type InferredCategory, inferCategory } from './category.ts';

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

/** What all sources together say about a listing. */
export interface MergedDeclaration {
  words: Declaration;
  category: Category;
  /** How the category was chosen if no source names one; otherwise null. */
  inferred: InferredCategory | null;
  routes: MergedRoute[];
  /** The declarations that are not withdrawn; all of them if every one is withdrawn. */
  declarations: Declaration[];
  /** False if every source has withdrawn the listing. */
  offered: boolean;
}

/**
 * Merges what the sources say about one listing. Texts come from the source closest to the provider. The terms of each
 * route come from the source that saw it last, so that its price is the freshest on record. If the provider itself
 * lists its routes, only those routes and the prices it states are used. Throws on an empty list.
 */
export function mergeDeclarations(all: readonly RecordedDeclaration[]): MergedDeclaration {
  const offering = all.filter(({ withdrawn_at }) => withdrawn_at === null);
  const declarations = (offering.length > 0 ? offering : all)
    .map(({ declaration }) => declaration)
    .toSorted(compareCloseness);
  const [words] = declarations;
  if (!words) throw new Error('a listing has at least one declaration');
  const declared = declarations.find(({ category }) => category !== null)?.category;
  const routes = mergeRoutes(declarations);
  const inferred = declared
    ? null
    : inferCategory({ ...words, routes: routes.map(({ route }) => `${route.path} ${route.description}`) });
  return {
    words,
    category: declared ?? inferred?.category ?? 'Tools',
    inferred,
    routes,
    declarations,
    offered: offering.length > 0,
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

function compareCloseness(a: Declaration, b: Declaration): number {
  const closeness = SOURCE_KINDS.indexOf(a.source.kind) - SOURCE_KINDS.indexOf(b.source.kind);
  return closeness || compareFreshness(a, b);
}

function compareFreshness(a: Declaration, b: Declaration): number {
  const [seenA, seenB] = [a.source.observed_at ?? '', b.source.observed_at ?? ''];
  if (seenA !== seenB) return seenA < seenB ? 1 : -1;
  return a.source.name < b.source.name ? -1 : 1;
}
