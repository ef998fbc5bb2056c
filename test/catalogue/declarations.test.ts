import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/changes.ts';
import { recordDeclaration, withdrawDeclarations } from '../../src/catalogue/declarations.ts';
import { delistListing, relistListing } from '../../src/catalogue/delisting.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { recordReceipt } from '../../src/catalogue/record-receipt.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/write.ts';
import { NETWORKS, type NetworkKey } from '../../src/model/network.ts';
import { describeDecision } from '../../src/views/words/decision.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';

describe('recording a declaration', () => {
  it('publishes a live listing at one new revision, and the same again changes nothing', () => {
    const catalogue = makeCatalogue();
    const record = () => writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    expect(record().outcome).toBe('added');
    const first = findListing(catalogue, { slug: 'example-prices' });
    expect(first).toMatchObject({ state: 'live', price_min: 1000, price_max: 1000, revision: 1, category: 'Finance' });
    expect(first?.networks).toEqual([
      expect.objectContaining({ key: 'base', advertised: true, last_seen_at: '2026-11-01T00:00:00.000Z' }),
    ]);
    expect(record().outcome).toBe('unchanged');
    expect(getRevision(catalogue)).toBe(1);
    expect(findListing(catalogue, { slug: 'example-prices' })).toEqual(first);
    expect(listChanges(catalogue, {}).map(({ kind }) => kind)).toEqual(['listed', 'categorised', 'priced']);
  });

  it('keeps the price that was and records the change when a source asks another', () => {
    const catalogue = makeCatalogue();
    writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    const dearer = makeDeclaration({ routes: [makeRoute({ terms: [makeTerms({ amount: 2000 })] })] });
    const { outcome } = writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, dearer));
    expect(outcome).toBe('changed');
    const terms = findListing(catalogue, { slug: 'example-prices' })?.routes[0]?.terms;
    expect(terms?.map(({ amount, current }) => [amount, current])).toEqual([
      [1000, false],
      [2000, true],
    ]);
    expect(listChanges(catalogue, { since: 1 }).find(({ kind }) => kind === 'priced')?.detail).toEqual({
      from: { min: 1000, max: 1000 },
      to: { min: 2000, max: 2000 },
    });
  });

  it('holds a listing without a price and gives a colliding slug the id behind it', () => {
    const catalogue = makeCatalogue();
    const held = writeCatalogue(catalogue, NOW, (writing) =>
      recordDeclaration(writing, makeDeclaration({ routes: [] })),
    );
    expect(held.outcome).toBe('held');
    const other = makeDeclaration({ base_url: 'https://other.example-provider.com' });
    const { identity } = writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, other));
    expect(identity.slug).toMatch(/^example-prices-[0-9a-f]{8}$/);
  });

  it('moves the primary network with what is declared, and records that', () => {
    const catalogue = makeCatalogue();
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
    declare(['solana']);
    expect(findListing(catalogue, { slug: 'example-prices' })?.primary_network).toBe('solana');
    declare(['base']);
    expect(findListing(catalogue, { slug: 'example-prices' })?.primary_network).toBe('base');
    const latest = listChanges(catalogue, { slug: 'example-prices' }).at(-1);
    expect(latest && describeDecision(latest).what).toBe('Networks: shown under Base');
    expect(listStaleListings(catalogue)).toEqual([]);
  });

  it('takes the advertisement away when a complete pull no longer holds the listing', () => {
    const catalogue = makeCatalogue();
    const source = { kind: 'bazaar', name: 'https://feed.example.org', observed_at: NOW } as const;
    writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration({ source })));
    const gone = writeCatalogue(catalogue, NOW, (writing) => withdrawDeclarations(writing, source, new Set()));
    expect(gone).toEqual(['example-prices']);
    expect(findListing(catalogue, { slug: 'example-prices' })?.networks[0]).toMatchObject({
      advertised: false,
      last_seen_at: null,
    });
  });
});

describe('delisting', () => {
  it('leaves a tombstone that no import lifts, and relisting does', () => {
    const catalogue = makeCatalogue();
    const record = () => writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    record();
    writeCatalogue(catalogue, NOW, (writing) =>
      delistListing(writing, 'example-prices', { by: 'operator', reason: 'asked_by_provider' }),
    );
    expect(record().outcome).toBe('delisted');
    writeCatalogue(catalogue, NOW, (writing) => relistListing(writing, 'example-prices', { by: 'operator' }));
    expect(findListing(catalogue, { slug: 'example-prices' })?.state).toBe('live');
  });
});

describe('recording a receipt', () => {
  it('makes that route alone settlement-verified', () => {
    const catalogue = makeCatalogue();
    const two = makeDeclaration({ routes: [makeRoute(), makeRoute({ path: '/v1/other' })] });
    writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, two));
    const route = findListing(catalogue, { slug: 'example-prices' })?.routes[0];
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
    expect(writeCatalogue(catalogue, NOW, (writing) => recordReceipt(writing, receipt))).toBe(true);
    const listing = findListing(catalogue, { slug: 'example-prices' });
    expect(listing?.routes.map(({ verification }) => verification)).toEqual(['settlement-verified', 'unverified']);
    expect(listing?.networks[0]).toMatchObject({ settlement_verified: true, last_verified_at: NOW });
    expect(listChanges(catalogue, { since: 1 }).map(({ kind }) => kind)).toEqual(['verified', 'cleared', 'networked']);
    expect(writeCatalogue(catalogue, NOW, (writing) => recordReceipt(writing, receipt))).toBe(false);
  });
});
