import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { findDelisting } from '../../src/catalogue/read/delistings.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { getRevision, type Writing, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing, keepAddressOut, letAddressIn, relistListing } from '../../src/catalogue/write/decisions.ts';
import { makeCatalogue, makeDeclaration, NOW } from '../builders.ts';
import { listAllChanges } from '../changes.ts';
import { recordDeclaration } from '../written.ts';

const SLUG = 'example-prices';
const BASE = 'https://api.prices.example-provider.com';
const FILE = `${BASE}/.well-known/agent-payable.json`;
const WISH = { source: FILE, evidence: { statement: { source: FILE, read_at: NOW } } };

async function write<Result>(
  catalogue: Catalogue,
  work: (writing: Writing) => Result | Promise<Result>,
): Promise<Result> {
  return await writeCatalogue(catalogue, NOW, work);
}

async function makeListed(): Promise<Catalogue> {
  const catalogue = await makeCatalogue();
  await write(catalogue, (writing) => recordDeclaration(writing, makeDeclaration()));
  return catalogue;
}

async function stateOf(catalogue: Catalogue): Promise<unknown> {
  const { state, state_by, state_reason } = (await findListing(catalogue, { slug: SLUG })) ?? {};
  return state === 'delisted' ? [state, state_by, state_reason] : state;
}

const delist = (catalogue: Catalogue, by: 'operator' | 'provider' | 'rule', reason = `by ${by}`) =>
  write(catalogue, (writing) => delistListing(writing, SLUG, { by, reason }));
const relist = (catalogue: Catalogue, by: 'operator' | 'provider' | 'rule') =>
  write(catalogue, (writing) => relistListing(writing, SLUG, { by }));

describe('decisions of several deciders', () => {
  it.each([
    [['rule', 'provider'], 'provider', ['delisted', 'rule', 'by rule']],
    [['provider', 'rule'], 'provider', ['delisted', 'rule', 'by rule']],
    [['provider', 'rule'], 'rule', ['delisted', 'provider', 'by provider']],
    [['operator', 'provider'], 'provider', ['delisted', 'operator', 'by operator']],
    [['provider', 'operator'], 'provider', ['delisted', 'operator', 'by operator']],
    [['operator', 'provider'], 'rule', ['delisted', 'operator', 'by operator']],
    [['rule'], 'provider', ['delisted', 'rule', 'by rule']],
    [['operator'], 'provider', ['delisted', 'operator', 'by operator']],
    [['operator', 'provider', 'rule'], 'operator', 'live'],
    [['provider'], 'provider', 'live'],
    [['rule'], 'rule', 'live'],
  ] as const)('%j, then lifted by the %s: %j', async (deciders, lifter, expected) => {
    const catalogue = await makeListed();
    for (const by of deciders) await delist(catalogue, by);
    await relist(catalogue, lifter);
    expect(await stateOf(catalogue)).toEqual(expected);
  });

  it('show the operator before the provider before a rule, and a hidden one changes nothing readers see', async () => {
    const catalogue = await makeListed();
    expect(await delist(catalogue, 'rule')).toBe(true);
    expect(await delist(catalogue, 'provider')).toBe(true);
    expect(await delist(catalogue, 'operator')).toBe(true);
    expect(await stateOf(catalogue)).toEqual(['delisted', 'operator', 'by operator']);
    const revision = await getRevision(catalogue);
    expect(await relist(catalogue, 'rule')).toBe(false);
    expect(await delist(catalogue, 'operator', 'again')).toBe(false);
    expect(await getRevision(catalogue)).toBe(revision);
  });
});

describe('an address that its provider wants kept out', () => {
  const keepOut = (catalogue: Catalogue, reason = 'Not for agents.') =>
    write(catalogue, (writing) => keepAddressOut(writing, BASE, { ...WISH, reason }));

  it('loses its listing, with the words and the statement on record', async () => {
    const catalogue = await makeListed();
    expect(await keepOut(catalogue)).toBe(true);
    expect(await stateOf(catalogue)).toEqual(['delisted', 'provider', 'Not for agents.']);
    expect(await listAllChanges(catalogue, 1)).toMatchObject([
      {
        kind: 'delisted',
        reason: 'delisted_by_provider',
        detail: { by: 'provider', words: 'Not for agents.', evidence: WISH.evidence },
      },
    ]);
    expect(await keepOut(catalogue)).toBe(false);
    expect(await keepOut(catalogue, 'Moved away.')).toBe(true);
    expect(await stateOf(catalogue)).toEqual(['delisted', 'provider', 'Moved away.']);
  });

  it('gets a tombstone instead of a listing when a source brings it later, and the listing once let in', async () => {
    const catalogue = await makeCatalogue();
    expect(await keepOut(catalogue)).toBe(false);
    expect(await getRevision(catalogue)).toBe(0);
    const source = { kind: 'bazaar', name: 'https://feed.example.org', observed_at: NOW } as const;
    const { outcome } = await write(catalogue, (writing) => recordDeclaration(writing, makeDeclaration({ source })));
    expect(outcome).toBe('delisted');
    expect(await stateOf(catalogue)).toEqual(['delisted', 'provider', 'Not for agents.']);
    expect((await listAllChanges(catalogue))[0]).toMatchObject({
      kind: 'delisted',
      reason: 'delisted_by_provider',
      detail: { evidence: { statement: { source: FILE, read_at: NOW } } },
    });
    expect(await write(catalogue, (writing) => letAddressIn(writing, BASE, WISH))).toBe(true);
    expect(await stateOf(catalogue)).toBe('live');
    expect(await listAllChanges(catalogue, 1)).toMatchObject([{ kind: 'relisted', reason: 'relisted_by_provider' }]);
  });

  it('is let in by the operator too, whatever the spelling of the address', async () => {
    const catalogue = await makeListed();
    await write(catalogue, (writing) =>
      keepAddressOut(writing, `${BASE.toUpperCase().replace('HTTPS', 'https')}/`, { ...WISH, reason: 'No.' }),
    );
    expect(await findDelisting(catalogue, BASE, 'provider')).toMatchObject({ reason: 'No.', source: FILE, at: NOW });
    await relist(catalogue, 'operator');
    expect([await stateOf(catalogue), await findDelisting(catalogue, BASE, 'provider')]).toEqual(['live', undefined]);
  });

  it('that was never kept out is let in without a trace', async () => {
    const catalogue = await makeListed();
    expect(await write(catalogue, (writing) => letAddressIn(writing, BASE, WISH))).toBe(false);
    expect(await getRevision(catalogue)).toBe(1);
  });
});
