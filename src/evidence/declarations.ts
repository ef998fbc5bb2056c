import type { Category } from '../model/category.ts';
import { type Declaration, SOURCE_KINDS } from '../model/declaration.ts';
import type { DeclaredRoute } from '../model/route.ts';
import { type InferredCategory, inferCategory } from './category.ts';

/** A declaration on record; withdrawn when a complete pull of its source no longer held it. */
export interface StandingDeclaration {
  declaration: Declaration;
  withdrawn_at: string | null;
}

/** One route: its words from the source closest to the provider that has them, its terms from the one that saw it last. */
export interface MergedRoute {
  route: DeclaredRoute;
  /** Where the terms were read. */
  source: Declaration['source'];
}

/** What all sources together say of a listing. */
export interface MergedDeclaration {
  words: Declaration;
  category: Category;
  /** How the category was chosen, where no source names one. */
  inferred: InferredCategory | null;
  routes: MergedRoute[];
  /** All that still stand; when none does, all there are. */
  standing: Declaration[];
  /** False when every source has withdrawn the listing. */
  offered: boolean;
}

/**
 * Merges what the sources say of one listing. Words come from the source closest to the provider; the terms of each
 * route from the source that saw it last, so that its price is the freshest on record. Where the provider itself itemises
 * its routes these are all there are, at the prices it states. Throws on an empty list.
 */
export function mergeDeclarations(all: readonly StandingDeclaration[]): MergedDeclaration {
  const active = all.filter(({ withdrawn_at }) => withdrawn_at === null);
  const standing = (active.length > 0 ? active : all).map(({ declaration }) => declaration).toSorted(compareCloseness);
  const [words] = standing;
  if (!words) throw new Error('a listing has at least one declaration');
  const declared = standing.find(({ category }) => category !== null)?.category;
  const routes = mergeRoutes(standing);
  const inferred = declared
    ? null
    : inferCategory({ ...words, routes: routes.map(({ route }) => `${route.path} ${route.description}`) });
  return {
    words,
    category: declared ?? inferred?.category ?? 'Tools',
    inferred,
    routes,
    standing,
    offered: active.length > 0,
  };
}

/** Merges the routes by method and path: what is said of one by closeness, what it costs by freshness. */
function mergeRoutes(standing: readonly Declaration[]): MergedRoute[] {
  const stated = standing.filter(({ source, routes }) => source.kind === 'provider' && routes.length > 0);
  const itemising = stated.length > 0 ? stated : standing;
  const fresh = itemising.toSorted(compareFreshness);
  const keys = new Set(itemising.flatMap(({ routes }) => routes.map(getRouteKey)));
  const [byCloseness, byFreshness] = [groupMentions(standing), groupMentions(fresh)];
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

/** Groups what each source says of its routes by route, in the order of the sources. */
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
