import { ServiceError } from '../../errors.ts';
import { parseJsonBody } from '../../fetching/json.ts';
import { isObject } from '../json-value.ts';
import { noteUnknownFields, parseEntry, type ReadWish, type StatementContext } from './entry.ts';
import { MAX_LISTINGS, providerFile } from './schema.ts';

/** Largest statement read, in bytes. */
const MAX_STATEMENT_BYTES = 64 * 1024;

/** The wishes of a statement, and whether every entry of it could be read. */
export interface ReadStatement {
  wishes: ReadWish[];
  /** Entries that the list holds. */
  entries: number;
  is_whole: boolean;
}

/**
 * Parses the bytes of a statement: its wishes, those that cannot be taken left out with a finding each. Returns
 * `absent` where something else stands there (a page, or JSON that is no statement), `unreadable` where it cannot be
 * read. Never throws for what the bytes hold.
 */
export function parseStatement(
  bytes: Uint8Array,
  context: StatementContext,
): ReadStatement | { absent: string } | 'unreadable' {
  const refuse = context.findings.openItem(context.url).refuse;
  const start = Buffer.from(bytes.subarray(0, 256)).toString('latin1').trimStart();
  if (start === '') return { absent: 'empty' };
  if (start.startsWith('<')) return { absent: 'html_page' };
  if (bytes.byteLength > MAX_STATEMENT_BYTES) {
    refuse('provider_file_too_large');
    return 'unreadable';
  }
  const json = parseJson(bytes, context);
  if (json === undefined) return 'unreadable';
  if (!isObject(json) || (json.listings === undefined && json.version === undefined)) {
    return { absent: 'another_document' };
  }
  if (json.version !== 1 || !Array.isArray(json.listings)) {
    refuse('provider_file_bad_value', 'The statement is to have "version": 1 and a list "listings".');
    return 'unreadable';
  }
  noteUnknownFields(json, providerFile.shape, '', context);
  if (json.listings.length > MAX_LISTINGS) {
    refuse('provider_file_bad_value', `listings has more than ${MAX_LISTINGS} entries; only the first were read.`);
  }
  const entries: unknown[] = json.listings.slice(0, MAX_LISTINGS);
  const wishes = entries.flatMap((raw, index) => parseEntry(raw, `listings[${index}]`, context) ?? []);
  const { length } = json.listings;
  return { wishes: listDistinct(wishes, context), entries: length, is_whole: wishes.length === length };
}

function parseJson(bytes: Uint8Array, { url, findings }: StatementContext): unknown {
  try {
    return parseJsonBody(bytes, null, 'The statement holds');
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    findings.openItem(url).refuse('provider_file_unreadable', error.message);
    return undefined;
  }
}

function listDistinct(wishes: readonly ReadWish[], { url, findings }: StatementContext): ReadWish[] {
  const byAddress = new Map<string, ReadWish>();
  for (const wish of wishes) {
    const { base_url, where } = wish;
    const first = byAddress.get(base_url);
    if (!first) byAddress.set(base_url, wish);
    else {
      const message = `${where}: base_url: ${base_url} is that of ${first.where} already, which counts.`;
      findings.openItem(url).refuse('provider_duplicate_listing', message);
    }
  }
  return [...byAddress.values()];
}
