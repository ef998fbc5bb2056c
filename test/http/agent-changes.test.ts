import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildSyntheticDeclaration } from '../../scripts/bench/synthetic.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { type AgentChanges, agentChanges } from '../../src/views/changes.ts';
import { makeCatalogue, makeFolder, NOW } from '../builders.ts';
import { inTurn } from '../in-turn.ts';
import { declareListings, recordDeclaration, removeListing } from '../written.ts';
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
  const remove = (slug: string) => removeListing(catalogue, slug, { by: 'provider', reason: 'moved away' });
  const { get } = await serveLive(catalogue);
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
    const sentence = 'Delisted by its provider';
    expect(changes).toEqual([expect.objectContaining({ reason: 'delisted_by_provider', detail, slug, sentence })]);
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

  it('refuses a cursor of another question, and what it does not know', async () => {
    const { add, get } = await makeServed();
    await add(0, 1);
    for (const [query, code] of [
      ['since=-1', 'bad_parameter'],
      ['since=x', 'bad_parameter'],
      ['since=2026-13-01', 'bad_parameter'],
      ['since=1-2-2026', 'bad_cursor'],
      ['since=2026-1-1', 'bad_cursor'],
      ['since=2026-01-01T99:00:00Z', 'bad_parameter'],
      ['limit=0', 'bad_parameter'],
      ['cursor=1-5', 'bad_cursor'],
      ['since=1-5', 'bad_cursor'],
      ['history=full', 'bad_parameter'],
      ['cursor=x', 'bad_cursor'],
      ['cursor=1-1-zz&since=0', 'bad_cursor'],
      ['sinse=1', 'unknown_parameter'],
    ]) {
      const response = await get(`/agent/changes?${query}`);
      expect([query, response.status, ((await response.json()) as { code: string }).code]).toEqual([query, 400, code]);
    }
    const { hint } = (await (await get('/agent/changes?since=x')).json()) as { hint: string };
    expect(hint).toBe('since takes a revision, resume_cursor of an earlier answer, or a date such as 2026-11-20.');
  });

  it('takes a date or a time for what was seen from then on, on every page', async () => {
    const { add, read } = await makeServed();
    await add(0, 3);
    const whole = await read('');
    expect(await read('?since=2026-01-01')).toMatchObject({ since: 0, changes: whole.changes });
    const [first] = whole.changes;
    expect((await read(`?since=${first?.at}`)).changes).toEqual(whole.changes);
    const page = await read(`?since=2026-01-01&limit=1`);
    const next = await read(`?since=2026-01-01&limit=1&cursor=${page.next_cursor}`);
    expect([...page.changes, ...next.changes]).toEqual(whole.changes.slice(0, 2));
    expect(await read('?since=2099-01-01')).toMatchObject({ since: whole.revision, changes: [] });
  });

  it('asks who is ahead of this server to come again, and answers once it has followed', async () => {
    const [behind, ahead] = [await makeServed(), await makeServed()];
    for (const { catalogue } of [behind, ahead]) {
      await declareListings(catalogue, [buildSyntheticDeclaration(0)]);
    }
    const later = '2026-11-21T10:00:00.000Z';
    const write = ({ catalogue }: typeof ahead) => declareListings(catalogue, [buildSyntheticDeclaration(1)], later);
    await write(ahead);
    const { resume_cursor } = await ahead.read('');
    for (const query of ['since=2', `since=${resume_cursor}`, `cursor=${resume_cursor}`]) {
      const response = await behind.get(`/agent/changes?${query}`);
      expect([query, response.status, Number(response.headers.get('retry-after'))]).toEqual([query, 503, 5]);
      expect(await response.json()).toMatchObject({
        code: 'since_ahead',
        revision: 1,
        hint: expect.stringMatching(/again/),
      });
    }
    await write(behind);
    for (const query of ['since=2', `since=${resume_cursor}`]) {
      expect(await behind.read(`?${query}`)).toMatchObject({ changes: [], resume_cursor });
    }
  });

  it('takes a cursor as since, and cursors as they were before they had a time', async () => {
    const { add, read } = await makeServed();
    await add(0, 1);
    const { resume_cursor } = await read('');
    await add(1, 1);
    const after = await read('?since=1');
    expect(new Set(after.changes.map(({ revision }) => revision))).toEqual(new Set([2]));
    for (const query of [
      `since=${resume_cursor}`,
      `since=${resume_cursor}&cursor=${resume_cursor}`,
      'cursor=1-3-1k0v9zc',
    ]) {
      expect(await read(`?${query}`)).toEqual(after);
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

  it('answers 410 to a cursor of a history that was replaced, and goes on with one from before that', async () => {
    const { catalogue, add, read } = await makeServed();
    await add(0, 1);
    const early = (await read('')).resume_cursor;
    const backup = join(makeFolder(), 'backup.sqlite');
    await catalogue.engine.sqlite.backup(backup);
    await add(1, 1);
    const middle = (await read('?limit=4')).next_cursor;
    const late = (await read('')).resume_cursor;
    await writeCatalogue(catalogue, '2026-11-21T10:00:00.000Z', ({ raiseRevision }) => raiseRevision());
    const last = (await read('')).resume_cursor;
    const restored = await makeCatalogue(backup);
    const { get } = await serveLive(restored);
    const ask = async (query: string) => {
      const response = await get(`/agent/changes?${query}`);
      const { code, hint } = (await response.json()) as { code?: string; hint?: string };
      return [response.status, code ?? 'none', /since=0/.test(hint ?? '')];
    };
    const listAnswers = () => Promise.all([early, middle, late, last].map((cursor) => ask(`since=${cursor}`)));
    const [goesOn, ahead, replaced] = [
      [200, 'none', false],
      [503, 'since_ahead', true],
      [410, 'history_replaced', true],
    ];
    // Nothing was written yet: it may be a server that is behind.
    expect(await listAnswers()).toEqual([goesOn, ahead, ahead, ahead]);
    await declareListings(restored, [buildSyntheticDeclaration(7)], '2026-11-21T11:00:00.000Z');
    // One that is ahead in its number and earlier in its time is of another history: nobody has to wait for the number.
    expect(await listAnswers()).toEqual([goesOn, replaced, replaced, replaced]);
    await declareListings(restored, [buildSyntheticDeclaration(8)], '2026-11-21T12:00:00.000Z');
    expect(await listAnswers()).toEqual([goesOn, replaced, replaced, replaced]);
  });

  it('knows a replaced history by its changes where a clock gave both the same times', async () => {
    const { catalogue, add, read } = await makeServed();
    await add(0, 1);
    const backup = join(makeFolder(), 'backup.sqlite');
    await catalogue.engine.sqlite.backup(backup);
    await add(1, 1);
    const { resume_cursor } = await read('');
    const restored = await makeCatalogue(backup);
    await declareListings(restored, [buildSyntheticDeclaration(7)]);
    expect((await (await serveLive(restored)).get(`/agent/changes?since=${resume_cursor}`)).status).toBe(410);
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
