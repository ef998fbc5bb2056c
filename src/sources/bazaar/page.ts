import { ServiceError } from '../../errors.ts';
import { isObject } from '../json-value.ts';
import { findMember } from './places.ts';

/** A page as the server says it: raw items, and its own account of the paging where it gives one. */
export interface ServedPage {
  items: unknown[];
  total: number | null;
  /** The number of rows the server looked at for this page, as far as it says. */
  limit: number | null;
}

/**
 * Parses the bytes of a feed page, in all shapes met: `{items, pagination: {total, limit}}`, `{resources, total,
 * limit}`, `{items}`, and a bare array. `subject` names the page in messages. Throws `bad_json`, or `not_a_feed` for
 * JSON without a list of items. Items nested however deeply are taken: one of them must not cost the page.
 */
export function parseFeedPage(bytes: Uint8Array, subject: string): ServedPage {
  const json = parseJson(bytes, subject);
  if (Array.isArray(json)) return { items: json, total: null, limit: null };
  const items = isObject(json) ? [json.items, json.resources].find((list) => Array.isArray(list)) : undefined;
  if (!items) {
    throw new ServiceError('bad_input', `${subject} is JSON, but holds no list of items.`, {
      reason: 'not_a_feed',
      hint: 'A Bazaar feed is an object with "items" or "resources"; its address usually ends in /discovery/resources.',
    });
  }
  return { items, total: findCount(json, 'total'), limit: findCount(json, 'limit') || null };
}

function parseJson(bytes: Uint8Array, subject: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    // SyntaxError: not JSON. TypeError: the bytes are not UTF-8.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1').trimStart()[0];
    const what = start === undefined ? 'empty' : start === '<' ? 'HTML instead of JSON' : 'not JSON';
    throw new ServiceError('bad_input', `${subject} is ${what}.`, {
      reason: 'bad_json',
      hint: 'Open the address or file and see what it really holds.',
    });
  }
}

function findCount(json: unknown, name: 'total' | 'limit'): number | null {
  const counts = [findMember(json, 'pagination', name), findMember(json, name)];
  return counts.find((count): count is number => Number.isSafeInteger(count) && Number(count) >= 0) ?? null;
}
