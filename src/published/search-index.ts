import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ExpandedRequest, expandRequest, type TermGroup } from '../search/expansion.ts';
import { createInvertedIndex, grow, type InvertedIndex } from '../search/inverted-index.ts';
import { createScoring, type Scores } from '../search/ranking.ts';
import { decodeTerms } from '../search/terms.ts';
import { DIMENSIONS } from '../search/vectors.ts';
import { createFacts, FACTS_COLUMNS, type Facts, type FactsRow } from './facts.ts';
import type { Published } from './file.ts';
import type { Snapshot } from './snapshot.ts';
import { getPublishedState } from './state.ts';

/** Listings read at a time while an index is built. */
const READ_AT_ONCE = 100;

/** Share of replaced documents above which an index is built again. */
const REPLACED_SHARE = 1 / 100;

/** An index of at most this many documents is built again at once, which takes some ten milliseconds. */
const BUILT_AT_ONCE = 1000;

/** The search index in memory, as of one snapshot: the words of the live listings, and the facts that filters read. */
export interface SearchIndex {
  readonly facts: Facts;
  /** The meaning vector of each listing, by its row number. */
  readonly vectors: Int8Array;
  /** Expands a request into terms that the index has. */
  expand(request: string): ExpandedRequest;
  /** Scores all documents. `size` is the number of listings by which the rarity of words is measured. */
  score(groups: readonly TermGroup[], vector: Float64Array, size?: number): Scores;
}

interface KeptIndex extends SearchIndex {
  vectors: Int8Array;
  readonly words: InvertedIndex;
  /** Checksums of the words of each listing, by its row number. */
  readonly checksums: Map<number, string>;
  snapshot: Snapshot | undefined;
  revision: number;
  /** Number of documents that were replaced, or whose listing was removed. */
  replaced: number;
  /** True while another index is being built to replace this one. */
  isReplaced: boolean;
}

const indexOf = new WeakMap<Published['sqlite'], KeptIndex>();

/**
 * Returns the search index of a published catalogue, which is built when first needed. If the snapshot is not that of the last
 * call, changes in between are read first. Call it while the file stays at the revision of the snapshot.
 */
export function getSearchIndex(published: Published, snapshot: Snapshot): SearchIndex {
  const known = indexOf.get(published.sqlite);
  if (known?.snapshot === snapshot) return known;
  if (known) update(published, known);
  const isWorn = known !== undefined && known.replaced > known.words.documents * REPLACED_SHARE;
  const isBuilt = known && !(isWorn && known.words.documents <= BUILT_AT_ONCE);
  const index = isBuilt ? known : buildAtOnce(published);
  index.snapshot = snapshot;
  indexOf.set(published.sqlite, index);
  if (isWorn && isBuilt && !index.isReplaced) {
    index.isReplaced = true;
    // Whatever fails here fails in a request too, which reports it.
    void buildBeside(published).catch(() => (index.isReplaced = false));
  }
  return index;
}

/** Indexes that are being built. */
const buildingOf = new WeakMap<Published['sqlite'], Generator<undefined, KeptIndex>>();

/** Builds the search index of a published catalogue that has none yet, as `buildBeside` does. */
export async function prepareSearchIndex(published: Published): Promise<void> {
  if (!indexOf.has(published.sqlite)) await buildBeside(published);
}

/** Builds a search index while other requests are answered. A request that needs one builds the rest of it at once. */
async function buildBeside(published: Published): Promise<void> {
  const { sqlite } = published;
  const building = build(published);
  buildingOf.set(sqlite, building);
  // Another file may replace this one meanwhile.
  try {
    while (published.sqlite === sqlite && buildingOf.get(sqlite) === building) {
      const step = building.next();
      if (step.done) {
        indexOf.set(sqlite, step.value);
        return;
      }
      await nextTurn();
    }
  } finally {
    if (buildingOf.get(sqlite) === building) buildingOf.delete(sqlite);
  }
}

function buildAtOnce(published: Published): KeptIndex {
  const building = buildingOf.get(published.sqlite) ?? build(published);
  buildingOf.delete(published.sqlite);
  for (let step = building.next(); ; step = building.next()) {
    if (!step.done) continue;
    // The building may have begun before the latest change.
    update(published, step.value);
    return step.value;
  }
}

/** A row of a live listing with its words and its meaning vector. */
interface IndexedRow extends FactsRow {
  readonly terms: string;
  readonly vector: Buffer;
}

const SELECT = `SELECT ${FACTS_COLUMNS}, terms, vector FROM listings JOIN search_entries ON listing = number`;

/** Builds an index, some listings per step. Changes made meanwhile are read by the next update. */
function* build(published: Published): Generator<undefined, KeptIndex> {
  const index = createIndex(getPublishedState(published).revision);
  const rows = published.prepare<IndexedRow>(`${SELECT} WHERE number > ? ORDER BY number LIMIT ${READ_AT_ONCE}`);
  for (let last = 0; ; ) {
    const some = rows.all(last);
    for (const row of some) put(index, row);
    if (some.length < READ_AT_ONCE) return index;
    last = some.at(-1)?.number ?? last;
    yield;
  }
}

function createIndex(revision: number): KeptIndex {
  const facts = createFacts();
  const words = createInvertedIndex();
  const score = createScoring(words);
  return {
    facts,
    words,
    revision,
    vectors: new Int8Array(1024 * DIMENSIONS),
    checksums: new Map(),
    snapshot: undefined,
    replaced: 0,
    isReplaced: false,
    expand: (request) => expandRequest(request, { ...words, size: facts.getSize() }),
    score: (groups, vector, size = facts.getSize()) => score(groups, vector, size),
  };
}

/** Reads the changes since the last update of an index. */
function update(published: Published, index: KeptIndex): void {
  const changed = published
    .prepare<{ number: number; state: string }>('SELECT number, state FROM listings WHERE revision > ?')
    .all(index.revision);
  const read = published.prepare<IndexedRow>(`${SELECT} WHERE number = ?`);
  for (const { number, state } of changed) {
    const row = state === 'live' ? read.get(number) : undefined;
    if (row) put(index, row);
    else if (index.checksums.delete(number)) {
      index.replaced += index.words.counts[number] as number;
      index.words.remove(number);
      index.facts.remove(number);
    }
  }
  index.revision = getPublishedState(published).revision;
}

/** Adds a listing, or replaces it. Its words are indexed again only if they changed. */
function put(index: KeptIndex, row: IndexedRow): void {
  const { number, terms, vector } = row;
  const before = index.facts.get(number);
  const checksum = createHash('sha1').update(terms).digest('base64url');
  const isKnown = before !== undefined && index.checksums.get(number) === checksum;
  if (!isKnown) {
    index.replaced += index.words.counts[number] ?? 0;
    index.words.put(number, decodeTerms(terms));
  }
  index.facts.put(row, index.words.firsts[number] as number);
  if (isKnown) return;
  index.checksums.set(number, checksum);
  const end = (number + 1) * DIMENSIONS;
  if (end > index.vectors.length) index.vectors = grow(index.vectors, end - 1);
  index.vectors.fill(0, end - DIMENSIONS, end);
  index.vectors.set(new Int8Array(vector), end - DIMENSIONS);
}
