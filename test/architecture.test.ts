import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * What each folder may import of the others, besides `errors` and `model`, which all may: the table of the manual.
 * `catalogue` stands for its readers and, left of the catalogue, its writers.
 */
const MAY_IMPORT = readFolderTable(readFileSync(join(ROOT, 'src/docs/architecture.md'), 'utf8'));

const SERVING = [
  'published',
  'views',
  'mcp',
  'http',
  'release',
  'pictures',
  'pages',
  'layouts',
  'components',
  'middleware',
];
/** Modules of the catalogue that write: nothing on the serving side may reach them. */
const WRITERS = /^src\/catalogue\/write\//;

const files = listFiles(join(ROOT, 'src')).map((path) => ({ path, imports: listImports(path) }));

describe('the folder table', () => {
  it('knows every folder of src, and no other', () => {
    expect([...MAY_IMPORT.keys()].sort()).toEqual([...new Set(files.map(({ path }) => getFolder(path)))].sort());
    expect([...MAY_IMPORT.values()].flat().filter((folder) => !MAY_IMPORT.has(folder))).toEqual([]);
  });

  it('allows every import', () => {
    const forbidden = files.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('src/'))
        .filter((target) => !isAllowed(getFolder(path), getFolder(target)))
        .map((target) => `${path} imports ${target}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('has no circle of imports, of types neither', () => {
    const known = new Map(files.map(({ path, imports }) => [path, imports]));
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (path: string, way: readonly string[]) => {
      if (state.get(path) === 'open') circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
      if (state.has(path)) return;
      state.set(path, 'open');
      for (const target of known.get(path) ?? []) if (known.has(target)) visit(target, [...way, path]);
      state.set(path, 'done');
    };
    for (const path of known.keys()) visit(path, []);
    expect(circles).toEqual([]);
  });

  it('keeps writing out of the serving side, Kysely inside the catalogue, and SQLite there and in the published one', () => {
    const wrong = files.flatMap(({ path, imports }) =>
      imports
        .filter(
          (target) =>
            (SERVING.includes(getFolder(path)) && WRITERS.test(target)) ||
            (/^kysely/.test(target) && getFolder(path) !== 'catalogue') ||
            (/^better-sqlite3/.test(target) && !['catalogue', 'published'].includes(getFolder(path))),
        )
        .map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('reads the environment in src/config.ts alone', () => {
    const readers = files.filter(({ path }) => readsEnvironment(path, readFileSync(join(ROOT, path), 'utf8')));
    expect(readers.map(({ path }) => path)).toEqual(['src/config.ts']);
  });
});

/** Says whether code, and not only a text in it, says `process.env`. What is no TypeScript may not say it at all. */
function readsEnvironment(path: string, source: string): boolean {
  if (!source.includes('process.env') || !path.endsWith('.ts')) return source.includes('process.env');
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest);
  const isFoundIn = (node: ts.Node): boolean =>
    (ts.isPropertyAccessExpression(node) && node.getText(file) === 'process.env') ||
    ts.forEachChild(node, (child) => isFoundIn(child) || undefined) === true;
  return isFoundIn(file);
}

function isAllowed(from: string, to: string): boolean {
  return from === to || to === 'errors' || to === 'model' || (MAY_IMPORT.get(from)?.includes(to) ?? false);
}

/** Reads the rows of the table that begins with `in src/`: a folder, what it is, and the folders that it may import. */
function readFolderTable(manual: string): ReadonlyMap<string, readonly string[]> {
  const [, table = ''] = /^\| in `src\/`.*\n((?:\|.*\n)+)/m.exec(manual) ?? [];
  const rows = table.matchAll(/^\| `([a-z\d]+)` *\|[^|]*\|([^|]*)\|$/gm);
  return new Map([...rows].map(([, folder = '', imports = '']) => [folder, imports.match(/[a-z\d]+/g) ?? []]));
}

/** `src/model/route.ts` → `model`, `src/config.ts` → `config`. */
function getFolder(path: string): string {
  return (path.split('/')[1] ?? '').replace(/(\.d)?\.(ts|astro)$/, '');
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** Lists what a file imports: own files as paths from the root, packages by name. */
function listImports(path: string): string[] {
  if (!/\.(ts|astro)$/.test(path)) return [];
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'";]*?\bfrom\s+['"]([^'"]+)['"]|\bimport\(?\s*['"]([^'"]+)['"]/g,
  );
  return [...found]
    .map((match) => match[1] ?? match[2] ?? '')
    .map((target) =>
      target.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(path), target.split('?')[0] ?? target)) : target,
    );
}
