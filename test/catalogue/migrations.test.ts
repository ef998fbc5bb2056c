import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { openCatalogue, openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { buildMigrations } from '../../src/catalogue/migrations/index.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { getCatalogueState } from '../../src/catalogue/transaction.ts';
import { deriveAgain } from '../../src/catalogue/write/publication.ts';
import { listing as listingSchema } from '../../src/model/listing.ts';
import { networkKey } from '../../src/model/network.ts';
import { IDENTITY, NOW } from '../builders.ts';
import { ANY_CLOCK } from '../new-catalogue.ts';
import { makeKept } from './kept.ts';

const NAMES = Object.keys(buildMigrations({ words: { text: '', integer: '', counted: '', strict: '' } }));
it.each(NAMES)('opens a catalogue of %s as it was kept, and derives its listings again', async (name) => {
  const catalogue = await openCatalogue(makeKept(name), { identity: '', at: NOW }, ANY_CLOCK);
  try {
    await deriveAgain(catalogue, NOW);
    const listings = (await listListings(catalogue)).map((listing) => listingSchema.parse(listing));
    expect(listings.map(({ slug, state }) => `${slug} ${state}`)).toEqual([
      'example-prices live',
      'example-tides delisted',
    ]);
    expect(await getCatalogueState(catalogue)).toMatchObject({ identity: IDENTITY });
    expect(await listStaleListings(catalogue)).toEqual([]);
    expect(catalogue.engine.listFaults()).toEqual([]);
    // A network that is added to the table needs a migration that lets older catalogues take it.
    const setNetwork = catalogue.engine.sqlite.prepare('UPDATE terms SET network = ?');
    for (const key of networkKey.options) expect(() => setNetwork.run(key)).not.toThrow();
  } finally {
    await catalogue.close();
  }
});

it.each([
  ['newer', "INSERT INTO kysely_migration VALUES ('999-later', '2026-12-01T00:00:00.000Z')", /newer/],
  ['of before the first release', 'DROP TABLE kysely_migration', /unreleased/],
])('refuses a catalogue that is %s, and says what to do', async (_, change, message) => {
  const file = makeKept(NAMES.at(-1) ?? '');
  const sqlite = new Sqlite(file);
  sqlite.exec(change);
  sqlite.close();
  const refusal = { reason: 'schema_version', message: expect.stringMatching(message), hint: expect.any(String) };
  await expect(openCatalogue(file, { identity: '', at: NOW })).rejects.toMatchObject(refusal);
  await expect(openCatalogueForReading(file)).rejects.toMatchObject(refusal);
});
