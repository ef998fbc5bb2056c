import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordReceipt } from '../../src/catalogue/write/receipts.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { isLive, type LiveListing } from '../../src/model/listing.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { ListingPage } from '../../src/views/listing/page.ts';
import { buildPublicListing, type PublicListing } from '../../src/views/listing/record.ts';
import { makeCatalogue, makeDeclaration, NOW } from '../builders.ts';
import { SITE } from '../site.ts';
import { recordDeclaration } from '../written.ts';

/** Makes a listing as the catalogue publishes it; `verified` is the path of a route that was paid for, at its own price. */
export async function makeLiveListing(
  declaration: Declaration = makeDeclaration(),
  { verified, amount, ceiling }: { verified?: string; amount?: number; ceiling?: number } = {},
): Promise<LiveListing> {
  const catalogue = await makeCatalogue();
  const { identity } = await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, declaration));
  const route = (await findListing(catalogue, identity))?.routes.find(({ path }) => path === verified);
  const offer = route?.terms[0];
  if (route && offer) {
    const receipt = {
      id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
      route_id: route.id,
      network: offer.network,
      asset: offer.asset,
      amount: amount ?? offer.amount,
      ...(ceiling !== undefined && { ceiling }),
      payer: '0x2222222222222222222222222222222222222222',
      pay_to: offer.pay_to ?? '',
      transaction: `0x${'ab'.repeat(32)}`,
      genesis: NETWORKS.base.genesis,
      request: null,
      settled_at: '2026-11-19T08:00:00.000Z',
      settled: true,
      delivered: true,
      conforming: 'undeclared' as const,
      unrecognised: null,
      correction: null,
    };
    await writeCatalogue(catalogue, NOW, (writing) => recordReceipt(writing, receipt));
  }
  const listing = await findListing(catalogue, identity);
  if (!listing || !isLive(listing)) throw new Error('the listing is not live');
  return listing;
}

/** Gives a listing as readers have it. */
export function toPublic(listing: LiveListing): PublicListing {
  return buildPublicListing(listing, SITE);
}

/** Makes a listing as readers have it; see `makeLiveListing`. */
export async function makePublicListing(...made: Parameters<typeof makeLiveListing>): Promise<PublicListing> {
  return toPublic(await makeLiveListing(...made));
}

/** Makes what the page of a listing is made of; it has nothing around it where nothing is given. */
export function makePage(listing: PublicListing, around: Partial<ListingPage> = {}): ListingPage {
  return {
    ...{ kind: 'live', listing, related: [], same_product: [], receipts: new Map(), number: 1 },
    ...{ priced: [], decisions: [], ...around },
  };
}
