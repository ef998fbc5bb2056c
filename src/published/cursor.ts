import { crc32 } from 'node:zlib';
import { ServiceError } from '../errors.ts';
import type { TermGroup } from '../search/expansion.ts';
import { getRoutesLimit, type RoutesQuery } from '../views/listing/query.ts';

/** The position at which a page starts, and the weights that the words of the request had on the first page. */
export interface Cursor {
  /**
   * The sort key and the slug of the last entry shown. The slug decides between equal keys, the position between routes of one
   * listing.
   */
  readonly after: { readonly key: number; readonly slug: string; readonly position?: number };
  readonly groups?: readonly TermGroup[];
  /**
   * The match below which listings counted as weak on the first page, in orders that put weak ones last; and the number of
   * listings by which rarity was measured.
   */
  readonly leastMatch?: number;
  readonly size?: number;
}

/**
 * The characters between the parts of a cursor, and between the terms of a group. Parts never contain the first, stems never the
 * second.
 */
const SEPARATOR = '~';
const TERM_SEPARATOR = '.';

/** Weights are written in hundredths, as two digits in base 36. */
const BASE = 36;
const WEIGHT_DIGITS = 2;

/** Most terms that a cursor may carry: more than any request has. It bounds the work of a cursor that somebody made up. */
const TERMS_MAX = 110;

/** Writes a cursor as text for an address. Its words are kept readable, since a model reads those as few tokens. */
export function buildCursor({ after, groups = [], leastMatch, size }: Cursor, query: object, sort: string): string {
  const { key, slug, position } = after;
  const parts = [key, slug, getQueryKey(query, sort), position ?? '', leastMatch ?? '', size ?? ''];
  return [...parts, ...groups.map((group) => group.map(formatTerm).join(TERM_SEPARATOR))].join(SEPARATOR);
}

function formatTerm({ stem, weight }: TermGroup[number]): string {
  return `${stem}${Math.round(100 * weight)
    .toString(BASE)
    .padStart(WEIGHT_DIGITS, '0')}`;
}

/** Parses a cursor. Throws `bad_input` (`bad_cursor`) for a text that is no cursor, or is one of another query. */
export function parseCursor(cursor: string, query: object, sort: string): Cursor {
  const [key, slug, queryKey, position = '', leastMatch = '', size = '', ...groups] = cursor.split(SEPARATOR);
  const numbers = [key, position, leastMatch, size].map((text) => (text ? Number(text) : undefined));
  const isRead =
    key &&
    slug !== undefined &&
    queryKey === getQueryKey(query, sort) &&
    numbers.every((number) => number === undefined || Number.isFinite(number)) &&
    // The key of these two orders is the number of entries before it.
    [position, size, ...(['resources', 'routes'].includes(sort) ? [key] : [])].every((text) => /^\d{0,15}$/.test(text));
  const read = groups.map((group) => group.split(TERM_SEPARATOR).flatMap((term) => parseTerm(term) ?? []));
  if (
    !isRead ||
    read.some((group) => group.length === 0 || new Set(group.map(({ stem }) => stem)).size < group.length) ||
    read.flat().length > TERMS_MAX
  ) {
    throw new ServiceError('bad_input', 'The cursor is not one of this query.', {
      hint: 'Send next_cursor as it came, with the same filters, or leave cursor out to start at the first page.',
      reason: 'bad_cursor',
    });
  }
  const [lastKey = 0, lastPosition, least, ofSize] = numbers;
  return {
    after: { key: lastKey, slug, ...(lastPosition !== undefined && { position: lastPosition }) },
    groups: read,
    ...(least !== undefined && { leastMatch: least }),
    ...(ofSize !== undefined && { size: ofSize }),
  };
}

function parseTerm(term: string): TermGroup[number] | undefined {
  const weight = Number.parseInt(term.slice(-WEIGHT_DIGITS), BASE) / 100;
  return term.length > WEIGHT_DIGITS && weight > 0 ? { stem: term.slice(0, -WEIGHT_DIGITS), weight } : undefined;
}

/**
 * The part of a listing's routes that is asked for: the number of routes before it and up to its end, and the cursor of the next
 * part.
 */
export interface RoutesPart {
  readonly from: number;
  readonly to: number;
  readonly buildNext: () => string;
}

/** Reads the part of a listing's routes that a query asks for. Throws as `parseCursor` does. */
export function readRoutesPart(query: RoutesQuery, slug: string): RoutesPart {
  const { cursor, q } = query;
  const asked = { slug, ...(q !== undefined && { q }) };
  const from = cursor === undefined ? 0 : parseCursor(cursor, asked, 'routes').after.key;
  const to = from + getRoutesLimit(query);
  return { from, to, buildNext: () => buildCursor({ after: { key: to, slug } }, asked, 'routes') };
}

/** Returns a short key of everything that must stay the same from page to page. */
function getQueryKey(query: object, sort: string): string {
  const filters = Object.entries({ ...query, sort }).filter(([name]) => !['cursor', 'limit', 'facets'].includes(name));
  const entries = filters.sort(([a], [b]) => (a < b ? -1 : 1));
  return crc32(JSON.stringify(entries)).toString(36);
}
