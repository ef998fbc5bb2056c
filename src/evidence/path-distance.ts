import { getDistance } from '../model/nearest.ts';
import { isTemplate } from '../model/path-template.ts';

/** Segments that are compared, and letters of each: more of a provider's making would only cost time. */
const MAX_SEGMENTS = 16;
const MAX_LETTERS = 64;

/** What a template counts that stands where the other path has a segment: nearly nothing, but more than the same word. */
const TEMPLATE_COST = 0.1;

/**
 * Gives how far a called path is from that of a route, to find what a caller may have meant: for each segment from 0 (the
 * same) to 1 (nothing alike, or only on one side).
 */
export function getPathDistance(route: string, called: string): number {
  const [a, b] = [listSegments(route), listSegments(called)];
  const pairs = Array.from({ length: Math.max(a.length, b.length) }, (_, index) => [a[index], b[index]] as const);
  return pairs.reduce((sum, [segment, given]) => sum + getSegmentDistance(segment, given), 0);
}

function getSegmentDistance(segment: string | undefined, given: string | undefined): number {
  if (segment === undefined || given === undefined) return 1;
  if (isTemplate(`/${segment}`)) return TEMPLATE_COST;
  return getDistance(segment, given) / Math.max(segment.length, given.length, 1);
}

function listSegments(path: string): string[] {
  const [bare = ''] = path.split('?');
  const segments = bare
    .replace(/\/+$/, '')
    .split('/')
    .slice(1, MAX_SEGMENTS + 1);
  return segments.map((segment) => segment.slice(0, MAX_LETTERS));
}
