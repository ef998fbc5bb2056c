import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/changes.ts';
import { recordDeclaration, withdrawDeclarations } from '../../src/catalogue/declarations.ts';
import { delistListing, relistListing } from '../../src/catalogue/delisting.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { getCatalogueState, writeCatalogue } from '../../src/catalogue/write.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW, recordVerified } from '../builders.ts';

const FEED = { kind: 'bazaar', name: 'https://feed.example.org', observed_at: '2026-11-10T00:00:00.000Z' } as const;
const CLAIM = { kind: 'manifest', name: 'claim.yaml', observed_at: null } as const;
const SOLANA = makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: null });

function makeRecorder() {
  const catalogue = makeCatalogue();
  return {
    catalogue,
    record: (overrides: Partial<Declaration> = {}, at = NOW) =>
      writeCatalogue(catalogue, at, (writing) => recordDeclaration(writing, makeDeclaration(overrides))),
    withdraw: () => writeCatalogue(catalogue, NOW, (writing) => withdrawDeclarations(writing, FEED, new Set())),
    find: () => findListing(catalogue, { slug: 'example-prices' }),
  };
}

describe('what one source dates', () => {
  it('says nothing for another: a bare claim does not keep a withdrawn feed’s date', () => {
    const { record, withdraw, find } = makeRecorder();
    record({ source: CLAIM });
    expect(find()?.networks[0]).toMatchObject({ advertised: false });
    record({ source: FEED });
    expect(find()?.networks[0]).toMatchObject({ advertised: true, last_seen_at: FEED.observed_at });
    withdraw();
    expect(find()?.networks[0]).toMatchObject({ advertised: false, last_seen_at: null });
  });

  it('leaves the entry of a network that was once offered', () => {
    const { record, withdraw, find } = makeRecorder();
    record({ source: FEED, routes: [makeRoute({ path: '/s', terms: [SOLANA] })] });
    record();
    withdraw();
    expect(find()?.networks.map(({ key, advertised }) => [key, advertised])).toEqual([
      ['base', true],
      ['solana', false],
    ]);
  });
});

describe('the log', () => {
  it('says that a verification went when its route did', () => {
    const { catalogue, record, find } = makeRecorder();
    record();
    recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
    record({ routes: [makeRoute({ path: '/v1/other' })] });
    expect(find()?.routes.some(({ proof }) => proof)).toBe(false);
    expect(listChanges(catalogue, { since: 2 }).map(({ kind, reason }) => [kind, reason])).toContainEqual([
      'unverified',
      'route_removed',
    ]);
  });

  it('gives the latest decisions of a listing when there are more than asked for', () => {
    const { catalogue, record } = makeRecorder();
    for (let edition = 0; edition < 5; edition += 1) record({ tagline: `Edition ${edition}.` });
    expect(listChanges(catalogue, { slug: 'example-prices', limit: 2 }).map(({ revision }) => revision)).toEqual([
      4, 5,
    ]);
  });

  it('never goes back in time, whatever clock a writer brings', () => {
    const { catalogue, record } = makeRecorder();
    record();
    record({ tagline: 'Written by who waited.' }, '2026-11-19T23:59:59.000Z');
    expect(getCatalogueState(catalogue)).toMatchObject({ revision: 2, revised_at: NOW });
  });

  it('counts a held listing as listed from when it first went live', () => {
    const { record, find } = makeRecorder();
    record({ routes: [] });
    const later = '2026-11-21T00:00:00.000Z';
    record({}, later);
    expect(find()).toMatchObject({ state: 'live', listed_at: later });
  });
});

it('a rule lifts only what a rule removed', () => {
  const { catalogue, record, find } = makeRecorder();
  record();
  const delist = (by: 'operator' | 'rule') =>
    writeCatalogue(catalogue, NOW, (writing) => delistListing(writing, 'example-prices', { by, reason: 'test' }));
  const relist = (by: 'operator' | 'rule') =>
    writeCatalogue(catalogue, NOW, (writing) => relistListing(writing, 'example-prices', { by }));
  delist('operator');
  expect([relist('rule'), find()?.state]).toEqual([false, 'delisted']);
  expect([relist('operator'), find()?.state]).toEqual([true, 'live']);
  delist('rule');
  expect([relist('rule'), find()?.state]).toEqual([true, 'live']);
});
