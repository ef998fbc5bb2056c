import { describe, expect, it } from 'vitest';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { listChanges } from '../../src/catalogue/read/changes.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing, relistListing } from '../../src/catalogue/write/decisions.ts';
import { withdrawDeclarations } from '../../src/catalogue/write/declarations.ts';
import { recordReceipt } from '../../src/catalogue/write/receipts.ts';
import { NETWORKS, type NetworkKey } from '../../src/model/network.ts';
import { describeDecision } from '../../src/views/words/decision.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { listAllChanges } from '../changes.ts';
import { recordDeclaration } from '../written.ts';

describe('recording a declaration', () => {
  it('publishes a live listing at one new revision, and the same again changes nothing', async () => {
    const catalogue = await makeCatalogue();
    const record = () => writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    expect((await record()).outcome).toBe('added');
    const first = await findListing(catalogue, { slug: 'example-prices' });
    expect(first).toMatchObject({ state: 'live', price_min: 1000, price_max: 1000, revision: 1, category: 'Finance' });
    expect(first?.networks).toEqual([
      expect.objectContaining({ key: 'base', advertised: true, last_seen_at: '2026-11-01T00:00:00.000Z' }),
    ]);
    expect((await record()).outcome).toBe('unchanged');
    expect(await getRevision(catalogue)).toBe(1);
    expect(await findListing(catalogue, { slug: 'example-prices' })).toEqual(first);
    expect((await listAllChanges(catalogue)).map(({ kind }) => kind)).toEqual(['listed', 'categorised', 'priced']);
  });

  it('keeps the price that was and records the change when a source asks another', async () => {
    const catalogue = await makeCatalogue();
    await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    const dearer = makeDeclaration({ routes: [makeRoute({ terms: [makeTerms({ amount: 2000 })] })] });
    const { outcome } = await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, dearer));
    expect(outcome).toBe('changed');
    const terms = (await findListing(catalogue, { slug: 'example-prices' }))?.routes[0]?.terms;
    expect(terms?.map(({ amount, current }) => [amount, current])).toEqual([
      [1000, false],
      [2000, true],
    ]);
    expect((await listAllChanges(catalogue, 1)).find(({ kind }) => kind === 'priced')?.detail).toEqual({
      from: { min: 1000, max: 1000 },
      to: { min: 2000, max: 2000 },
    });
  });

  it('holds a listing without a price and gives a colliding slug the id behind it', async () => {
    const catalogue = await makeCatalogue();
    const held = await writeCatalogue(catalogue, NOW, (writing) =>
      recordDeclaration(writing, makeDeclaration({ routes: [] })),
    );
    expect(held.outcome).toBe('held');
    const other = makeDeclaration({ base_url: 'https://other.example-provider.com' });
    const { identity } = await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, other));
    expect(identity.slug).toMatch(/^example-prices-[0-9a-f]{8}$/);
  });

  it('moves the primary network with what is declared, and records that', async () => {
    const catalogue = await makeCatalogue();
    const declare = (networks: NetworkKey[]) =>
      writeCatalogue(catalogue, NOW, (writing) =>
        recordDeclaration(
          writing,
          makeDeclaration({
            source: { kind: 'manifest', name: 'x.yaml', observed_at: null },
            ...{ routes: [], networks, price: { min: 1000, max: 1000 } },
          }),
        ),
      );
    await declare(['solana']);
    expect((await findListing(catalogue, { slug: 'example-prices' }))?.primary_network).toBe('solana');
    await declare(['base']);
    expect((await findListing(catalogue, { slug: 'example-prices' }))?.primary_network).toBe('base');
    const latest = (await listChanges(catalogue, 'example-prices')).at(-1);
    expect(latest && describeDecision(latest).what).toBe(
      'Networks: Base declared, Solana no longer declared, shown under Base',
    );
    expect(await listStaleListings(catalogue)).toEqual([]);
  });

  it('takes the advertisement away when a complete pull no longer holds the listing', async () => {
    const catalogue = await makeCatalogue();
    const source = { kind: 'bazaar', name: 'https://feed.example.org', observed_at: NOW } as const;
    await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration({ source })));
    const gone = await writeCatalogue(catalogue, NOW, (writing) => withdrawDeclarations(writing, source, new Set()));
    expect(gone).toEqual(['example-prices']);
    expect((await findListing(catalogue, { slug: 'example-prices' }))?.networks[0]).toMatchObject({
      advertised: false,
      last_seen_at: null,
    });
  });
});

describe('delisting', () => {
  it('leaves a tombstone that no import lifts, and relisting does', async () => {
    const catalogue = await makeCatalogue();
    const record = () => writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    await record();
    await writeCatalogue(catalogue, NOW, (writing) =>
      delistListing(writing, 'example-prices', { by: 'operator', reason: 'asked_by_provider' }),
    );
    expect((await record()).outcome).toBe('delisted');
    await writeCatalogue(catalogue, NOW, (writing) => relistListing(writing, 'example-prices', { by: 'operator' }));
    expect((await findListing(catalogue, { slug: 'example-prices' }))?.state).toBe('live');
  });
});

describe('recording a receipt', () => {
  it('makes that route alone settlement-verified', async () => {
    const catalogue = await makeCatalogue();
    const two = makeDeclaration({ routes: [makeRoute(), makeRoute({ path: '/v1/other' })] });
    await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, two));
    const route = (await findListing(catalogue, { slug: 'example-prices' }))?.routes[0];
    const receipt = {
      id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
      route_id: route?.id ?? '',
      network: 'base' as const,
      asset: makeTerms().asset,
      amount: 1000,
      payer: '0x2222222222222222222222222222222222222222',
      pay_to: makeTerms().pay_to ?? '',
      transaction: `0x${'ab'.repeat(32)}`,
      genesis: NETWORKS.base.genesis,
      request: null,
      settled_at: NOW,
      settled: true,
      delivered: true,
      conforming: 'undeclared' as const,
      unrecognised: null,
      correction: null,
    };
    expect(await writeCatalogue(catalogue, NOW, (writing) => recordReceipt(writing, receipt))).toBe(true);
    const listing = await findListing(catalogue, { slug: 'example-prices' });
    expect(listing?.routes.map(({ verification }) => verification)).toEqual(['settlement-verified', 'unverified']);
    expect(listing?.networks[0]).toMatchObject({ settlement_verified: true, last_verified_at: NOW });
    expect((await listAllChanges(catalogue, 1)).map(({ kind }) => kind)).toEqual(['verified', 'cleared', 'networked']);
    expect(await writeCatalogue(catalogue, NOW, (writing) => recordReceipt(writing, receipt))).toBe(false);
  });
});
