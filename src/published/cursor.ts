import { crc32 } from 'node:zlib';
import { ServiceError } from '../errors.ts';
import { type Plan, WEIGHT_STEP } from '../search/plan.ts';
import { getRoutesLimit, type RoutesQuery } from '../views/listing/query.ts';

/** Where a page starts, and by what plan the words of the request were weighed when the first page was made. */
export interface Cursor {
  /**
   * The sort key and the slug of the last entry shown; slugs settle even keys, and positions those of routes of one listing.
   */
  readonly after: { readonly key: number; readonly slug: string; readonly position?: number };
  readonly plan: Plan;
  /** The match below which listings were weak then, where these come last, and the number of listings by which it was measured. */
  readonly leastMatch?: number;
  readonly size?: number;
}

/** Writes a cursor as text that travels in an address. */
export function buildCursor({ after, plan, leastMatch, size }: Cursor, query: object, sort: string): string {
  const { key, slug, position } = after;
  const parts = [
    key,
    slug,
    getQueryKey(query, sort),
    formatPlan(plan),
    position ?? null,
    leastMatch ?? null,
    size ?? null,
  ];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Reads a cursor. Throws `bad_input` (`bad_cursor`) for one of another query or none at all. */
export function parseCursor(cursor: string, query: object, sort: string): Cursor {
  const refuse = (cause?: unknown) =>
    new ServiceError('bad_input', 'The cursor is not one of this query.', {
      hint: 'Send next_cursor as it came, with the same filters, or leave cursor out to start at the first page.',
      reason: 'bad_cursor',
      cause,
    });
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch (error) {
    throw refuse(error);
  }
  if (!Array.isArray(parsed)) throw refuse();
  const [key, slug, queryKey, plan, position = null, leastMatch = null, size = null] = parsed as unknown[];
  if (typeof key !== 'number' || typeof slug !== 'string' || queryKey !== getQueryKey(query, sort)) throw refuse();
  if (typeof plan !== 'string' || !PLAN_TEXT.test(plan)) throw refuse();
  if (position !== null && !Number.isSafeInteger(position)) throw refuse();
  if (leastMatch !== null && typeof leastMatch !== 'number') throw refuse();
  if (size !== null && !Number.isSafeInteger(size)) throw refuse();
  return {
    after: { key, slug, ...(position !== null && { position: position as number }) },
    plan: parsePlan(plan),
    ...(leastMatch !== null && { leastMatch }),
    ...(size !== null && { size: size as number }),
  };
}

/** Which routes of a listing are asked for: how many come before them and before the next ones, and the cursor of these. */
export interface RoutesPart {
  readonly from: number;
  readonly to: number;
  readonly buildNext: () => string;
}

/** Reads which routes of a listing are asked for. Throws as `parseCursor` does. */
export function readRoutesPart(query: RoutesQuery, slug: string): RoutesPart {
  const { cursor, q } = query;
  const asked = { slug, ...(q !== undefined && { q }) };
  const from = cursor === undefined ? 0 : parseCursor(cursor, asked, 'routes').after.key;
  const to = from + getRoutesLimit(query);
  return { from, to, buildNext: () => buildCursor({ after: { key: to, slug }, plan: [] }, asked, 'routes') };
}

/** Names what must stay the same from page to page, briefly. */
function getQueryKey(query: object, sort: string): string {
  const filters = Object.entries({ ...query, sort }).filter(([name]) => !['cursor', 'limit', 'facets'].includes(name));
  const entries = filters.sort(([a], [b]) => (a < b ? -1 : 1));
  return crc32(JSON.stringify(entries)).toString(36);
}

/** Each term is its steps of weight in two characters and its word's number; terms of a group follow commas, groups dots. */
const PLAN_TEXT = /^([0-9a-z]{3,8}([,.][0-9a-z]{3,8})*)?$/;
const BASE = 36;

function formatPlan(plan: Plan): string {
  return plan
    .map((group) =>
      group
        .map(({ word, weight }) => {
          const steps = Math.round(weight / WEIGHT_STEP).toString(BASE);
          return `${steps.padStart(2, '0')}${word.toString(BASE)}`;
        })
        .join(','),
    )
    .join('.');
}

function parsePlan(text: string): Plan {
  if (text === '') return [];
  return text.split('.').map((group) =>
    group.split(',').map((term) => ({
      word: Number.parseInt(term.slice(2), BASE),
      weight: Number.parseInt(term.slice(0, 2), BASE) * WEIGHT_STEP,
    })),
  );
}
