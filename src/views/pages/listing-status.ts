import type { Category } from '../../model/category.ts';
import type { LiveListing } from '../../model/listing.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { formatCount, formatPrimaryNetwork, formatVerifiedRatio } from '../description.ts';

/** The status line of a listing page, part by part in its order (specification, "Listing page"). */
export interface ListingStatus {
  /** `Settlement-verified (1 of 2 routes verified)` or `Unverified`. */
  readonly verification: string;
  /** `0.001-0.05 USDC per request`. */
  readonly price: string;
  /** `2 endpoints`. */
  readonly endpoints: string;
  readonly category: Category;
  /** The networks advertised, the primary one first: `Base, Solana`. */
  readonly network: string;
  /** The payment protocol: `x402`. */
  readonly protocol: string;
}

/** Builds the status line of a listing; `verified`: whether at least one of its routes is. */
export function buildStatus(listing: LiveListing, verified: boolean): ListingStatus {
  return {
    verification: verified ? `Settlement-verified (${formatVerifiedRatio(listing)})` : 'Unverified',
    price: `${formatPriceRange(listing.price_min, listing.price_max)} USDC per request`,
    endpoints: formatCount(listing.routes.length, 'endpoint'),
    category: listing.category,
    network: formatNetworks(listing),
    protocol: 'x402',
  };
}

function formatNetworks(listing: LiveListing): string {
  const others = listing.networks.filter(({ key, advertised }) => advertised && key !== listing.primary_network);
  return [formatPrimaryNetwork(listing), ...others.map(({ label }) => label)].join(', ');
}
