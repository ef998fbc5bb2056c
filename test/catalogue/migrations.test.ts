import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { MIGRATIONS } from '../../src/catalogue/migrations/index.ts';
import { listSamples } from '../../src/catalogue/samples.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { listing as listingSchema } from '../../src/model/listing.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { IDENTITY, makeCatalogue, makeDeclaration, makeFolder, makeRoute, makeTerms, NOW } from '../builders.ts';
import { recordProbed } from '../sampled.ts';

/** How many migrations come before the one from which on samples say how long the answer took. */
const LATENCY = 14;

/** Makes a catalogue as the first schema had it, with a listing that has routes. */
function makeFirstSchema(file: string, declaration: Declaration): void {
  const now = makeCatalogue();
  writeCatalogue(now, NOW, (writing) => recordDeclaration(writing, declaration));
  const listing = findListing(now, { slug: 'example-prices' });
  if (!listing) throw new Error('no listing');
  const { primary_network: _primary, latency: _latency, ...document } = listing;
  const { days: _days, method: _method, ...reliability } = listing.reliability;
  const routes = listing.routes.map(({ payee: _payee, probe: _probe, undelivered: _undelivered, ...route }) => route);
  const first = new Sqlite(file);
  first.exec(MIGRATIONS[0] ?? '');
  first.pragma('user_version = 1');
  first.prepare('INSERT INTO catalogue VALUES (1, ?, 1, ?)').run(IDENTITY, NOW);
  for (const table of ['declarations', 'routes']) copyRows(now.sqlite, first, table, ['payee', 'probed_at']);
  const columns = { id: listing.id, slug: listing.slug, base_url: listing.base_url };
  first
    .prepare("INSERT INTO listings VALUES (1, @id, @slug, @base_url, 'live', 0, 1, @document)")
    .run({ ...columns, document: JSON.stringify({ ...document, reliability, routes }) });
  first.close();
}

function copyRows(from: Sqlite.Database, to: Sqlite.Database, table: string, without: string[]): void {
  to.pragma('foreign_keys = OFF');
  for (const row of from.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[]) {
    const kept = Object.entries(row).filter(([name]) => !without.includes(name));
    const marks = kept.map(() => '?').join();
    to.prepare(`INSERT INTO ${table} (${kept.map(([name]) => name).join()}) VALUES (${marks})`).run(
      ...kept.map(([, value]) => value),
    );
  }
}

it.each(['base', 'solana'] as const)(
  'brings a catalogue of the first schema up to date, listings on %s with it',
  (network) => {
    const file = join(makeFolder(), 'first.sqlite');
    const routes = [makeRoute({ terms: [makeTerms({ network, asset: NETWORKS[network].usdc })] })];
    makeFirstSchema(file, makeDeclaration({ routes }));
    const catalogue = openCatalogue(file, { identity: IDENTITY, at: NOW });
    try {
      const listing = listingSchema.parse(findListing(catalogue, { slug: 'example-prices' }));
      expect(listing.routes).toHaveLength(1);
      expect(listing.routes[0]).toMatchObject({ payee: null, probe: null, undelivered: null });
      expect(listing.reliability).toMatchObject({ days: [], method: 1 });
      expect(listing.primary_network).toBe(network);
      const again = makeDeclaration({ routes, title: 'Example Prices, renamed' });
      writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, again));
      expect(findListing(catalogue, { slug: 'example-prices' })).toMatchObject({ title: 'Example Prices, renamed' });
      expect(listStaleListings(catalogue)).toEqual([]);
    } finally {
      catalogue.close();
    }
  },
);

it('keeps the samples of a catalogue that did not measure how long answers took', () => {
  const now = makeCatalogue();
  writeCatalogue(now, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
  recordProbed(now, 'example-prices', [{ at: NOW }]);
  const file = join(makeFolder(), 'before.sqlite');
  const before = new Sqlite(file);
  before.exec(MIGRATIONS.slice(0, LATENCY).join(''));
  before.pragma(`user_version = ${LATENCY}`);
  for (const table of ['catalogue', 'listings', 'declarations', 'routes', 'terms', 'samples', 'probe_targets']) {
    copyRows(now.sqlite, before, table, ['latency_ms']);
  }
  before.exec("UPDATE listings SET document = json_remove(document, '$.latency', '$.routes[0].probe.latency')");
  before.close();
  const catalogue = openCatalogue(file, { identity: IDENTITY, at: NOW });
  try {
    const listing = listingSchema.parse(findListing(catalogue, { slug: 'example-prices' }));
    expect([listing.latency, listing.routes[0]?.probe]).toMatchObject([null, { at: NOW, latency: null }]);
    const [kept, ...others] = listSamples(catalogue, listing.id, 10);
    expect([kept, others]).toMatchObject([{ at: NOW, duration_ms: 120, latency_ms: null }, []]);
    expect(listStaleListings(catalogue)).toEqual([]);
  } finally {
    catalogue.close();
  }
});
