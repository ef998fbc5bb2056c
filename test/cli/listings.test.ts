import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { IDENTITY, makeDeclaration, makeRoute, NOW, recordVerified } from '../builders.ts';
import { recordDeclaration } from '../written.ts';
import { makeCommands } from './running.ts';

/** Makes commands on a catalogue of three listings: one verified, one plain, one held. */
async function makeThree(overrides: Partial<Declaration> = {}) {
  const commands = makeCommands();
  const catalogue = await openCatalogue(commands.file, { identity: IDENTITY, at: NOW });
  await writeCatalogue(catalogue, NOW, async (writing) => {
    const other = { base_url: 'https://weather.provider-of-tests.com', slug: 'weather', category: 'Data' } as const;
    await recordDeclaration(writing, makeDeclaration(overrides));
    await recordDeclaration(writing, makeDeclaration({ ...other, title: 'Weather' }));
    const bare = { base_url: 'https://bare.provider-of-tests.com', slug: 'bare', routes: [] };
    await recordDeclaration(writing, makeDeclaration(bare));
  });
  await recordVerified(catalogue, 'example-prices', makeRoute().path);
  await catalogue.close();
  return commands;
}

describe('list', () => {
  it('gives every listing, one to a line for a pipe', async () => {
    const { run } = await makeThree();
    expect(await run(['list'])).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        'bare\theld\tFinance\t–\t–\t0/0\tExample Prices',
        'example-prices\tlive\tFinance\t0.001\tbase\t1/1\tExample Prices',
        'weather\tlive\tData\t0.001\tbase\t0/1\tWeather',
        '',
      ].join('\n'),
    });
  });

  it.each([
    [['--state', 'held'], ['bare']],
    [['--category', 'data'], ['weather']],
    [['--verified'], ['example-prices']],
    [['--unverified', '--state', 'live'], ['weather']],
    [['--limit', '1'], ['bare']],
  ])('keeps to %j', async (filters, slugs) => {
    const { json } = await (await makeThree()).runJson('list', ...filters);
    expect(json.listings.map(({ slug }: { slug: string }) => slug)).toEqual(slugs);
    expect(json.total).toBe(filters[0] === '--limit' ? 3 : slugs.length);
  });

  it('aligns columns on a terminal and cuts titles to its width', async () => {
    const { run } = await makeThree({
      title: 'A title that goes on and on, far beyond what any terminal of eighty holds',
    });
    const { stdout } = await run(['list'], { columns: 80 });
    const lines = stdout.replace(ANSI, '').split('\n');
    expect(lines[0]).toMatch(/slug .*state .*category .*title/);
    expect(lines[2]).toContain('…');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });
});

const ANSI = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

describe('show', () => {
  it('shows texts, terms, networks, sources and receipts', async () => {
    const { stdout, code } = await (await makeThree()).run(['show', 'example-prices']);
    expect(code).toBe(0);
    for (const part of [
      'Answers what a thing costs.',
      'GET /v1/price/:symbol',
      '0.001 USDC on base to 0x1111111111111111111111111111111111111111, declared by example-prices.yaml',
      'manifest\t2026-11-01 00:00:00 UTC\t–\texample-prices.yaml',
      'settlement-verified 2026-11-20 12:00:00 UTC',
    ]) {
      expect(stdout).toContain(part);
    }
  });

  it('names the nearest slug for one that is not there', async () => {
    const { run, runJson } = await makeThree();
    expect(await run(['show', 'wether'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: There is no listing "wether".\nhint: Did you mean weather?\n',
    });
    expect((await runJson('show', 'wether')).json.error).toMatchObject({ code: 'not_found', reason: 'no_listing' });
  });

  it('lets no control sequence of a provider through to a terminal, nor into JSON', async () => {
    const evil = '\u001b]0;owned\u0007\u009b31mred\u202eback';
    const { run } = await makeThree({ title: evil, description: `a${evil}\nb` });
    for (const args of [['show', 'example-prices'], ['list'], ['show', 'example-prices', '--json']]) {
      const { stdout } = await run(args, { columns: 100 });
      expect(stdout.replace(ANSI, '')).not.toMatch(/(?!\n)\p{Cc}|\p{Cf}/u);
    }
    const { stdout } = await run(['show', 'example-prices', '--json']);
    expect(JSON.parse(stdout).listing.title).toBe(evil);
  });
});

describe('why', () => {
  it('gives every decision with its time, reason and dated evidence', async () => {
    const { run, runJson } = await makeThree();
    await run(['delist', 'example-prices', '--reason', 'Answers nonsense']);
    const { json } = await runJson('why', 'example-prices');
    expect(json).toMatchObject({ slug: 'example-prices', state: 'delisted' });
    expect(json.standing[0]).toBe(
      'It is not live: the operator removed it, 2026-11-20 12:00:00 UTC: Answers nonsense.',
    );
    const kinds = json.decisions.map(({ kind }: { kind: string }) => kind);
    expect(kinds.slice(0, 4)).toEqual(['listed', 'categorised', 'priced', 'verified']);
    expect(kinds.at(-1)).toBe('delisted');
    expect(json.decisions[0]).toMatchObject({
      revision: 1,
      at: NOW,
      what: 'New listing',
      why: 'a manifest says so',
      evidence: ['manifest example-prices.yaml, seen 2026-11-01 00:00:00 UTC'],
    });
    expect((await run(['why', 'example-prices'], { columns: 80 })).stdout).toContain('Delisted by the operator');
  });

  it('says what a listing needs to go live', async () => {
    const { stdout } = await (await makeThree()).run(['why', 'bare']);
    expect(stdout).toContain('It is not live: no source states a price that can be taken.');
  });

  it('finds a listing by its address, and says if nothing is known about it', async () => {
    const { run, runJson } = await makeThree();
    expect((await runJson('why', 'https://weather.provider-of-tests.com/v1/x')).json.slug).toBe('weather');
    const { code, stderr } = await run(['why', 'https://weather.provider-of-tests.com.evil.example']);
    expect([code, stderr.split('\n')[0]]).toEqual([
      1,
      'error: Nothing is on record about https://weather.provider-of-tests.com.evil.example.',
    ]);
  });
});

describe('delist and relist', () => {
  it('remove a listing with a reason and put it back, and say if nothing changes', async () => {
    const { run, runJson } = await makeThree();
    const out = await runJson('delist', 'weather', '--reason', 'Asked for', '--by', 'provider');
    expect(out.json).toMatchObject({
      changed: true,
      before: 'live',
      listing: { state: 'delisted', state_by: 'provider', state_reason: 'Asked for' },
    });
    expect((await run(['delist', 'weather', '--reason', 'Again', '--by', 'provider'])).stdout).toBe(
      'weather is delisted already (Asked for); nothing changed.\n',
    );
    expect((await runJson('relist', 'weather')).json).toMatchObject({ changed: true, listing: { state: 'live' } });
    expect((await runJson('relist', 'weather')).json).toMatchObject({ changed: false });
    expect((await runJson('relist', 'bare')).json).toMatchObject({ changed: false, listing: { state: 'held' } });
    expect((await run(['delist', 'wether', '--reason', 'x'])).stderr).toContain('Did you mean weather?');
  });
});
