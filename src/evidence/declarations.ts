import type { Category } from '../model/category.ts';
import { type Declaration, SOURCE_KINDS } from '../model/declaration.ts';
import type { DeclaredRoute } from '../model/route.ts';
import { type InferredCategory, inferCategory } from './category.ts';

/** A declaration on record; withdrawn when a complete pull of its source no longer held it. */
export interface StandingDeclaration {
  declaration: Declaration;
  withdrawn_at: string | null;
}

/** One route as its most recent source declares it. */
export interface MergedRoute {
  route: DeclaredRoute;
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
 * Merges what the sources say of one listing. Words come from the source closest to the provider; each route from the
 * source that saw it last, so that its price is the freshest on record. Throws on an empty list.
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

function mergeRoutes(standing: readonly Declaration[]): MergedRoute[] {
  const byRoute = new Map<string, MergedRoute>();
  for (const { routes, source } of standing.toSorted(compareFreshness)) {
    for (const route of routes) {
      const key = `${route.path} ${route.method}`;
      if (!byRoute.has(key)) byRoute.set(key, { route, source });
    }
  }
  return [...byRoute].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, merged]) => merged);
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
