import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../src/commands/index.ts';
import { PATHS } from '../src/views/links.ts';
import { listQuery } from '../src/views/list-query.ts';
import { makeCommands } from './commands/running.ts';

const ROOT = resolve(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const SCRIPTS = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts as Record<string, string>;

describe('the README', () => {
  it('names the two commands exactly, and CI runs the second', () => {
    expect(README).toContain('```sh\nnpm ci && npm start\n```');
    expect(README).toContain('```sh\nnpm ci && npm test\n```');
    const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8');
    expect(ci.trim().split('\n').slice(-2)).toEqual(['npm ci', 'npm test']);
  });

  it('names only scripts, commands, files and addresses that exist', () => {
    const scripts = [...README.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(scripts.filter((name) => !(name in SCRIPTS))).toEqual([]);
    const table = README.slice(README.indexOf('## For operators'), README.indexOf('## How it works'));
    const rows = table.match(/^\| `.*/gm)?.join('\n') ?? '';
    expect(new Set([...rows.matchAll(/`([a-z]+)/g)].map(([, name]) => name))).toEqual(new Set(Object.keys(COMMANDS)));
    const links = [...README.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = '']) => target);
    expect(links.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
    const doors = [...README.matchAll(/`(?:GET|POST) (\/[^`?]*)`/g)].map(([, path]) => path);
    const known: string[] = [
      ...Object.values(PATHS).filter((path) => typeof path === 'string'),
      ...[PATHS.agentListing('{slug}'), PATHS.agentReceipt('{id}'), PATHS.listingMarkdown('{slug}')],
    ];
    expect(doors.filter((path = '') => !known.includes(path))).toEqual([]);
  });

  it('names every filter of the list', () => {
    expect(Object.keys(listQuery.shape).filter((name) => !README.includes(`\`${name}\``))).toEqual([]);
  });

  it('shows what importing the seed again says', async () => {
    const { run } = makeCommands();
    const seed = join(ROOT, 'data/listings');
    await run(['import', seed], { columns: 120 });
    const { stdout } = await run(['import', seed], { columns: 120 });
    const shown = README.slice(README.indexOf('Listings\n'), README.indexOf('The revision is still 1.'));
    expect(stripColour(stdout).replace(/ +$/gm, '')).toContain(shown);
  });
});

function stripColour(text: string): string {
  return text.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '');
}
