import { distance } from 'fastest-levenshtein';
import { isTemplate } from '../model/request.ts';

/**
 * Largest number of segments compared, and of letters of each: providers write paths, and longer ones would only cost
 * time.
 */
const MAX_SEGMENTS = 16;
const MAX_LETTERS = 64;

/** Most routes that are looked through for the one that a caller may have meant: a listing may have thousands. */
export const NEAR_ROUTES = 200;

/** The distance between a template and any segment: nearly nothing, but more than between equal words. */
const TEMPLATE_COST = 0.1;

/**
 * Returns the distance between a called path and that of a route, to find the route that a caller may have meant. Each
 * segment adds from 0 (equal) to 1 (nothing in common, or missing on one side).
 */
export function getPathDistance(route: string, called: string): number {
  const [a, b] = [listSegments(route), listSegments(called)];
  const pairs = Array.from({ length: Math.max(a.length, b.length) }, (_, index) => [a[index], b[index]] as const);
  return pairs.reduce((sum, [segment, given]) => sum + getSegmentDistance(segment, given), 0);
}

function getSegmentDistance(segment: string | undefined, given: string | undefined): number {
  if (segment === undefined || given === undefined) return 1;
  if (isTemplate(`/${segment}`)) return TEMPLATE_COST;
  return distance(segment, given) / Math.max(segment.length, given.length, 1);
}

function listSegments(path: string): string[] {
  const [bare = ''] = path.split('?');
  const segments = bare
    .replace(/\/+$/, '')
    .split('/')
    .slice(1, MAX_SEGMENTS + 1);
  return segments.map((segment) => segment.slice(0, MAX_LETTERS));
}
