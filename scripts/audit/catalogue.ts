import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { publishSampled } from '../../src/catalogue/publish-samples.ts';
import { recordReceipt } from '../../src/catalogue/record-receipt.ts';
import { recordSample } from '../../src/catalogue/record-sample.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { seedCatalogue } from '../../src/commands/import-manifests.ts';
import type { Listing } from '../../src/model/listing.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { getRouteUrl, type Route } from '../../src/model/route.ts';
import { buildSample, buildShown, PAY_TO, SHOWN_SLUG } from './shown.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Enough for a reliability band and a plot of weeks. */
const PROBES = 60;
const PROBE_EVERY_MS = 8 * HOUR_MS;

/**
 * Creates the catalogue that is audited: the listings of the seed, and one with everything that a page can show, such as many
 * routes, receipts, and weeks of probes with failures and a changed price. Its evidence is invented.
 */
export async function createAuditedCatalogue(file: string, now: Date): Promise<void> {
  const begin = now.getTime() - (PROBES + 1) * PROBE_EVERY_MS;
  const getTime = (probes: number) => new Date(begin + probes * PROBE_EVERY_MS).toISOString();
  const catalogue = openCatalogue(file, { identity: randomUUID(), at: getTime(0) });
  try {
    await seedCatalogue(catalogue, join(import.meta.dirname, '../../data/listings'), () => new Date(begin));
    writeCatalogue(catalogue, getTime(0), (writing) => recordDeclaration(writing, buildShown(getTime(0))));
    recordPaid(catalogue, getTime(1));
    for (let number = 1; number <= PROBES; number += 1) recordProbe(catalogue, number, getTime(number));
  } finally {
    catalogue.close();
  }
}

function findShown(catalogue: Catalogue): { listing: Listing; routes: Route[] } {
  const listing = findListing(catalogue, { slug: SHOWN_SLUG });
  if (!listing) throw new Error(`the listing ${SHOWN_SLUG} was not recorded`);
  return { listing, routes: listing.routes };
}

/** Records one probe. They take the routes in turn, as the service does. */
function recordProbe(catalogue: Catalogue, number: number, at: string): void {
  const { listing, routes } = findShown(catalogue);
  const route = routes[number % routes.length];
  if (!route) throw new Error(`the listing ${SHOWN_SLUG} has no routes`);
  const url = getRouteUrl(listing.base_url, route.path);
  const taken = { listing_id: listing.id, route_id: route.id, host: new URL(url).origin };
  writeCatalogue(catalogue, at, (writing) => {
    recordSample(writing, taken, buildSample({ at, url, number, terms: route.terms }), at);
    publishSampled(writing, 1, { fresh: true });
  });
}

function recordPaid(catalogue: Catalogue, at: string): void {
  const { listing, routes } = findShown(catalogue);
  for (const [index, { id, method, path }] of routes.slice(0, 2).entries()) {
    const request = { method, url: getRouteUrl(listing.base_url, path), headers: {}, body: null, hash: 'a'.repeat(64) };
    writeCatalogue(catalogue, at, (writing) =>
      recordReceipt(writing, {
        ...{ id: randomUUID(), route_id: id, network: 'base', asset: NETWORKS.base.usdc, amount: 1000, request },
        ...{ payer: `0x${'2'.repeat(40)}`, pay_to: PAY_TO, transaction: `0x${`${index}e`.repeat(32)}` },
        ...{ genesis: NETWORKS.base.genesis, settled_at: at, settled: true, delivered: true, conforming: 'undeclared' },
        ...{ unrecognised: null, correction: null },
      }),
    );
  }
}
