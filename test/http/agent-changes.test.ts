import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildSyntheticDeclaration } from '../../scripts/bench/synthetic.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { recordDeclaration } from '../../src/catalogue/write/declarations.ts';
import { type AgentChanges, agentChanges } from '../../src/views/changes.ts';
import { makeCatalogue, makeFolder, NOW } from '../builders.ts';
import { inTurn } from '../in-turn.ts';
import { serveLive } from './serving.ts';

async function makeServed() {
  const catalogue = await makeCatalogue();
  const add = (from: number, count: number) =>
    writeCatalogue(
      catalogue,
      NOW,
      async (writing) =>
        await inTurn(
          Array.from({ length: count }),
          async (_, index) => (await recordDeclaration(writing, buildSyntheticDeclaration(from + index))).identity.slug,
        ),
    );
  const remove = (slug: string) =>
    writeCatalogue(catalogue, NOW, (writing) => delistListing(writing, slug, { by: 'provider', reason: 'moved away' }));
  const { get } = serveLive(catalogue);
  const read = async (query: string): Promise<AgentChanges> =>
    agentChanges.parse(await (await get(`/agent/changes${query}`)).json());
  return { catalogue, add, remove, get, read };
}

describe('GET /agent/changes', () => {
  it('lists what changed after a revision, oldest first, and nothing when nothing did', async () => {
    const { add, read } = await makeServed();
    await add(0, 2);
    const [slug] = await add(2, 1);
    const all = await read('');
    expect(all).toMatchObject({ revision: 2, since: 0 });
    expect(all.changes.map(({ revision }) => revision)).toEqual(all.changes.map(({ revision }) => revision).sort());
    const news = await read('?since=1');
    expect(new Set(news.changes.map((change) => change.slug))).toEqual(new Set([slug]));
    expect(news.changes).toContainEqual(expect.objectContaining({ kind: 'listed', revision: 2 }));
    expect(await read('?since=2')).toMatchObject({ changes: [], tombstones: [] });
  });

  it('carries the tombstones of what was removed', async () => {
    const { add, remove, read } = await makeServed();
    const [slug = ''] = await add(0, 1);
    await remove(slug);
    const { changes, tombstones } = await read('?since=1');
    const detail = { by: 'provider', words: 'moved away' };
    expect(changes).toEqual([expect.objectContaining({ reason: 'delisted_by_provider', detail, slug })]);
    expect(tombstones).toEqual([expect.objectContaining({ slug, delisted_by: 'provider', reason: 'moved away' })]);
  });

  it('is followed page by page, within a revision too, without loss or repetition while more is written', async () => {
    const { add, read } = await makeServed();
    await add(0, 10);
    const seen: AgentChanges['changes'] = [];
    let page = await read('?limit=7');
    for (let round = 0; ; round += 1) {
      seen.push(...page.changes);
      if (page.next_cursor === undefined) break;
      if (round === 1) await add(100, 3);
      page = await read(`?limit=7&cursor=${page.next_cursor}`);
    }
    const whole = await read('?limit=1000');
    expect(seen).toEqual(whole.changes);
    expect(await read(`?since=${page.revision}`)).toMatchObject({ changes: [] });
  });

  it('refuses a revision ahead of the catalogue, a cursor of another question, and what it does not know', async () => {
    const { add, get } = await makeServed();
    await add(0, 1);
    for (const [query, code] of [
      ['since=2', 'since_ahead'],
      ['since=-1', 'bad_parameter'],
      ['since=x', 'bad_parameter'],
      ['limit=0', 'bad_parameter'],
      ['cursor=1-5', 'bad_cursor'],
      ['cursor=0-0-zzzzzz', 'other_log'],
      ['history=full', 'bad_parameter'],
      ['cursor=x', 'bad_cursor'],
      ['sinse=1', 'unknown_parameter'],
    ]) {
      const response = await get(`/agent/changes?${query}`);
      expect([query, response.status, ((await response.json()) as { code: string }).code]).toEqual([query, 400, code]);
    }
  });

  it('gives on the last page the cursor to come back with, and how soon', async () => {
    const { add, read } = await makeServed();
    const empty = await read('');
    expect(empty).toMatchObject({ since: 0, changes: [], poll_after_seconds: 60 });
    await add(0, 1);
    const first = await read(`?cursor=${empty.resume_cursor}&limit=1`);
    expect(first).toMatchObject({ since: 0, changes: [{ revision: 1 }] });
    expect(first).not.toHaveProperty('resume_cursor');
    const last = await read(`?cursor=${first.next_cursor}&since=0`);
    expect(last).not.toHaveProperty('next_cursor');
    await add(1, 1);
    const later = await read(`?cursor=${last.resume_cursor}`);
    expect(later.since).toBe(1);
    expect(new Set(later.changes.map(({ revision }) => revision))).toEqual(new Set([2]));
  });

  it('tells who comes back that the catalogue was put back meanwhile, even once it is as far again', async () => {
    const { catalogue, add, read } = await makeServed();
    await add(0, 1);
    const early = (await read('')).resume_cursor;
    const backup = join(makeFolder(), 'backup.sqlite');
    await catalogue.engine.sqlite.backup(backup);
    await add(1, 1);
    const late = (await read('')).resume_cursor;
    const restored = await makeCatalogue(backup);
    const { get } = serveLive(restored);
    const ask = async (query: string) => {
      const response = await get(`/agent/changes?${query}`);
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await ask('since=2')).toEqual([400, 'since_ahead']);
    expect(await ask(`cursor=${late}`)).toEqual([400, 'other_log']);
    expect(await ask(`cursor=${early}`)).toEqual([200, undefined]);
    for (const n of [7, 8]) {
      await writeCatalogue(restored, NOW, (writing) => recordDeclaration(writing, buildSyntheticDeclaration(n)));
    }
    expect(await ask(`cursor=${late}`)).toEqual([400, 'other_log']);
    expect(await ask(`cursor=${early}`)).toEqual([200, undefined]);
  });

  it('answers 304 to who has it already, although the time moves on', async () => {
    const { add, get } = await makeServed();
    await add(0, 1);
    const etag = (await get('/agent/changes')).headers.get('etag') ?? '';
    expect((await get('/agent/changes', { 'if-none-match': etag })).status).toBe(304);
    await add(1, 1);
    expect((await get('/agent/changes', { 'if-none-match': etag })).status).toBe(200);
  });
});
