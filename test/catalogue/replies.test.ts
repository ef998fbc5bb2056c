import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { areRepliesOnRecord, listRepliedAddresses, type Reply } from '../../src/catalogue/read/replies.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordReplies } from '../../src/catalogue/write/replies.ts';
import { makeCatalogue, NOW } from '../builders.ts';
import { listRepliesAt } from '../replies.ts';

const BASE = 'https://api.tides-of-tests.com';
const FILE = `${BASE}/.well-known/agent-payable.json`;
const LATER = '2026-12-01T00:00:00.000Z';
const OF_ROUTE: Reply = { caution: 'undelivered', route: 'GET /v1/heights', text: 'It was a fault of ours.' };
const OF_ALL: Reply = { caution: 'undelivered', route: null, text: 'We give the money back.' };

const record = (catalogue: Catalogue, replies: Reply[], { at = NOW, base = BASE, source = FILE } = {}) =>
  writeCatalogue(catalogue, at, (writing) => recordReplies(writing, base, source, replies));

describe('replies of a provider', () => {
  it('are kept by address, for a listing or one of its routes, whatever the spelling of the address', async () => {
    const catalogue = await makeCatalogue();
    expect(
      await record(catalogue, [OF_ROUTE, OF_ALL], { base: `${BASE.toUpperCase().replace('HTTPS', 'https')}/` }),
    ).toBe(true);
    expect(await listRepliesAt(catalogue, BASE)).toEqual([
      { ...OF_ALL, at: NOW, source: FILE },
      { ...OF_ROUTE, at: NOW, source: FILE },
    ]);
    expect([await listRepliesAt(catalogue, `${BASE}/v1`), await listRepliedAddresses(catalogue, FILE)]).toEqual([
      [],
      [BASE],
    ]);
  });

  it('said twice change nothing, and move no revision', async () => {
    const catalogue = await makeCatalogue();
    await record(catalogue, [OF_ROUTE, OF_ALL]);
    expect(await record(catalogue, [OF_ALL, OF_ROUTE], { at: LATER })).toBe(false);
    expect(await getRevision(catalogue)).toBe(0);
    expect(await areRepliesOnRecord(catalogue, BASE, FILE, [OF_ALL, OF_ROUTE])).toBe(true);
    expect(await areRepliesOnRecord(catalogue, BASE, FILE, [OF_ALL])).toBe(false);
  });

  it('keep their time until their words change, and are removed with the words', async () => {
    const catalogue = await makeCatalogue();
    await record(catalogue, [OF_ROUTE, OF_ALL]);
    const mended = { ...OF_ALL, text: 'We gave the money back.' };
    expect(await record(catalogue, [mended, OF_ROUTE], { at: LATER })).toBe(true);
    expect((await listRepliesAt(catalogue, BASE)).map(({ text, at }) => [text, at])).toEqual([
      [mended.text, LATER],
      [OF_ROUTE.text, NOW],
    ]);
    expect(await record(catalogue, [OF_ROUTE], { at: LATER })).toBe(true);
    expect(await listRepliesAt(catalogue, BASE)).toEqual([{ ...OF_ROUTE, at: NOW, source: FILE }]);
    expect(await record(catalogue, [])).toBe(true);
    expect([
      await listRepliesAt(catalogue, BASE),
      await listRepliedAddresses(catalogue, FILE),
      await record(catalogue, []),
    ]).toEqual([[], [], false]);
  });

  it('of another source or address are left alone', async () => {
    const catalogue = await makeCatalogue();
    const other = { base: `${BASE}/v2`, source: 'https://other.example/file.json' };
    await record(catalogue, [OF_ALL], other);
    await record(catalogue, [OF_ROUTE]);
    await record(catalogue, []);
    expect(await record(catalogue, [], { base: other.base })).toBe(false);
    expect(await listRepliesAt(catalogue, other.base)).toMatchObject([OF_ALL]);
  });
});
