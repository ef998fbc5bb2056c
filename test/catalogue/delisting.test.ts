import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/changes.ts';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { delistListing, keepAddressOut, letAddressIn, relistListing } from '../../src/catalogue/delisting.ts';
import { findDelisting } from '../../src/catalogue/delisting-record.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { MIGRATIONS } from '../../src/catalogue/migrations/index.ts';
import { getRevision, type Writing, writeCatalogue } from '../../src/catalogue/write.ts';
import { IDENTITY, makeCatalogue, makeDeclaration, makeFolder, NOW } from '../builders.ts';

const SLUG = 'example-prices';
const BASE = 'https://api.prices.example-provider.com';
const FILE = `${BASE}/.well-known/agent-payable.json`;
const WISH = { source: FILE, evidence: { statement: { source: FILE, read_at: NOW } } };

function write<Result>(catalogue: Catalogue, work: (writing: Writing) => Result): Result {
  return writeCatalogue(catalogue, NOW, work);
}

function makeListed(): Catalogue {
  const catalogue = makeCatalogue();
  write(catalogue, (writing) => recordDeclaration(writing, makeDeclaration()));
  return catalogue;
}

function stateOf(catalogue: Catalogue): unknown {
  const { state, state_by, state_reason } = findListing(catalogue, { slug: SLUG }) ?? {};
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
  ] as const)('%j, then lifted by the %s: %j', (deciders, lifter, expected) => {
    const catalogue = makeListed();
    for (const by of deciders) delist(catalogue, by);
    relist(catalogue, lifter);
    expect(stateOf(catalogue)).toEqual(expected);
  });

  it('show the operator before the provider before a rule, and a hidden one changes nothing readers see', () => {
    const catalogue = makeListed();
    expect(delist(catalogue, 'rule')).toBe(true);
    expect(delist(catalogue, 'provider')).toBe(true);
    expect(delist(catalogue, 'operator')).toBe(true);
    expect(stateOf(catalogue)).toEqual(['delisted', 'operator', 'by operator']);
    const revision = getRevision(catalogue);
    expect(relist(catalogue, 'rule')).toBe(false);
    expect(delist(catalogue, 'operator', 'again')).toBe(false);
    expect(getRevision(catalogue)).toBe(revision);
  });
});

describe('an address that its provider wants kept out', () => {
  const keepOut = (catalogue: Catalogue, reason = 'Not for agents.') =>
    write(catalogue, (writing) => keepAddressOut(writing, BASE, { ...WISH, reason }));

  it('loses its listing, with the words and the statement on record', () => {
    const catalogue = makeListed();
    expect(keepOut(catalogue)).toBe(true);
    expect(stateOf(catalogue)).toEqual(['delisted', 'provider', 'Not for agents.']);
    expect(listChanges(catalogue, { since: 1 })).toMatchObject([
      {
        kind: 'delisted',
        reason: 'delisted_by_provider',
        detail: { by: 'provider', words: 'Not for agents.', evidence: WISH.evidence },
      },
    ]);
    expect(keepOut(catalogue)).toBe(false);
    expect(keepOut(catalogue, 'Moved away.')).toBe(true);
    expect(stateOf(catalogue)).toEqual(['delisted', 'provider', 'Moved away.']);
  });

  it('gets a tombstone instead of a listing when a source brings it later, and the listing once let in', () => {
    const catalogue = makeCatalogue();
    expect(keepOut(catalogue)).toBe(false);
    expect(getRevision(catalogue)).toBe(0);
    const source = { kind: 'bazaar', name: 'https://feed.example.org', observed_at: NOW } as const;
    const { outcome } = write(catalogue, (writing) => recordDeclaration(writing, makeDeclaration({ source })));
    expect(outcome).toBe('delisted');
    expect(stateOf(catalogue)).toEqual(['delisted', 'provider', 'Not for agents.']);
    expect(listChanges(catalogue, {})[0]).toMatchObject({
      kind: 'delisted',
      reason: 'delisted_by_provider',
      detail: { evidence: { statement: { source: FILE, read_at: NOW } } },
    });
    expect(write(catalogue, (writing) => letAddressIn(writing, BASE, WISH))).toBe(true);
    expect(stateOf(catalogue)).toBe('live');
    expect(listChanges(catalogue, { since: 1 })).toMatchObject([{ kind: 'relisted', reason: 'relisted_by_provider' }]);
  });

  it('is let in by the operator too, whatever the spelling of the address', () => {
    const catalogue = makeListed();
    write(catalogue, (writing) =>
      keepAddressOut(writing, `${BASE.toUpperCase().replace('HTTPS', 'https')}/`, { ...WISH, reason: 'No.' }),
    );
    expect(findDelisting(catalogue, BASE, 'provider')).toMatchObject({ reason: 'No.', source: FILE, at: NOW });
    relist(catalogue, 'operator');
    expect([stateOf(catalogue), findDelisting(catalogue, BASE)]).toEqual(['live', undefined]);
  });

  it('that was never kept out is let in without a trace', () => {
    const catalogue = makeListed();
    expect(write(catalogue, (writing) => letAddressIn(writing, BASE, WISH))).toBe(false);
    expect(getRevision(catalogue)).toBe(1);
  });
});

it('delistings of an older catalogue stand after its migration', () => {
  const file = join(makeFolder(), 'catalogue.sqlite');
  const older = new Sqlite(file);
  for (const sql of MIGRATIONS.slice(0, 3)) older.exec(sql);
  older.pragma('user_version = 3');
  older.exec(`
    INSERT INTO catalogue VALUES (1, '${IDENTITY}', 1, '${NOW}');
    INSERT INTO listings (id, slug, base_url, state, verified, revision, document)
      VALUES ('a', 'a', '${BASE}', 'delisted', 0, 1, '{}');
    INSERT INTO delistings VALUES ('a', 'operator', 'Gone.', '${NOW}');
  `);
  older.close();
  const catalogue = makeCatalogue(file);
  expect(findDelisting(catalogue, BASE)).toEqual({ by: 'operator', reason: 'Gone.', source: null, at: NOW });
});
