import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { iterateListings, listListingsSince } from '../catalogue/listings.ts';
import { openSettled } from '../catalogue/payment-records.ts';
import { getCatalogueState } from '../catalogue/write.ts';
import { CATEGORIES } from '../model/category.ts';
import type { CatalogueSummary } from '../model/summary.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import type { Site } from '../views/site.ts';
import type { Tombstone } from '../views/tombstone.ts';
import { buildChunks, CHUNK_SIZE, type Chunk, findMember, type Tagged, updateChunks } from './chunks.ts';
import { type BuildTag, type ListingEntry, openListingReader, type ReadListing } from './entry.ts';

/** The public catalogue at one revision. Never changed once made: every surface of one request answers from one of these. */
export interface Snapshot {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest reader-visible change, ISO 8601 UTC. */
  readonly revised_at: string;
  readonly live_listings: number;
  readonly settlement_verified: number;
  /** Live listings in the order of their slugs: see `findEntry` and `listEntries`. */
  readonly chunks: readonly Chunk<ListingEntry>[];
  readonly tombstones: ReadonlyMap<string, Tombstone>;
}

/** Gives the snapshot of the catalogue as it is now. */
export type GetSnapshot = () => Snapshot;

/** The reading of a catalogue as snapshots. */
export interface Snapshots {
  readonly getSnapshot: GetSnapshot;
  /**
   * Reads the catalogue for the first snapshot bit by bit, so that a process that has other things to do does them
   * meanwhile. Without it the first `getSnapshot` reads it all at once. Throws as reading the catalogue does.
   */
  load(): Promise<void>;
}

/** How long loading goes on before others get their turn. */
const TURN_MS = 8;

/**
 * Opens the reading of a catalogue as snapshots. Each call reads the revision; only when it moved are the changed listings
 * read again. Reading revision and listings is one transaction, so a snapshot is of one revision.
 * Without `buildTag` snapshots have no tags.
 */
export function openSnapshots(catalogue: Catalogue, site: Site, buildTag?: BuildTag): Snapshots {
  let current: Snapshot | undefined;
  const readState = catalogue.sqlite.prepare('SELECT revision FROM catalogue').pluck();
  const readListing = openListingReader(site, { buildTag, isSettled: openSettled(catalogue) });
  const read = catalogue.sqlite.transaction((): Snapshot => {
    const state = getCatalogueState(catalogue);
    if (current?.identity === state.identity) {
      return buildNext(state, current, listListingsSince(catalogue, current.revision).map(readListing));
    }
    const first = openFirst();
    for (const listing of iterateListings(catalogue)) first.add(readListing(listing));
    return first.build(state);
  });
  return {
    getSnapshot: () => {
      if (current === undefined || readState.get() !== current.revision) current = read();
      return current;
    },
    load: async () => {
      if (current) return;
      const beside = openCatalogueForReading(catalogue.file);
      try {
        beside.sqlite.exec('BEGIN');
        const state = getCatalogueState(beside);
        const first = openFirst();
        let since = performance.now();
        for (const listing of iterateListings(beside)) {
          first.add(readListing(listing));
          if (performance.now() - since < TURN_MS) continue;
          await nextTurn();
          since = performance.now();
        }
        current ??= first.build(state);
      } finally {
        beside.close();
      }
    },
  };
}

/** Builds the catalogue summary of a snapshot; `generatedAt` is the time of the document that carries it. */
export function buildSummary(snapshot: Snapshot, site: Site, generatedAt: Date): CatalogueSummary {
  return {
    live_listings: snapshot.live_listings,
    settlement_verified: snapshot.settlement_verified,
    categories: [...CATEGORIES],
    generated_at: generatedAt.toISOString(),
    source: buildUrl(site.baseUrl, PATHS.agentList),
  };
}

/** Finds a live listing of a snapshot by its slug. */
export function findEntry({ chunks }: Pick<Snapshot, 'chunks'>, slug: string): ListingEntry | undefined {
  return findMember(chunks, slug);
}

/** Lists the live listings of a snapshot in the order of their slugs. */
export function* listEntries(snapshot: Snapshot): Generator<ListingEntry> {
  for (const { entries } of snapshot.chunks) yield* entries;
}

type State = Pick<Snapshot, 'identity' | 'revision' | 'revised_at'>;

/** Collects the listings of a first snapshot, given in the order of their slugs. */
function openFirst(): { add(listing: ReadListing): void; build(state: State): Snapshot } {
  const chunks: Chunk<ListingEntry>[] = [];
  const tombstones = new Map<string, Tombstone>();
  let run: Tagged<ListingEntry>[] = [];
  let [live_listings, settlement_verified] = [0, 0];
  const cut = () => {
    chunks.push(...buildChunks(run));
    run = [];
  };
  return {
    add({ slug, live, tombstone }) {
      if (tombstone) tombstones.set(slug, tombstone);
      if (!live) return;
      live_listings += 1;
      settlement_verified += Number(live.entry.payment_verified);
      run.push(live);
      if (run.length === CHUNK_SIZE) cut();
    },
    build(state) {
      cut();
      return { ...state, chunks, live_listings, settlement_verified, tombstones };
    },
  };
}

function buildNext(state: State, previous: Snapshot, changed: readonly ReadListing[]): Snapshot {
  const tombstones = new Map(previous.tombstones);
  const changes = new Map<string, Tagged<ListingEntry> | null>();
  let { live_listings, settlement_verified } = previous;
  for (const { slug, live, tombstone } of changed) {
    const before = findEntry(previous, slug);
    live_listings += Number(live !== null) - Number(before !== undefined);
    settlement_verified += Number(live?.entry.payment_verified ?? false) - Number(before?.payment_verified ?? false);
    if (live || before) changes.set(slug, live);
    if (tombstone) tombstones.set(slug, tombstone);
    else tombstones.delete(slug);
  }
  const chunks = updateChunks(previous.chunks, changes);
  return { ...state, chunks, live_listings, settlement_verified, tombstones };
}
