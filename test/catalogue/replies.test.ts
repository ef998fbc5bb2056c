import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { MIGRATIONS } from '../../src/catalogue/migrations/index.ts';
import {
  areRepliesOnRecord,
  listRepliedAddresses,
  listReplies,
  type Reply,
  recordReplies,
} from '../../src/catalogue/replies.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/write.ts';
import { IDENTITY, makeCatalogue, makeFolder, NOW } from '../builders.ts';

const BASE = 'https://api.tides-of-tests.com';
const FILE = `${BASE}/.well-known/agent-payable.json`;
const LATER = '2026-12-01T00:00:00.000Z';
const OF_ROUTE: Reply = { caution: 'undelivered', route: 'GET /v1/heights', text: 'It was a fault of ours.' };
const OF_ALL: Reply = { caution: 'undelivered', route: null, text: 'We give the money back.' };

const record = (catalogue: Catalogue, replies: Reply[], { at = NOW, base = BASE, source = FILE } = {}) =>
  writeCatalogue(catalogue, at, (writing) => recordReplies(writing, base, source, replies));

describe('replies of a provider', () => {
  it('are kept by address, for a listing or one of its routes, whatever the spelling of the address', () => {
    const catalogue = makeCatalogue();
    expect(record(catalogue, [OF_ROUTE, OF_ALL], { base: `${BASE.toUpperCase().replace('HTTPS', 'https')}/` })).toBe(
      true,
    );
    expect(listReplies(catalogue, BASE)).toEqual([
      { ...OF_ALL, at: NOW, source: FILE },
      { ...OF_ROUTE, at: NOW, source: FILE },
    ]);
    expect([listReplies(catalogue, `${BASE}/v1`), listRepliedAddresses(catalogue, FILE)]).toEqual([[], [BASE]]);
  });

  it('said twice change nothing, and move no revision', () => {
    const catalogue = makeCatalogue();
    record(catalogue, [OF_ROUTE, OF_ALL]);
    const writes = () => catalogue.sqlite.prepare('SELECT total_changes()').pluck().get();
    const before = writes();
    expect(record(catalogue, [OF_ALL, OF_ROUTE], { at: LATER })).toBe(false);
    expect([writes(), getRevision(catalogue)]).toEqual([before, 0]);
    expect(areRepliesOnRecord(catalogue, BASE, FILE, [OF_ALL, OF_ROUTE])).toBe(true);
    expect(areRepliesOnRecord(catalogue, BASE, FILE, [OF_ALL])).toBe(false);
  });

  it('keep their time until their words change, and are removed with the words', () => {
    const catalogue = makeCatalogue();
    record(catalogue, [OF_ROUTE, OF_ALL]);
    const mended = { ...OF_ALL, text: 'We gave the money back.' };
    expect(record(catalogue, [mended, OF_ROUTE], { at: LATER })).toBe(true);
    expect(listReplies(catalogue, BASE).map(({ text, at }) => [text, at])).toEqual([
      [mended.text, LATER],
      [OF_ROUTE.text, NOW],
    ]);
    expect(record(catalogue, [OF_ROUTE], { at: LATER })).toBe(true);
    expect(listReplies(catalogue, BASE)).toEqual([{ ...OF_ROUTE, at: NOW, source: FILE }]);
    expect(record(catalogue, [])).toBe(true);
    expect([listReplies(catalogue, BASE), listRepliedAddresses(catalogue, FILE), record(catalogue, [])]).toEqual([
      [],
      [],
      false,
    ]);
  });

  it('of another source or address are left alone', () => {
    const catalogue = makeCatalogue();
    const other = { base: `${BASE}/v2`, source: 'https://other.example/file.json' };
    record(catalogue, [OF_ALL], other);
    record(catalogue, [OF_ROUTE]);
    record(catalogue, []);
    expect(record(catalogue, [], { base: other.base })).toBe(false);
    expect(listReplies(catalogue, other.base)).toMatchObject([OF_ALL]);
  });
});

it('a catalogue without replies gets room for them', () => {
  const file = join(makeFolder(), 'catalogue.sqlite');
  const older = new Sqlite(file);
  for (const sql of MIGRATIONS.slice(0, 7)) older.exec(sql);
  older.pragma('user_version = 7');
  older.exec(`INSERT INTO catalogue VALUES (1, '${IDENTITY}', 0, '${NOW}')`);
  older.close();
  const catalogue = makeCatalogue(file);
  expect(record(catalogue, [OF_ALL])).toBe(true);
  expect(listReplies(catalogue, BASE)).toHaveLength(1);
});
