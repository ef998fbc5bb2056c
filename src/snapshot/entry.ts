import { isLive, type Listing, type LiveListing } from '../model/listing.ts';
import type { NetworkKey } from '../model/network.ts';
import { type AgentItem, buildAgentItem } from '../views/agent-item.ts';
import type { Site } from '../views/site.ts';
import type { ListingTag } from '../views/tag.ts';
import { findTombstone, type Tombstone } from '../views/tombstone.ts';
import { listTopics } from '../views/topics.ts';
import type { Tagged } from './chunks.ts';
import { createInterning } from './interning.ts';
import { listPayableGroups, type PayableGroup } from './payable.ts';

/**
 * A live listing in memory: its short form as JSON, and of that and of the listing what is looked at to find, order and
 * count without reading either.
 */
export interface ListingEntry
  extends Readonly<
    Pick<
      AgentItem,
      | 'slug'
      | 'category'
      | 'price_min_usdc'
      | 'payment_verified'
      | 'reliability_band'
      | 'reliability_score'
      | 'updated_at'
    >
  > {
  /** Catalogue revision of its latest reader-visible change: the key under which anything made of it can be kept. */
  readonly revision: number;
  readonly listed_at: string;
  /** Time of its latest verified payment; null while no route is verified. */
  readonly verified_at: string | null;
  /** Networks on which payment is currently advertised. */
  readonly networks: readonly NetworkKey[];
  /** Networks on which a route of it is settlement-verified. */
  readonly verified_networks: readonly NetworkKey[];
  /** Provider's name in lower case. */
  readonly provider: string;
  /** The words that say what it is about, the telling first. */
  readonly topics: readonly string[];
  /** Its routes that can be paid for, counted by how. */
  readonly payable: readonly PayableGroup[];
  /** Its current receipts by their ids: those that its routes name, as far as the payments are on record here. */
  readonly receipts: readonly string[];
  readonly itemJson: string;
}

/** Gives the short form of a listing. */
export function parseItem({ itemJson }: Pick<ListingEntry, 'itemJson'>): AgentItem {
  return JSON.parse(itemJson);
}

/** A listing as read from the catalogue: what a snapshot keeps of it. */
export interface ReadListing {
  readonly slug: string;
  /** Null while it is not live. */
  readonly live: Tagged<ListingEntry> | null;
  readonly tombstone: Tombstone | undefined;
}

/** Builds the tag of a listing in the OpenAPI document. */
export type BuildTag = (listing: LiveListing, site: Site) => ListingTag;

/**
 * Opens the making of what a snapshot keeps of a listing. What many listings share is kept once. `isSettled` says whether
 * the payment of a receipt is on record.
 */
export function openListingReader(
  site: Site,
  { buildTag, isSettled }: { buildTag?: BuildTag | undefined; isSettled: (receiptId: string) => boolean },
): (listing: Listing) => ReadListing {
  const interning = createInterning();
  const build = (listing: LiveListing): Tagged<ListingEntry> => {
    const item = buildAgentItem(listing, site);
    const { slug, category, networks, price_min_usdc, payment_verified, provider_name } = item;
    const entry = {
      ...{ slug, category, price_min_usdc, payment_verified },
      networks: interning.list(networks),
      reliability_band: item.reliability_band,
      reliability_score: item.reliability_score,
      updated_at: interning.text(item.updated_at),
      revision: listing.revision,
      listed_at: interning.text(listing.listed_at),
      verified_at: item.last_verified_at,
      verified_networks: interning.list(listVerifiedNetworks(listing)),
      provider: interning.text(provider_name.toLowerCase()),
      topics: listTopics(listing).map(interning.text),
      payable: listPayableGroups(listing),
      receipts: listReceiptIds(listing).filter(isSettled),
      itemJson: JSON.stringify(item),
    };
    return { entry, tag: buildTag ? JSON.stringify(buildTag(listing, site)) : '' };
  };
  return (listing) => {
    return { slug: listing.slug, live: isLive(listing) ? build(listing) : null, tombstone: findTombstone(listing) };
  };
}

/** Lists the receipts that a listing names, each once: what proves its routes, what speaks against them, what was corrected. */
function listReceiptIds({ routes, corrections }: Listing): string[] {
  const named = routes.flatMap(({ proofs, undelivered }) => [
    ...proofs.map(({ receipt_id }) => receipt_id),
    ...(undelivered ? [undelivered.receipt_id] : []),
  ]);
  return [...new Set([...named, ...corrections.map(({ receipt_id }) => receipt_id)])];
}

function listVerifiedNetworks({ networks }: Listing): NetworkKey[] {
  return networks.filter(({ settlement_verified }) => settlement_verified).map(({ key }) => key);
}
