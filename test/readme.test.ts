import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES } from '../src/cli/index.ts';
import { PATHS } from '../src/views/links.ts';
import { makeCommands } from './cli/running.ts';

const ROOT = resolve(import.meta.dirname, '..');
const README = readText('README.md');
const OPERATING = readText('src/docs/operating.md');
const ARCHITECTURE = readText('src/docs/architecture.md');
const PACKAGE = JSON.parse(readText('package.json'));

/** Every address that has no variable part. */
const ADDRESSES: readonly string[] = Object.values(PATHS).filter((path) => typeof path === 'string');
/** Those with one, as texts spell them. */
const TEMPLATES: readonly string[] = [
  PATHS.listing('{slug}'),
  PATHS.agentListing('{slug}'),
  PATHS.agentReceipt('{id}'),
];

describe('the README', () => {
  it('names the two commands exactly, and CI runs the second', () => {
    expect(README).toContain('```sh\nnpm ci && npm start\n```');
    expect(README).toContain('```sh\nnpm ci && npm test\n```');
    const install = 'timeout --kill-after=10s 15m npm ci';
    expect(readText('.ci/run').trim().split('\n').slice(-2)).toEqual([`${install} || ${install}`, 'npm test']);
  });

  it('is short', () => {
    expect(README.split(/\s+/).length).toBeLessThan(900);
  });

  it('names every page of the documentation', () => {
    const pages = ADDRESSES.filter((path) => path.startsWith(`${PATHS.docs}/`));
    expect(pages.filter((path) => !README.includes(`\`${path}\``))).toEqual([]);
  });
});

describe('the manual for operators', () => {
  it('names every command, and no other', () => {
    const table = OPERATING.slice(OPERATING.indexOf('| command '), OPERATING.indexOf('Importing the manifests'));
    const cells = table.match(/^\| `[^|]*/gm)?.join('\n') ?? '';
    expect(new Set([...cells.matchAll(/`([a-z]+)/g)].map(([, name]) => name))).toEqual(new Set(COMMAND_NAMES));
  });

  it('names only settings that there are', () => {
    const settings = readText('.env.example') + readText('.env.payer.example');
    const named = [...OPERATING.matchAll(/`([A-Z]+(?:_[A-Z]+)+|HOST|PROBE)\b/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !new RegExp(`^${name}=`, 'm').test(settings))).toEqual([]);
  });

  it('shows what importing the seed again says', async () => {
    const { run } = makeCommands();
    const seed = join(ROOT, 'data/listings');
    await run(['import', seed], { columns: 120 });
    const { stdout } = await run(['import', seed], { columns: 120 });
    const shown = OPERATING.slice(OPERATING.indexOf('Listings\n'), OPERATING.indexOf('The revision is still 1.'));
    expect(shown).toContain('unchanged');
    expect(stripColour(stdout).replace(/ +$/gm, '')).toContain(shown);
  });
});

describe('the manual of the architecture', () => {
  it('says of each package what it is for, and of no other', () => {
    const listNamed = (heading: string) => {
      const [, table = ''] = new RegExp(`^\\| ${heading} .*\\n((?:\\|.*\\n)+)`, 'm').exec(ARCHITECTURE) ?? [];
      return [...table.matchAll(/^\| `([^`]+)` *\| \S/gm)].map(([, name]) => name);
    };
    expect(listNamed('package')).toEqual(Object.keys(PACKAGE.dependencies));
    expect(listNamed('for development')).toEqual(Object.keys(PACKAGE.devDependencies));
  });

  it('names only files that exist', () => {
    const files = [...ARCHITECTURE.matchAll(/`([a-z0-9]+\/[\w/-]+\.ts)`/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(40);
    expect(files.filter((file) => !existsSync(join(ROOT, 'src', file)) && !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe.each([
  ['the README', README],
  // Without the table of settings, whose defaults name files that a start makes.
  ['the manual for operators', OPERATING.replace(/<!-- settings -->.*<!-- \/settings -->/s, '')],
  ['the manual of the architecture', ARCHITECTURE],
])('%s', (_, text) => {
  it('names only scripts, files and addresses that exist', () => {
    const scripts = [...text.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(scripts.filter((name) => !(name in PACKAGE.scripts))).toEqual([]);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    expect(links.filter((target) => !ADDRESSES.includes(target) && !existsSync(join(ROOT, target)))).toEqual([]);
    const addresses = [...text.matchAll(/`(?:(?:GET|POST) )?(\/[^`?]*)`/g)].map(([, path = '']) => path);
    expect(addresses.filter((path) => !ADDRESSES.includes(path) && !TEMPLATES.includes(path))).toEqual([]);
    const files = [...text.matchAll(/`((?:src|scripts|data|test)\/[^`]+|\.env[^`]*)`/g)].map(([, file = '']) => file);
    const isThere = (file: string) => existsSync(join(ROOT, file)) || existsSync(join(ROOT, `${file}.example`));
    expect(files.filter((file) => !isThere(file))).toEqual([]);
  });
});

function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function stripColour(text: string): string {
  return text.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '');
}
