import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { seedCatalogue } from '../../src/importing/manifests.ts';
import { IDENTITY, makeCatalogue, makeFolder, NOW } from '../builders.ts';
import { makeCommands, writeManifest } from '../cli/running.ts';

describe('importing manifests', () => {
  it('adds a listing for each, and the same again changes nothing', async () => {
    const { folder, runJson } = makeCommands();
    const paths = [writeManifest(folder, 'alpha.yaml'), writeManifest(folder, 'beta.yml')];
    const first = await runJson('import', ...paths);
    expect(first.code).toBe(0);
    expect(first.json).toMatchObject({
      complete: true,
      revision: { before: 0, after: 1 },
      listings: { added: 2, changed: 0, unchanged: 0, held: 0 },
      items: { received: 2, taken: 2, refused: 0 },
      outcomes: [
        { outcome: 'added', slug: 'alpha', file: 'alpha.yaml' },
        { outcome: 'added', slug: 'beta', file: 'beta.yml' },
      ],
      findings: [],
    });
    const again = await runJson('import', folder);
    expect(again.json).toMatchObject({ revision: { before: 1, after: 1 }, listings: { added: 0, unchanged: 2 } });
  });

  it('records what changed when a manifest did', async () => {
    const { folder, runJson } = makeCommands();
    const path = writeManifest(folder, 'alpha.yaml');
    await runJson('import', path);
    writeFileSync(path, readFileSync(path, 'utf8').replace('0.002', '0.003'));
    expect((await runJson('import', path)).json).toMatchObject({ listings: { changed: 1 }, revision: { after: 2 } });
    const { json } = await runJson('why', 'alpha');
    expect(json.decisions.at(-1)).toMatchObject({ revision: 2 });
    expect(json.decisions.map(({ what }: { what: string }) => what)).toContain('Price 0.003 USDC, before 0.002 USDC');
  });

  it('refuses a broken manifest with file and line, imports the others, and ends with 0', async () => {
    const { folder, run, runJson } = makeCommands();
    const good = writeManifest(folder, 'alpha.yaml');
    const broken = join(folder, 'broken.yaml');
    writeFileSync(broken, 'name: Broken\nbase_url: https://broken.provider-of-tests.com\ntagline: Things.\nprise: 3\n');
    const { code, json } = await runJson('import', broken, good);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      complete: true,
      listings: { added: 1 },
      items: { received: 2, taken: 1, refused: 1 },
      reasons: [{ code: 'manifest_unknown_field', severity: 'refused', count: expect.any(Number) }],
      next: expect.stringContaining('run the same command again'),
    });
    expect(json.findings[0].message).toContain('broken.yaml, line 4:');
    expect((await run(['import', broken])).stdout).toMatch(/^refused\tbroken\.yaml$/m);
    expect((await runJson('list')).json.listings).toHaveLength(1);
  });

  it('appends the id to a slug that is taken, reports that, and keeps it', async () => {
    const { folder, runJson } = makeCommands();
    const first = writeManifest(folder, 'alpha.yaml');
    const second = writeManifest(folder, 'other.yaml', { slug: 'alpha' });
    const { code, json } = await runJson('import', first, second);
    expect(code).toBe(0);
    expect(json.outcomes[1].slug).toMatch(/^alpha-[0-9a-f]{8}$/);
    expect(json.findings).toMatchObject([{ code: 'slug_taken', severity: 'noted', item: 'other.yaml' }]);
    expect((await runJson('import', second, first)).json.listings).toMatchObject({ unchanged: 2 });
    const renamed = writeManifest(folder, 'alpha.yaml', { slug: 'gamma' });
    expect((await runJson('import', renamed)).json).toMatchObject({
      outcomes: [{ slug: 'alpha' }],
      findings: [{ code: 'slug_kept' }],
    });
  });

  it('leaves a delisted listing delisted', async () => {
    const { folder, runJson } = makeCommands();
    const path = writeManifest(folder, 'alpha.yaml');
    await runJson('import', path);
    await runJson('delist', 'alpha', '--reason', 'Gone for good');
    expect((await runJson('import', path)).json).toMatchObject({ listings: { delisted: 1, added: 0 } });
  });

  it('records nothing if a path does not exist', async () => {
    const { folder, run, runJson } = makeCommands();
    const { code, stderr } = await run(['import', writeManifest(folder, 'alpha.yaml'), join(folder, 'none.yaml')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: There is no file or folder .*none\.yaml\.\nhint: /);
    expect((await runJson('list')).json.error.reason).toBe('no_catalogue');
  });

  it('names the first path that does not exist', async () => {
    const { folder, run, runJson } = makeCommands();
    const good = writeManifest(folder, 'alpha.yaml');
    const { code, json } = await runJson('import', 'a.yaml', good, 'b');
    expect([code, json.error.reason]).toEqual([1, 'no_such_file']);
    expect(json.error.message).toBe('There is no file or folder a.yaml.');
    const many = Array.from({ length: 40 }, (_, i) => `${'x'.repeat(300)}${i}`);
    const { stderr } = await run(['import', ...many]);
    expect(stderr).toMatch(/^error: There is no file or folder x+…\.\n/);
    expect(stderr.length).toBeLessThan(800);
  });

  it('treats an empty name as wrong usage', async () => {
    const { code, stderr } = await makeCommands().run(['import', '']);
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      'error: The argument <path> cannot be ""; it takes the name of a file or folder.',
    ]);
  });

  it('says that a folder without manifests holds nothing to import', async () => {
    const { folder, runJson } = makeCommands();
    const { code, json } = await runJson('import', folder);
    expect(code).toBe(1);
    expect(json).toMatchObject({ items: { received: 0 }, next: expect.stringMatching(/nothing to import/) });
    expect((await runJson('status')).json.findings).toEqual([]);
  });

  it('makes readers see a batch of a hundred together', async () => {
    const { folder, runJson } = makeCommands();
    const many = join(folder, 'many');
    mkdirSync(many);
    for (let i = 0; i < 130; i++) writeManifest(many, `many-${i}.yaml`);
    expect((await runJson('import', many)).json).toMatchObject({ listings: { added: 130 }, revision: { after: 2 } });
  });
});

describe('seeding', () => {
  it('fills an empty catalogue from a folder, and leaves one with listings alone', async () => {
    const folder = makeFolder();
    writeManifest(folder, 'alpha.yaml');
    const catalogue = await makeCatalogue();
    const report = await seedCatalogue(catalogue, folder, () => new Date(NOW));
    expect(report?.listings).toMatchObject({ added: 1 });
    writeManifest(folder, 'beta.yaml');
    expect(await seedCatalogue(catalogue, folder, () => new Date(NOW))).toBeUndefined();
  });

  it('keeps ids when the catalogue is made again', async () => {
    const folder = makeFolder();
    writeManifest(folder, 'alpha.yaml');
    const ids = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const catalogue = await openCatalogue(join(folder, name), { identity: IDENTITY, at: NOW });
        const report = await seedCatalogue(catalogue, folder, () => new Date(NOW));
        await catalogue.close();
        return report?.outcomes[0]?.id;
      }),
    );
    expect(ids[0]).toBe(ids[1]);
  });
});
