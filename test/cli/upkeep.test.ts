import { linkSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { readConfig } from '../../src/config.ts';
import { IDENTITY, NOW } from '../builders.ts';
import { makeKept } from '../catalogue/kept.ts';
import { recordProbed } from '../sampled.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { makeCommands, writeManifest } from './running.ts';

async function makeTwo() {
  const commands = makeCommands();
  await commands.run([
    'import',
    writeManifest(commands.folder, 'alpha.yaml'),
    writeManifest(commands.folder, 'beta.yaml'),
  ]);
  return commands;
}

async function change(file: string, sql: string): Promise<void> {
  const catalogue = await openCatalogue(file, { identity: IDENTITY, at: NOW });
  catalogue.engine.sqlite.exec(sql);
  await catalogue.close();
}

type CheckLine = { name: string; ok: boolean; found: string; hint?: string };

describe('status', () => {
  it('gives counts, revision, feeds, findings, pages and size', async () => {
    const { runJson, file } = await makeTwo();
    await runJson('delist', 'beta', '--reason', 'Gone');
    const { code, json } = await runJson('status');
    expect(code).toBe(0);
    expect(json).toMatchObject({
      file,
      bytes: statSync(file).size,
      revision: 2,
      revised_at: NOW,
      listings: { live: 1, verified: 0, held: 0, delisted: 1 },
      findings: [],
      feeds: [],
      pages: { revision: null, behind: ['no_pages'] },
    });
  });
});

describe('a catalogue of earlier code', () => {
  it('is refused by status with commands that migrate it, and one of them does', async () => {
    const { run } = makeCommands({ CATALOGUE: makeKept('001-catalogue') });
    expect(await run(['status'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('hint: Run npm run catalogue -- check --repair, or npm start: both migrate it.'),
    });
    await run(['check', '--repair']);
    expect(await run(['status'])).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('check', () => {
  const getLine = (checks: CheckLine[], wanted: string) => checks.find(({ name }) => name === wanted);

  it('passes for a sound catalogue, and asks for pages if there are none', async () => {
    const { code, json } = await (await makeTwo()).runJson('check');
    expect(code).toBe(1);
    const wrong = json.checks.filter(({ ok }: CheckLine) => !ok);
    expect(wrong).toEqual([
      { name: 'published', ok: false, found: expect.stringContaining('no published'), hint: expect.any(String) },
      { name: 'pages', ok: false, found: 'none yet', hint: expect.stringContaining('rebuild') },
    ]);
  });

  it('names listings that do not follow from their evidence, and repairs them', async () => {
    const { file, runJson } = await makeTwo();
    await change(file, "UPDATE listings SET document = json_set(document, '$.title', 'Tampered') WHERE slug = 'alpha'");
    const { json } = await runJson('check');
    expect(getLine(json.checks, 'listings')).toMatchObject({ ok: false, found: 'alpha (title)' });
    const repaired = await runJson('check', '--repair');
    expect(repaired.json.repaired).toEqual(['alpha']);
    expect(getLine(repaired.json.checks, 'listings')?.ok).toBe(true);
    expect((await runJson('why', 'alpha')).json.decisions.at(-1)).toMatchObject({ reason: 'derived_again' });
  });

  it('compares record, listings, published catalogue and pages, and says where they part', async () => {
    const { file, runJson, environment } = await makeTwo();
    const config = readConfig(environment);
    await rebuildAgain({ config });
    const ask = async () => (await runJson('check')).json.checks.filter(({ ok }: CheckLine) => !ok);
    expect(await ask()).toEqual([]);

    const published = new Sqlite(config.publishedFile);
    published.exec("UPDATE offers SET amount = 1 WHERE listing = (SELECT number FROM listings WHERE slug = 'beta')");
    expect(await ask()).toMatchObject([{ name: 'published', found: 'the table offers (beta)' }]);
    published.exec("UPDATE listings SET revision = 99 WHERE slug = 'alpha'");
    expect(await ask()).toMatchObject([
      { name: 'published', found: 'the table listings (alpha); the table offers (beta)' },
      { name: 'pages', found: expect.stringContaining('they show something else') },
    ]);
    published.exec(
      "UPDATE search_entries SET terms = '[[0]]' WHERE listing = (SELECT min(listing) FROM search_entries)",
    );
    expect((await ask())[0].found).toContain('the table search_entries (');
    published.close();
    for (const ending of ['', '-wal', '-shm']) rmSync(config.publishedFile + ending, { force: true });
    await rebuildAgain({ config });
    expect(await ask()).toEqual([]);

    await change(file, "UPDATE listings SET document = json_set(document, '$.title', 'Tampered') WHERE slug = 'alpha'");
    expect((await ask()).map(({ name }: CheckLine) => name)).toEqual(['listings', 'published']);
  });

  it('finds broken references and a revision without a change', async () => {
    const { file, runJson } = await makeTwo();
    await change(
      file,
      "PRAGMA foreign_keys = OFF; DELETE FROM listings WHERE slug = 'beta'; UPDATE catalogue SET revision = 7",
    );
    const { json } = await runJson('check');
    expect(getLine(json.checks, 'database')).toMatchObject({
      ok: false,
      found: expect.stringContaining('names no row'),
    });
    expect(getLine(json.checks, 'revision')?.ok).toBe(false);
  });

  it('reports wrong settings or a bad file, and stops there', async () => {
    const { code, json } = await makeCommands({ PORT: 'x' }).runJson('check');
    expect([code, json.checks]).toEqual([1, [expect.objectContaining({ name: 'settings', ok: false })]]);
    const commands = makeCommands();
    expect((await commands.runJson('check')).json.checks.at(-1)).toMatchObject({ name: 'catalogue', ok: false });
  });

  it('finds damage in the file', async () => {
    const { file, runJson } = await makeTwo();
    await change(file, 'PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE');
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096 * 3, 4096 * 9);
    writeFileSync(file, bytes);
    const { code, json } = await runJson('check');
    expect(code).toBe(1);
    expect(json.checks.find(({ ok }: CheckLine) => !ok).found).toMatch(/damaged|malformed|page|btree/i);
  });
});

describe('export', () => {
  it('gives header, live listings and tombstones as lines of JSON, the same at every call', async () => {
    const { run } = await makeTwo();
    await run(['delist', 'beta', '--reason', 'Gone']);
    const { code, stdout, stderr } = await run(['export']);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ kind, slug }) => [kind, slug])).toEqual([
      ['catalogue', undefined],
      ['listing', 'alpha'],
      ['tombstone', 'beta'],
    ]);
    expect(lines[0]).toMatchObject({ revision: 2, revised_at: NOW, live_listings: 1 });
    expect(lines[1]).toMatchObject({
      page_url: 'https://apis.example/api/alpha',
      price_min_usdc: 0.002,
      routes: [{ method: 'GET', path: '/v1/:thing' }],
    });
    expect(lines[2]).toMatchObject({ reason: 'Gone', delisted_by: 'operator' });
    expect((await run(['export'])).stdout).toBe(stdout);
  });

  it('gives one document with --json, also of an empty catalogue', async () => {
    const { run, runJson } = await makeTwo();
    await run(['delist', 'beta', '--reason', 'Gone']);
    const { json } = await runJson('export');
    expect([json.catalogue.revision, json.listings.length, json.tombstones.length]).toEqual([2, 1, 1]);
    const { file, runJson: runEmpty } = makeCommands();
    await (await openCatalogue(file, { identity: IDENTITY, at: NOW })).close();
    expect((await runEmpty('export')).json).toMatchObject({ listings: [], tombstones: [] });
  });

  it('replaces an earlier export and nothing else, unless it is forced to, and never the catalogue', async () => {
    const { file, folder, run } = makeCommands();
    writeManifest(folder, 'alpha.yaml');
    await run(['import', join(folder, 'alpha.yaml')]);
    const target = join(folder, 'notes.txt');
    for (const text of ['Dear diary,', '', '{"kind":"letter"}']) {
      writeFileSync(target, text);
      const refused = await run(['export', '--output', target]);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/is not an export\.\nhint: .*--force/)]);
      expect(readFileSync(target, 'utf8')).toBe(text);
    }
    expect((await run(['export', '--output', target, '--force'])).code).toBe(0);
    expect((await run(['export', '--output', target])).code).toBe(0);
    expect((await run(['export', '--output', target, '--json'])).code).toBe(0);
    expect((await run(['export', '--output', target])).code).toBe(0);
    symlinkSync(file, join(folder, 'link'));
    linkSync(file, join(folder, 'hard-link'));
    for (const path of [file, `${file}-wal`, join(folder, 'link'), join(folder, 'hard-link')]) {
      const refused = await run(['export', '--output', path, '--force']);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is the catalogue itself')]);
    }
    expect((await run(['list'])).stdout).toMatch(/^alpha/);
  });

  it('writes a file whole or not at all', async () => {
    const { folder, run, runJson } = await makeTwo();
    const target = join(folder, 'public.ndjson');
    writeFileSync(target, 'what was there');
    const { json } = await runJson('export', '--output', target, '--force');
    expect(json).toEqual({ file: target, bytes: statSync(target).size, revision: 1, listings: 2, tombstones: 0 });
    expect(JSON.parse(readFileSync(target, 'utf8')).listings).toHaveLength(2);
    expect((await run(['export', '--output', target])).code).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe((await run(['export'])).stdout);
    expect((await run(['export', '--output', join(folder, 'none', 'x')])).stderr).toMatch(
      /^error: .*does not exist.*\nhint: /,
    );
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });
});

describe('backup', () => {
  it('makes one sound file that serves as the catalogue, and never replaces one unasked', async () => {
    const { folder, run, runJson } = await makeTwo();
    const target = join(folder, 'backup.sqlite');
    const { code, json } = await runJson('backup', target);
    expect(code).toBe(0);
    expect(json).toMatchObject({ file: target, bytes: statSync(target).size, revision: 1 });
    const refused = await run(['backup', target]);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--force') });
    await run(['delist', 'beta', '--reason', 'Gone']);
    expect((await runJson('backup', target, '--force')).json.revision).toBe(2);
    const restored = makeCommands({ CATALOGUE: target });
    expect((await restored.runJson('list')).json.listings).toHaveLength(2);
    expect(readdirSync(folder).filter((name) => /partial/.test(name))).toEqual([]);
  });

  it.each([
    ['the catalogue itself', ({ file }: { file: string }) => file],
    ['a folder', ({ folder }: { folder: string }) => folder],
    ['a file in no folder', ({ folder }: { folder: string }) => join(folder, 'none', 'b.sqlite')],
  ])('refuses %s, even by force', async (_, getTarget) => {
    const commands = await makeTwo();
    const { code, stderr } = await commands.run(['backup', getTarget(commands), '--force']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*\.\nhint: .*\.\n$/);
    expect((await commands.runJson('list')).json.total).toBe(2);
  });

  it('leaves no file when it is stopped', async () => {
    const { folder, run } = await makeTwo();
    const { code, stderr } = await run(['backup', join(folder, 'b.sqlite')], { signal: AbortSignal.abort() });
    expect(code).toBe(1);
    expect(stderr).toContain('stopped');
    expect(readdirSync(folder).filter((name) => /b\.sqlite|partial/.test(name))).toEqual([]);
  });
});

describe('copy', () => {
  it('names the argument that is wrong: no catalogue to copy, or no folder for the copy', async () => {
    const { folder, file, run } = await makeTwo();
    const none = await run(['copy', join(folder, 'none.sqlite'), join(folder, 'copy.sqlite')]);
    expect(none.code).toBe(1);
    expect(none.stderr).toMatch(
      /^error: There is no catalogue at .*none\.sqlite\.\nhint: Name the catalogue to copy first/,
    );
    const nowhere = await run(['copy', file, join(folder, 'none', 'copy.sqlite')]);
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toMatch(/^error: There is no folder .*none\.\nhint: Make it first\.\n$/);
    expect(readdirSync(folder).filter((name) => /none|copy/.test(name))).toEqual([]);
  });

  it('makes a catalogue of the same identity and revision, and replaces none', async () => {
    const { folder, file, run } = await makeTwo();
    const target = join(folder, 'copy.sqlite');
    expect((await run(['copy', file, target])).stdout).toContain('Copied revision 1 of');
    expect(await run(['copy', file, target])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('never replaces'),
    });
  });
});

describe('status and check of probing and paying', () => {
  it('report the state of probing and payments', async () => {
    const { run } = makeCommands();
    await run(['import', join(import.meta.dirname, '../../data/listings')]);
    const { stdout } = await run(['status']);
    expect(stdout).toContain('probing\tnothing was probed yet');
    expect(stdout).toContain('payments\tnone was made yet');
    expect(JSON.parse((await run(['status', '--json'])).stdout)).toMatchObject({
      probing: { last_sample_at: null, probed: 0, due: 0 },
      payments: { settled: 0, not_settled: 0, open: 0, spent: 0 },
    });
  });

  it('report how many listings were probed and never probed', async () => {
    const { file, folder, run, runJson } = makeCommands();
    for (const name of ['alpha', 'beta', 'gamma']) writeManifest(folder, `${name}.yaml`);
    await run(['import', folder]);
    const catalogue = await openCatalogue(file, { identity: IDENTITY, at: NOW });
    await recordProbed(catalogue, 'alpha', [{ at: NOW }]);
    await catalogue.close();
    expect((await run(['status'])).stdout).toMatch(/probing\t1 listing, \d due, 2 never probed, the last /);
    expect((await runJson('status')).json.probing).toMatchObject({ probed: 1, never_probed: 2 });
  });

  it('count a listing that was never probed as due after a day, if it has a route to probe', async () => {
    let at = NOW;
    const { folder, run, runJson } = makeCommands({}, () => new Date(at));
    for (const name of ['alpha', 'beta']) writeManifest(folder, `${name}.yaml`);
    await run(['import', folder]);
    await run(['delist', 'beta', '--reason', 'Gone']);
    const readDue = async () => [
      (await runJson('status')).json.probing.due,
      /^catalogue_listings_due (\d+)$/m.exec((await run(['metrics'])).stdout)?.[1],
    ];
    at = '2026-11-21T11:59:00.000Z';
    expect(await readDue()).toEqual([0, '0']);
    at = '2026-11-21T12:01:00.000Z';
    expect(await readDue()).toEqual([1, '1']);
    expect((await run(['status'])).stdout).toContain('probing\tnothing was probed yet, 1 listing due');
  });

  it('check one address with any method, and refuse an invalid one', async () => {
    const { run } = makeCommands();
    const put = await run(['check', 'https://192.0.2.1.invalid/v1/quote', '--method', 'PUT']);
    expect(put.stdout).toMatch(/^problem PUT https:/);
    const wrong = await run(['check', 'https://example.com/', '--method', 'BREW']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('one of GET, POST, PUT')]);
    const nobody = await run(['check', 'https://192.0.2.1.invalid/v1/quote']);
    expect(nobody.code).toBe(1);
    expect(nobody.stdout).toMatch(/^problem GET https:\/\/192\.0\.2\.1\.invalid\/v1\/quote at .+/);
    for (const args of [
      ['nonsense'],
      ['ftp://example.com/'],
      ['https://example.com/', '--repair'],
      ['--method', 'GET'],
    ]) {
      expect((await run(['check', ...args])).code).toBe(2);
    }
  });
});
