import { createHash } from 'node:crypto';
import type { GuardedClient } from '../fetching/client.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { isObject } from '../model/json.ts';
import type { SourceKind } from '../model/source.ts';
import type { FindingCode } from './findings.ts';

/** The format of a paged feed: its pages, the key of an item, and the declarations of all its items. */
export interface FeedFormat {
  readonly kind: SourceKind;
  /**
   * Yields the feed page by page to its end. A file is one page. Throws ServiceErrors.
   */
  readonly pull: (options: FeedPullOptions) => AsyncIterable<FeedPage>;
  /** Returns the key of a raw item: items with the same key in one pull are one. Never throws. */
  readonly getItemKey: (raw: unknown) => string;
  /** Builds the declarations of all items of a pull, in any order. Never throws, whatever the items hold. */
  readonly buildDeclarations: (items: readonly unknown[], options: FeedOptions) => FeedDeclarations;
}

export interface FeedPullOptions {
  /** The feed's http(s) address, or a file with one page. */
  address: string;
  /** Fetches the pages of an address. A file needs none. */
  client?: Pick<GuardedClient, 'fetch'> | undefined;
  signal?: AbortSignal | undefined;
}

/** One page of a pull. */
export interface FeedPage {
  /** The items as they came, including those that came before in this pull. */
  items: unknown[];
  /** Number of items the feed says it has. */
  total: number | null;
  /** Set on the last page. `complete` says whether all items of the feed were seen. */
  end: { complete: boolean } | null;
}

export interface FeedOptions {
  /** The feed's name on record, as `getUniqueSourceName` gives it. */
  feed: string;
  /** Time the feed was pulled, ISO 8601 UTC. Later dates of items are corrected to it. */
  pulledAt: string;
  /** True for a saved file: only the dates of its items say when they were seen, and not when it was read. */
  isFile?: boolean | undefined;
  allowPrivateNetworks: boolean;
}

/** The result of one item. */
export type ItemOutcome =
  | { name: string; outcome: 'taken'; base_url: string }
  | { name: string; outcome: 'duplicate' }
  | { name: string; outcome: 'refused'; code: FindingCode };

export interface FeedDeclarations {
  /** One for each listing, sorted by base address. */
  declarations: Declaration[];
  /** Sorted by item and code. Each refused item has exactly one `refused` finding. */
  findings: Finding[];
  /** One for each item, in the given order. */
  outcomes: ItemOutcome[];
}

/** Nesting at which a raw item is cut, so that no code that walks it overflows its stack. */
const MAX_DEPTH = 200;

/** Returns the SHA-256 of a raw item in hexadecimal, the same for any order of its keys. Never throws. */
export function getItemHash(raw: unknown): string {
  return createHash('sha256')
    .update(formatRawItem(sortKeys(raw, 0)))
    .digest('hex');
}

/**
 * Writes a raw item as JSON text for the record. Values nested deeper than 200 levels are replaced by a note. Never
 * throws.
 */
export function formatRawItem(raw: unknown): string {
  return JSON.stringify(cutRawItem(raw)) ?? 'null';
}

/** Copies a raw item as JSON can hold it, with a note in place of what is nested too deeply. Never throws. */
export function cutRawItem(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '(nested too deeply)';
  if (Array.isArray(value)) return value.map((item) => cutRawItem(item, depth + 1));
  // Even a key such as `__proto__` is plain data then, as in `JSON.parse`.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutRawItem(member, depth + 1)]));
}

function sortKeys(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => sortKeys(item, depth + 1));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [key, sortKeys(member, depth + 1)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
