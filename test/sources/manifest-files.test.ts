import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readManifests } from '../../src/sources/manifest.ts';
import { listAll } from './list-all.ts';

const OPTIONS = { allowPrivateNetworks: false, now: '2026-11-20T12:00:00.000Z' };

function makeManifest(name: string): string {
  return `name: ${name}\nbase_url: https://${name}.example\ntagline: One.\nprice_usdc: 1\n`;
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it('files and folders are read in order, folders by name and only their manifests', async () => {
  const folder = makeFolder();
  for (const name of ['b.yml', 'a.yaml', 'notes.txt', '.hidden.yaml'])
    writeFileSync(join(folder, name), makeManifest('tides'));
  mkdirSync(join(folder, 'deeper'));
  const single = join(folder, 'notes.txt');
  const read = await listAll(readManifests([folder, single], OPTIONS));
  expect(read.map(({ name }) => name)).toEqual(['a.yaml', 'b.yml', 'notes.txt']);
  expect(read.map(({ path }) => path)).toEqual(['a.yaml', 'b.yml', 'notes.txt'].map((name) => join(folder, name)));
  expect(read.every((file) => file.declaration?.title === 'tides')).toBe(true);
});

it('one bad file does not affect others, and no finding names a path of this machine', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'a.yaml'), 'name: [');
  writeFileSync(join(folder, 'b.yaml'), Buffer.from([0x6e, 0x3a, 0xff, 0xfe]));
  writeFileSync(join(folder, 'c.yaml'), '#'.repeat(1024 * 1024 + 1));
  writeFileSync(join(folder, 'd.yaml'), makeManifest('tides'));
  mkdirSync(join(folder, 'e.yaml'));
  const read = await listAll(readManifests([folder], OPTIONS));
  const codes = read.map(({ findings }) => findings.map(({ code }) => code));
  expect(codes).toEqual([
    ['manifest_yaml'],
    ['manifest_unreadable'],
    ['manifest_too_large'],
    [],
    ['manifest_not_a_file'],
  ]);
  expect(JSON.stringify(read.map(({ findings }) => findings))).not.toContain(tmpdir());
});

it('only files are read: a pipe, a socket or a device is reported, and never waited for', async () => {
  const folder = makeFolder();
  execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
  const server = createServer().listen(join(folder, 'socket.yaml'));
  onTestFinished(() => void server.close());
  symlinkSync('/dev/zero', join(folder, 'zero.yaml'));
  symlinkSync(join(folder, 'gone'), join(folder, 'broken.yaml'));
  writeFileSync(join(folder, 'a.yaml'), makeManifest('tides'));
  symlinkSync(join(folder, 'a.yaml'), join(folder, 'link.yaml'));
  const read = await listAll(readManifests([folder, join(folder, 'pipe.yaml')], OPTIONS));
  expect(read.map(({ name, findings }) => [name, ...findings.map(({ code }) => code)])).toEqual([
    ['a.yaml'],
    ['broken.yaml', 'manifest_unreadable'],
    ['link.yaml'],
    ['pipe.yaml', 'manifest_not_a_file'],
    ['socket.yaml', 'manifest_not_a_file'],
    ['zero.yaml', 'manifest_not_a_file'],
    ['pipe.yaml', 'manifest_not_a_file'],
  ]);
});

it('a file of any name is read, and named in one line', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'two\nlines.yaml'), makeManifest('tides'));
  writeFileSync(join(folder, 'un\u202Elmay.YML'), 'name: [');
  const read = await listAll(readManifests([folder], OPTIONS));
  expect(read.map(({ name }) => name)).toEqual(['two lines.yaml', 'unlmay.YML']);
  expect(read[0]?.declaration?.title).toBe('tides');
  expect(read[1]?.findings[0]?.message).toMatch(/^unlmay\.YML, line 1: /);
});

it('an empty folder is reported', async () => {
  const [read] = await listAll(readManifests([makeFolder()], OPTIONS));
  expect(read?.findings).toMatchObject([{ code: 'no_manifests', severity: 'noted' }]);
});

it('a path that does not exist stops the reading', async () => {
  const reading = listAll(readManifests([join(makeFolder(), 'none.yaml')], OPTIONS));
  await expect(reading).rejects.toMatchObject({ code: 'bad_input', reason: 'no_such_file' });
});
