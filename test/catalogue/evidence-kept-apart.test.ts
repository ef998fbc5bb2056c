import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/read/changes.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { getCatalogueState, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing, relistListing } from '../../src/catalogue/write/decisions.ts';
import { withdrawDeclarations } from '../../src/catalogue/write/declarations.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW, recordVerified } from '../builders.ts';
import { listAllChanges } from '../changes.ts';
import { recordDeclaration } from '../written.ts';

const FEED = { kind: 'bazaar', name: 'https://feed.example.org', observed_at: '2026-11-10T00:00:00.000Z' } as const;
const CLAIM = { kind: 'manifest', name: 'claim.yaml', observed_at: null } as const;
const SOLANA = makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: null });

async function makeRecorder() {
  const catalogue = await makeCatalogue();
  return {
    catalogue,
    record: (overrides: Partial<Declaration> = {}, at = NOW) =>
      writeCatalogue(catalogue, at, (writing) => recordDeclaration(writing, makeDeclaration(overrides))),
    withdraw: () => writeCatalogue(catalogue, NOW, (writing) => withdrawDeclarations(writing, FEED, new Set())),
    find: () => findListing(catalogue, { slug: 'example-prices' }),
  };
}

describe('what one source dates', () => {
  it('says nothing for another: a bare claim does not keep a withdrawn feed’s date', async () => {
    const { record, withdraw, find } = await makeRecorder();
    await record({ source: CLAIM });
    expect((await find())?.networks[0]).toMatchObject({ advertised: false });
    await record({ source: FEED });
    expect((await find())?.networks[0]).toMatchObject({ advertised: true, last_seen_at: FEED.observed_at });
    await withdraw();
    expect((await find())?.networks[0]).toMatchObject({ advertised: false, last_seen_at: null });
  });

  it('leaves the entry of a network that was once offered', async () => {
    const { record, withdraw, find } = await makeRecorder();
    await record({ source: FEED, routes: [makeRoute({ path: '/s', terms: [SOLANA] })] });
    await record();
    await withdraw();
    expect((await find())?.networks.map(({ key, advertised }) => [key, advertised])).toEqual([
      ['base', true],
      ['solana', false],
    ]);
  });
});

describe('the log', () => {
  it('says that a verification went when its route did', async () => {
    const { catalogue, record, find } = await makeRecorder();
    await record();
    await recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
    await record({ routes: [makeRoute({ path: '/v1/other' })] });
    expect((await find())?.routes.some(({ proof }) => proof)).toBe(false);
    expect((await listAllChanges(catalogue, 2)).map(({ kind, reason }) => [kind, reason])).toContainEqual([
      'unverified',
      'route_removed',
    ]);
  });

  it('gives the latest decisions of a listing when there are more than asked for', async () => {
    const { catalogue, record } = await makeRecorder();
    for (let edition = 0; edition < 5; edition += 1) await record({ tagline: `Edition ${edition}.` });
    expect((await listChanges(catalogue, 'example-prices', { limit: 2 })).map(({ revision }) => revision)).toEqual([
      4, 5,
    ]);
  });

  it('never goes back in time, whatever clock a writer brings', async () => {
    const { catalogue, record } = await makeRecorder();
    await record();
    await record({ tagline: 'Written by who waited.' }, '2026-11-19T23:59:59.000Z');
    expect(await getCatalogueState(catalogue)).toMatchObject({ revision: 2, revised_at: NOW });
  });

  it('counts a held listing as listed from when it first went live', async () => {
    const { record, find } = await makeRecorder();
    await record({ routes: [] });
    const later = '2026-11-21T00:00:00.000Z';
    await record({}, later);
    expect(await find()).toMatchObject({ state: 'live', listed_at: later });
  });
});

it('a rule lifts only what a rule removed', async () => {
  const { catalogue, record, find } = await makeRecorder();
  await record();
  const delist = (by: 'operator' | 'rule') =>
    writeCatalogue(catalogue, NOW, (writing) => delistListing(writing, 'example-prices', { by, reason: 'test' }));
  const relist = (by: 'operator' | 'rule') =>
    writeCatalogue(catalogue, NOW, (writing) => relistListing(writing, 'example-prices', { by }));
  await delist('operator');
  expect([await relist('rule'), (await find())?.state]).toEqual([false, 'delisted']);
  expect([await relist('operator'), (await find())?.state]).toEqual([true, 'live']);
  await delist('rule');
  expect([await relist('rule'), (await find())?.state]).toEqual([true, 'live']);
});
