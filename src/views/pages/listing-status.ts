import type { Category } from '../../model/catalogue.ts';
import type { LiveListing } from '../../model/listing.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { getVerification } from '../agent-item.ts';
import { formatCount, formatPrimaryNetwork, formatVerification } from '../description.ts';

/** The status line of a listing page, part by part in its order (specification, "Listing page"). */
export interface ListingStatus {
  /** `1 of 2 routes settlement-verified, 2026-11-20` or `unverified`. */
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

/** Builds the status line of a listing. */
export function buildStatus(listing: LiveListing): ListingStatus {
  return {
    verification: formatVerification(getVerification(listing)),
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
