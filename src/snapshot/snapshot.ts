import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { iterateListings, listListingsSince } from '../catalogue/listings.ts';
import { getCatalogueState } from '../catalogue/write.ts';
import { CATEGORIES } from '../model/category.ts';
import { isLive, type Listing } from '../model/listing.ts';
import type { NetworkKey } from '../model/network.ts';
import type { CatalogueSummary } from '../model/summary.ts';
import { type AgentItem, buildAgentItem } from '../views/agent-item.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import type { Site } from '../views/site.ts';
import { buildListingTag } from '../views/tag.ts';
import { findTombstone, type Tombstone } from '../views/tombstone.ts';
import { listTopics } from '../views/topics.ts';
import { buildChunks, type Chunk, updateChunks } from './chunks.ts';
import { buildPart, joinParts, type Part } from './part.ts';
import { listPayableGroups, type PayableGroup } from './payable.ts';

/** A live listing in memory: its short form, and that and its tag as JSON. */
export interface ListingEntry {
  readonly slug: string;
  /** Catalogue revision of its latest reader-visible change: the key under which anything made of it can be kept. */
  readonly revision: number;
  readonly listed_at: string;
  /** Time of its latest verified payment; null while no route is verified. */
  readonly verified_at: string | null;
  /** Networks on which a route of it is settlement-verified. */
  readonly verified_networks: readonly NetworkKey[];
  /** The words that say what it is about, the telling first. */
  readonly topics: readonly string[];
  /** Its routes that can be paid for, counted by how. */
  readonly payable: readonly PayableGroup[];
  readonly item: AgentItem;
  readonly itemJson: string;
  readonly tag: string;
}

/** The public catalogue at one revision. Never changed once made: every surface of one request answers from one of these. */
export interface Snapshot {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest reader-visible change, ISO 8601 UTC. */
  readonly revised_at: string;
  readonly live_listings: number;
  readonly settlement_verified: number;
  /** Live listings by slug, in the order of their slugs where iterated by chunk. */
  readonly chunks: readonly Chunk<ListingEntry>[];
  readonly bySlug: ReadonlyMap<string, ListingEntry>;
  readonly slugById: ReadonlyMap<string, string>;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  /** All tags of the OpenAPI document, comma-separated. */
  getTags(): Part;
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
 * read again (architecture, decision 2). Reading revision and listings is one transaction, so a snapshot is of one revision.
 */
export function openSnapshots(catalogue: Catalogue, site: Site): Snapshots {
  let current: Snapshot | undefined;
  const readState = catalogue.sqlite.prepare('SELECT revision FROM catalogue').pluck();
  const read = catalogue.sqlite.transaction((): Snapshot => {
    const state = getCatalogueState(catalogue);
    const previous = current?.identity === state.identity ? current : undefined;
    const changed = previous ? listListingsSince(catalogue, previous.revision) : iterateListings(catalogue);
    const read: ReadListing[] = [];
    for (const listing of changed) read.push(readListing(listing, site));
    return buildSnapshot(state, previous, read);
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
        const read: ReadListing[] = [];
        let since = performance.now();
        for (const listing of iterateListings(beside)) {
          read.push(readListing(listing, site));
          if (performance.now() - since < TURN_MS) continue;
          await nextTurn();
          since = performance.now();
        }
        current ??= buildSnapshot(state, undefined, read);
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

/** Lists the live listings of a snapshot in the order of their slugs. */
export function* listEntries(snapshot: Snapshot): Generator<ListingEntry> {
  for (const { entries } of snapshot.chunks) yield* entries;
}

/** A listing as read from the catalogue: what a snapshot keeps of it. */
interface ReadListing {
  readonly slug: string;
  readonly id: string;
  /** Null while it is not live. */
  readonly entry: ListingEntry | null;
  readonly tombstone: Tombstone | undefined;
}

function readListing(listing: Listing, site: Site): ReadListing {
  const { slug, id } = listing;
  return { slug, id, entry: isLive(listing) ? buildEntry(listing, site) : null, tombstone: findTombstone(listing) };
}

function buildSnapshot(
  state: { identity: string; revision: number; revised_at: string },
  previous: Snapshot | undefined,
  changed: readonly ReadListing[],
): Snapshot {
  const bySlug = new Map(previous?.bySlug);
  const slugById = new Map(previous?.slugById);
  const tombstones = new Map(previous?.tombstones);
  const changes = new Map<string, ListingEntry | null>();
  let verified = previous?.settlement_verified ?? 0;
  for (const { slug, id, entry, tombstone } of changed) {
    const before = bySlug.get(slug);
    verified += Number(entry?.item.payment_verified ?? false) - Number(before?.item.payment_verified ?? false);
    if (entry || before) changes.set(slug, entry);
    if (entry) {
      bySlug.set(slug, entry);
      slugById.set(id, slug);
    } else {
      bySlug.delete(slug);
      slugById.delete(id);
    }
    if (tombstone) tombstones.set(slug, tombstone);
    else tombstones.delete(slug);
  }
  const chunks = previous
    ? updateChunks(previous.chunks, changes)
    : buildChunks([...changes.values()].filter((entry) => entry !== null));
  let tags: Part | undefined;
  return {
    ...state,
    live_listings: bySlug.size,
    settlement_verified: verified,
    chunks,
    bySlug,
    slugById,
    tombstones,
    getTags: () => {
      tags ??= joinParts(chunks.flatMap((chunk, index) => (index === 0 ? [chunk.tags] : [COMMA, chunk.tags])));
      return tags;
    },
  };
}

const COMMA = buildPart(',');

function buildEntry(listing: Parameters<typeof buildAgentItem>[0], site: Site): ListingEntry {
  const item = buildAgentItem(listing, site);
  return {
    slug: listing.slug,
    revision: listing.revision,
    listed_at: listing.listed_at,
    verified_at: listing.routes.reduce<string | null>(
      (latest, { proof }) => (proof && (latest === null || proof.verified_at > latest) ? proof.verified_at : latest),
      null,
    ),
    verified_networks: listVerifiedNetworks(listing),
    topics: listTopics(listing),
    payable: listPayableGroups(listing),
    item,
    itemJson: JSON.stringify(item),
    tag: JSON.stringify(buildListingTag(listing, site)),
  };
}

const NO_NETWORKS: readonly NetworkKey[] = [];

/** Most listings have none, and share one empty list. */
function listVerifiedNetworks({ networks }: Listing): readonly NetworkKey[] {
  const verified = networks.filter(({ settlement_verified }) => settlement_verified);
  return verified.length === 0 ? NO_NETWORKS : verified.map(({ key }) => key);
}
