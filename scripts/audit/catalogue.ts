import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { publishSampled } from '../../src/catalogue/write/probed.ts';
import { recordReceipt } from '../../src/catalogue/write/receipts.ts';
import { recordSample } from '../../src/catalogue/write/samples.ts';
import { seedCatalogue } from '../../src/importing/manifests.ts';
import type { Listing } from '../../src/model/listing.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { getRouteUrl, type Route } from '../../src/model/route.ts';
import { buildSample, buildShown, PAY_TO, SHOWN_SLUG } from './shown.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Number of probes: enough for a reliability band and a plot of weeks. */
const PROBES = 60;
const PROBE_EVERY_MS = 8 * HOUR_MS;

/**
 * Creates the catalogue that is audited: the listings of the seed, and one with everything that a page can show, such as many
 * routes, receipts, and weeks of probes with failures and a changed price. Its evidence is invented.
 */
export async function createAuditedCatalogue(file: string, now: Date): Promise<void> {
  const begin = now.getTime() - (PROBES + 1) * PROBE_EVERY_MS;
  const getTime = (probes: number) => new Date(begin + probes * PROBE_EVERY_MS).toISOString();
  const catalogue = await openCatalogue(file, { identity: randomUUID(), at: getTime(0) });
  try {
    await seedCatalogue(catalogue, join(import.meta.dirname, '../../data/listings'), () => new Date(begin));
    await writeCatalogue(catalogue, getTime(0), (writing) => recordDeclarations(writing, [buildShown(getTime(0))]));
    await recordPaid(catalogue, getTime(1));
    for (let number = 1; number <= PROBES; number += 1) await recordProbe(catalogue, number, getTime(number));
  } finally {
    await catalogue.close();
  }
}

async function findShown(catalogue: Catalogue): Promise<{ listing: Listing; routes: Route[] }> {
  const listing = await findListing(catalogue, { slug: SHOWN_SLUG });
  if (!listing) throw new Error(`the listing ${SHOWN_SLUG} was not recorded`);
  return { listing, routes: listing.routes };
}

/** Records one probe. Probes take the routes in turn, as the service does. */
async function recordProbe(catalogue: Catalogue, number: number, at: string): Promise<void> {
  const { listing, routes } = await findShown(catalogue);
  const route = routes[number % routes.length];
  if (!route) throw new Error(`the listing ${SHOWN_SLUG} has no routes`);
  const url = getRouteUrl(listing.base_url, route.path);
  const taken = { listing_id: listing.id, route_id: route.id, host: new URL(url).origin, prober: 'audit' };
  await writeCatalogue(catalogue, at, async (writing) => {
    await recordSample(writing, taken, buildSample({ at, url, number, terms: route.terms }), at);
    await publishSampled(writing, 1, { fresh: true });
  });
}

async function recordPaid(catalogue: Catalogue, at: string): Promise<void> {
  const { listing, routes } = await findShown(catalogue);
  for (const [index, { id, method, path }] of routes.slice(0, 2).entries()) {
    const request = { method, url: getRouteUrl(listing.base_url, path), headers: {}, body: null, hash: 'a'.repeat(64) };
    await writeCatalogue(catalogue, at, (writing) =>
      recordReceipt(writing, {
        id: randomUUID(),
        route_id: id,
        network: 'base',
        asset: NETWORKS.base.usdc,
        amount: 1000,
        request,
        payer: `0x${'2'.repeat(40)}`,
        pay_to: PAY_TO,
        transaction: `0x${`${index}e`.repeat(32)}`,
        genesis: NETWORKS.base.genesis,
        settled_at: at,
        settled: true,
        delivered: true,
        conforming: 'undeclared',
        unrecognised: null,
        correction: null,
      }),
    );
  }
}
