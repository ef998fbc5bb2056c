import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { countFindings, listFindingsAbout } from '../../src/catalogue/read/findings.ts';
import { isOvertaken, listPulls, type Pull } from '../../src/catalogue/read/pulls.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordFindings } from '../../src/catalogue/write/findings.ts';
import { completePull, recordItems, startPull } from '../../src/catalogue/write/pulls.ts';
import type { Finding } from '../../src/model/declaration.ts';
import { makeCatalogue, NOW } from '../builders.ts';

const FEED = 'https://feed.example/discovery/resources';
const LATER = '2026-11-20T13:30:00.000Z';

const makeRaw = (key: string, version = 1) => ({
  key,
  hash: `${key}-${version}`,
  raw: JSON.stringify({ key, version }),
});

/** Records a pull with its items, as an import does. */
async function record(catalogue: Catalogue, at: string, items: ReturnType<typeof makeRaw>[]) {
  return await writeCatalogue(catalogue, at, async (writing) => {
    const started = { feed: FEED, started_at: at, pages: 1, items: items.length, ended: 'complete' as const };
    const pull = await startPull(writing, started);
    await recordItems(writing, pull, items);
    await completePull(writing, pull);
    return pull;
  });
}

async function listItems({ query }: Catalogue, { id }: Pull): Promise<unknown[]> {
  const rows = await query
    .selectFrom('feed_items')
    .select('raw')
    .where('pull_id', '=', id)
    .orderBy('item_key')
    .execute();
  return rows.map(({ raw }) => JSON.parse(raw));
}

describe('a pull', () => {
  it('is on record once it is whole, and raises no revision', async () => {
    const catalogue = await makeCatalogue();
    await record(catalogue, NOW, [makeRaw('a'), makeRaw('b')]);
    expect(await listPulls(catalogue)).toMatchObject([{ completed_at: NOW, ended: 'complete', items: 2 }]);
    expect(await getRevision(catalogue)).toBe(0);
  });

  it('keeps different items under one key, replaces older versions, and loses nothing that is gone from the feed', async () => {
    const catalogue = await makeCatalogue();
    const first = await record(catalogue, NOW, [makeRaw('a'), makeRaw('a', 2), makeRaw('gone')]);
    expect(await listItems(catalogue, first)).toHaveLength(3);
    const second = await record(catalogue, LATER, [makeRaw('a', 3)]);
    expect(await listItems(catalogue, second)).toEqual([{ key: 'a', version: 3 }]);
    expect(await listItems(catalogue, first)).toEqual([{ key: 'gone', version: 1 }]);
  });

  it('is out of date where one that began later is on record, whichever was recorded first', async () => {
    const catalogue = await makeCatalogue();
    const later = await record(catalogue, LATER, [makeRaw('a')]);
    const earlier = await record(catalogue, NOW, [makeRaw('a')]);
    expect([await isOvertaken(catalogue, earlier), await isOvertaken(catalogue, later)]).toEqual([true, false]);
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
