import { describe, expect, it } from 'vitest';
import { countFindings, listFindingsAbout } from '../../src/catalogue/read/findings.ts';
import { findOpenPull, listFeedItems, listPulls } from '../../src/catalogue/read/pulls.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordFindings } from '../../src/catalogue/write/findings.ts';
import { completePull, recordPage, startPull } from '../../src/catalogue/write/pulls.ts';
import type { Finding } from '../../src/model/declaration.ts';
import { makeCatalogue, NOW } from '../builders.ts';

const FEED = 'https://feed.example/discovery/resources';
const LATER = '2026-11-20T13:30:00.000Z';

const makeRaw = (key: string, version = 1) => ({
  key,
  hash: `${key}-${version}`,
  raw: JSON.stringify({ key, version }),
});

async function makePull() {
  const catalogue = await makeCatalogue();
  const pull = await writeCatalogue(catalogue, NOW, (writing) => startPull(writing, FEED));
  const record = (current: typeof pull, items: ReturnType<typeof makeRaw>[], ended: 'complete' | null = null) =>
    writeCatalogue(catalogue, NOW, (writing) =>
      recordPage(writing, current, { items, next_offset: current.next_offset + items.length, ended }),
    );
  return { catalogue, pull, record };
}

describe('a pull', () => {
  it('is found again where it was until it is complete, and raises no revision', async () => {
    const { catalogue, pull, record } = await makePull();
    const first = await record(pull, [makeRaw('a'), makeRaw('b')]);
    expect(await findOpenPull(catalogue, FEED, NOW)).toEqual(first);
    expect(first).toMatchObject({ next_offset: 2, pages: 1, items: 2, ended: null });
    expect(await findOpenPull(catalogue, FEED, LATER)).toBeUndefined();
    const last = await record(first, [makeRaw('c')], 'complete');
    expect(await findOpenPull(catalogue, FEED, NOW)).toEqual(last);
    await writeCatalogue(catalogue, NOW, (writing) => completePull(writing, last));
    expect(await findOpenPull(catalogue, FEED, NOW)).toBeUndefined();
    expect(await listPulls(catalogue)).toMatchObject([{ completed_at: NOW, ended: 'complete', items: 3 }]);
    expect(await getRevision(catalogue)).toBe(0);
  });

  it('counts an item that two pages brought once, and one that came twice in a page twice', async () => {
    const { catalogue, pull, record } = await makePull();
    const first = await record(pull, [makeRaw('a'), makeRaw('b'), makeRaw('b')]);
    expect(first.items).toBe(3);
    expect((await record(first, [makeRaw('b'), makeRaw('c')])).items).toBe(4);
    expect(await listFeedItems(catalogue, pull)).toHaveLength(3);
  });

  it('keeps different items under one key, replaces older versions, and loses nothing that is gone from the feed', async () => {
    const { catalogue, pull, record } = await makePull();
    const first = await record(pull, [makeRaw('a'), makeRaw('a', 2), makeRaw('gone')], 'complete');
    expect(await listFeedItems(catalogue, first)).toHaveLength(3);
    await writeCatalogue(catalogue, NOW, (writing) => completePull(writing, first));
    const again = await writeCatalogue(catalogue, LATER, (writing) => startPull(writing, FEED));
    const second = await record(again, [makeRaw('a', 3)], 'complete');
    await writeCatalogue(catalogue, LATER, (writing) => completePull(writing, second));
    expect(await listFeedItems(catalogue, second)).toEqual([{ key: 'a', version: 3 }]);
    expect(await listFeedItems(catalogue, first)).toEqual([{ key: 'gone', version: 1 }]);
  });
});

describe('findings', () => {
  const makeFinding = (item: string, overrides: Partial<Finding> = {}): Finding => ({
    code: 'no_offers',
    severity: 'refused',
    item,
    message: 'The item lists no way to pay.',
    ...overrides,
  });

  it('replace those of the last import, and keep the time at which they were first found', async () => {
    const catalogue = await makeCatalogue();
    const record = (at: string, findings: Finding[]) =>
      writeCatalogue(catalogue, at, (writing) => recordFindings(writing, FEED, findings));
    await record(NOW, [makeFinding('GET https://a.example/x'), makeFinding('GET https://a.example/y')]);
    await record(LATER, [makeFinding('GET https://a.example/x'), makeFinding('GET https://a.example/z')]);
    expect(await countFindings(catalogue)).toEqual([{ code: 'no_offers', severity: 'refused', count: 2 }]);
    expect(
      (await listFindingsAbout(catalogue, 'https://a.example')).map(({ item, found_at }) => [item, found_at]),
    ).toEqual([
      ['GET https://a.example/x', NOW],
      ['GET https://a.example/z', LATER],
    ]);
  });

  it('about an address are those of what lies below it, and of no other host', async () => {
    const catalogue = await makeCatalogue();
    const items = ['https://a.example', 'https://a.example/x?y', 'https://a.example.org/x', 'https://a.example:8443/'];
    await writeCatalogue(catalogue, NOW, (writing) =>
      recordFindings(
        writing,
        FEED,
        items.map((item) => makeFinding(`GET ${item}`)),
      ),
    );
    const found = (await listFindingsAbout(catalogue, 'https://a.example')).map(({ item }) => item);
    expect(found).toEqual(['GET https://a.example', 'GET https://a.example/x?y']);
  });
});
