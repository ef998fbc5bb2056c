import { listPayableTerms } from '../evidence/terms.ts';
import type { Listing } from '../model/listing.ts';
import type { NetworkKey } from '../model/network.ts';

/** Where and to whom a payment goes, and by what scheme. */
export interface PayableOffer {
  readonly network: NetworkKey;
  readonly scheme: string;
  readonly pay_to: string;
}

/** Routes of one listing that are paid for in the same ways: nearly always all of them. */
export interface PayableGroup {
  readonly offers: readonly PayableOffer[];
  readonly count: number;
}

/** Groups the routes of a listing that can be paid for by how: enough to count and to skip them without reading them. */
export function listPayableGroups({ routes }: Pick<Listing, 'routes'>): PayableGroup[] {
  const groups = new Map<string, { offers: PayableOffer[]; count: number }>();
  for (const route of routes) {
    const offers = listPayableTerms(route).map(({ network, scheme, pay_to }) => ({ network, scheme, pay_to }));
    if (offers.length === 0) continue;
    const key = JSON.stringify(offers);
    const group = groups.get(key);
    if (group) group.count += 1;
    else groups.set(key, { offers, count: 1 });
  }
  return [...groups.values()];
}

/** Counts the routes of which at least one offer matches. */
export function countPayable(groups: readonly PayableGroup[], isMatch: (offer: PayableOffer) => boolean): number {
  return groups.reduce((sum, { offers, count }) => (offers.some(isMatch) ? sum + count : sum), 0);
}
