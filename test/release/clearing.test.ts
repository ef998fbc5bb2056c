import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { publishAssets } from '../../src/release/page-code.ts';
import { prunePageCode, pruneReleases, removeUnfinished } from '../../src/release/prune.ts';
import { makeFolder } from '../builders.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = new Date('2026-11-20T12:00:00.000Z');

it('assets outlive the pages that used them by 30 days', () => {
  const [clientDir, assetsDir] = [makeFolder(), makeFolder()];
  const put = (folder: string, name: string, content: string, ageDays: number) => {
    mkdirSync(join(folder, '_astro'), { recursive: true });
    writeFileSync(join(folder, '_astro', name), content);
    const at = new Date(NOW.getTime() - ageDays * DAY);
    utimesSync(join(folder, '_astro', name), at, at);
  };
  put(clientDir, 'new.css', 'new', 0);
  put(clientDir, 'cut.js', 'whole', 400);
  put(assetsDir, 'cut.js', 'who', 1);
  put(assetsDir, 'recent.css', 'recent', 29);
  put(assetsDir, 'ancient.css', 'ancient', 31);
  publishAssets({ version: 'test', folder: '', entry: '', clientDir }, assetsDir, NOW);
  expect(readdirSync(join(assetsDir, '_astro')).sort()).toEqual(['cut.js', 'new.css', 'recent.css']);
  expect(readFileSync(join(assetsDir, '_astro/cut.js'), 'utf8')).toBe('whole');
});

it('clearing away leaves the three latest releases, whatever their format, and nothing half-made', () => {
  const dist = makeFolder();
  for (const name of [
    '20260101-r1',
    '20260102-r2',
    '20260103-r3',
    '20260104-r4',
    '.20260105-r5.unfinished',
    '.20260101-r0.old',
  ]) {
    mkdirSync(join(dist, 'releases', name, 'api'), { recursive: true });
  }
  writeFileSync(join(dist, '.current.20260105-r5.unfinished'), '');
  writeFileSync(join(dist, 'rebuild.lock'), '');
  removeUnfinished(dist);
  pruneReleases(dist);
  expect(readdirSync(join(dist, 'releases'))).toEqual(['20260102-r2', '20260103-r3', '20260104-r4']);
  expect(readdirSync(dist).sort()).toEqual(['rebuild.lock', 'releases']);
  expect(existsSync(join(dist, 'current'))).toBe(false);
});

it('compiled pages that nobody uses go after a week, and after a day where the same code was compiled again', () => {
  const codeDir = makeFolder();
  const [own, other] = ['0123456789abcdef', 'fedcba9876543210'];
  const put = (name: string, ageDays: number) => {
    mkdirSync(join(codeDir, name, 'server'), { recursive: true });
    const at = new Date(NOW.getTime() - ageDays * DAY);
    utimesSync(join(codeDir, name), at, at);
  };
  put(`${own}-20261101T000000000Z`, 20);
  put(`${own}-20261119T000000000Z`, 0.5);
  put(`${own}-20261110T000000000Z`, 2);
  put(`${other}-20261101T000000000Z`, 6);
  put(`${other}-20261001T000000000Z`, 8);
  put(other, 8);
  const folder = join(codeDir, `${own}-20261101T000000000Z`);
  prunePageCode({ version: own, folder, entry: '', clientDir: '' }, NOW);
  expect(readdirSync(codeDir).sort()).toEqual([
    `${own}-20261101T000000000Z`,
    `${own}-20261119T000000000Z`,
    `${other}-20261101T000000000Z`,
  ]);
});
