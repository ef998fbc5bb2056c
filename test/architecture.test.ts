import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../src/model/network.ts';
import { CAMPAIGNS } from './long/campaigns.ts';

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
  'site',
  'pictures',
  'pages',
  'layouts',
  'components',
  'middleware',
];
/** Modules of the catalogue that write: nothing on the serving side may reach them. */
const WRITERS = /^src\/catalogue\/write\//;

/** The number of files that may reach past the doors. It only goes down. */
const MOST_REACHING = 80;

/** What a test does that reaches past the doors: imports of the catalogue's functions, and SQL. The files in `test/` itself do it for all. */
const REACHES_STORE =
  /^import (?!type\b)[^;]*? from '(?:\.\.\/)+src\/catalogue\/|\.(?:prepare|pragma)\(|\.(?:selectFrom|updateTable|insertInto|deleteFrom)\(/m;

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

  it('keeps writing out of the serving side, Kysely inside the catalogue, and SQLite there, in the published one, in submissions and in the record of pages', () => {
    const wrong = files.flatMap(({ path, imports }) =>
      imports
        .filter(
          (target) =>
            (SERVING.includes(getFolder(path)) && WRITERS.test(target)) ||
            (/^kysely/.test(target) && getFolder(path) !== 'catalogue') ||
            (/^better-sqlite3/.test(target) &&
              !['catalogue', 'published', 'submissions', 'site'].includes(getFolder(path))),
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

describe('a test', () => {
  it('puts things into a catalogue and asks for them at the doors, but for those listed, which may only become fewer', () => {
    const reaching = listFiles(join(ROOT, 'test'))
      .filter((path) => path.endsWith('.ts') && !/^test\/(?:catalogue\/|[^/]+$)/.test(path))
      .filter((path) => REACHES_STORE.test(readFileSync(join(ROOT, path), 'utf8')));
    const listed = readFileSync(join(ROOT, 'test/reaching.txt'), 'utf8').trim().split('\n');
    expect(reaching).toEqual(listed);
    expect(listed.length).toBeLessThanOrEqual(MOST_REACHING);
  });

  it('that is long is a campaign with a purpose, a time, and folders that there are', () => {
    const files = readdirSync(join(ROOT, 'test/long')).filter((name) => name.endsWith('.long.ts'));
    expect(files.map((name) => name.replace('.long.ts', ''))).toEqual(Object.keys(CAMPAIGNS));
    const folders = new Set(Object.values(CAMPAIGNS).flatMap(({ covers }) => covers));
    expect([...folders].filter((folder) => !MAY_IMPORT.has(folder))).toEqual([]);
  });

  it('that is skipped says what it needs', () => {
    const files = listFiles(join(ROOT, 'test')).filter((path) => path.endsWith('.ts'));
    const silent = files.filter((path) =>
      /\b(?:it|describe)\.(?:skipIf|runIf|skip|todo)\b|\.skip\(\)/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(silent).toEqual([]);
  });
});

describe('the table of chains', () => {
  const code = [...files.map(({ path }) => path), ...listFiles(join(ROOT, 'scripts'))]
    .filter((path) => path.endsWith('.ts') && path !== 'src/model/chains.ts')
    .map((path) => ({ path, file: parseFile(path) }));

  it('is the only place where a chain is told from others by its name: rules ask its family', () => {
    const tests = code.flatMap(({ path, file }) =>
      listNodes(file, isTestOfChain).map((node) => describeNode(path, node)),
    );
    expect(tests).toEqual([]);
  });

  it('is the only place in src that names a chain, but for the examples of documents', () => {
    const named = code.filter(({ path, file }) => path.startsWith('src/') && listNodes(file, isNameOfChain).length > 0);
    expect(named.map(({ path }) => path)).toEqual([
      'src/http/endpoints/agent-check.ts',
      'src/http/endpoints/agent-list.ts',
      'src/http/endpoints/agent-receipt.ts',
      'src/http/endpoints/discovery.ts',
      'src/views/agent-clients.ts',
      'src/views/openapi/example.ts',
      'src/views/pages/provider-wishes.ts',
    ]);
  });

  it.each([
    "network === 'base'",
    "'solana' !== key",
    "switch (key) { case 'base': }",
    "keys.includes('base')",
    "isUsdc('solana', asset)",
    'network === NETWORKS.base.key',
    "id.startsWith('eip155:8453')",
    "sql(`iif(network = 'base', 1, 2)`)",
    `const of = { ${Object.keys(NETWORKS).join(', ')} }`,
  ])('would be found out by: %s', (text) => {
    const isFound = (node: ts.Node) => isTestOfChain(node) || isNameOfChain(node);
    expect(listNodes(parseText(text), isFound)).toHaveLength(1);
  });
});

const NAMES_OF_CHAINS = Object.values(NETWORKS).flatMap(({ key, id }) => [key, id]);

/** Says whether a piece of code compares with the name of a chain, or looks for it. */
function isTestOfChain(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node) && NAMES_OF_CHAINS.some((name) => node.text.includes(`'${name}'`))) return true;
  if (!isNameOfChain(node)) return false;
  const { parent } = ts.isPropertyAccessExpression(node.parent) ? node.parent : node;
  const isCompared = ts.isBinaryExpression(parent) && /^[!=]==?$/.test(parent.operatorToken.getText());
  const isSought =
    ts.isCallExpression(parent) && /\.(includes|indexOf|has|startsWith)$/.test(parent.expression.getText());
  return isCompared || isSought || ts.isCaseClause(parent);
}

/** Says whether a piece of code is the name of a chain, its entry of the table, or an object with a member for each chain. */
function isNameOfChain(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return NAMES_OF_CHAINS.includes(node.text);
  if (ts.isPropertyAccessExpression(node))
    return node.expression.getText() === 'NETWORKS' && node.name.text in NETWORKS;
  if (ts.isVariableDeclaration(node))
    return ts.isObjectBindingPattern(node.name) && node.initializer?.getText() === 'NETWORKS';
  if (!ts.isObjectLiteralExpression(node)) return false;
  const names = node.properties.map((property) => property.name?.getText());
  return Object.keys(NETWORKS).every((key) => names.includes(key));
}

function parseFile(path: string): ts.SourceFile {
  return parseText(readFileSync(join(ROOT, path), 'utf8'));
}

function parseText(text: string): ts.SourceFile {
  return ts.createSourceFile('read.ts', text, ts.ScriptTarget.Latest, true);
}

function listNodes(node: ts.Node, isWanted: (node: ts.Node) => boolean): ts.Node[] {
  const found = isWanted(node) ? [node] : [];
  ts.forEachChild(node, (child) => void found.push(...listNodes(child, isWanted)));
  return found;
}

function describeNode(path: string, node: ts.Node): string {
  const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
  return `${path}:${line + 1} ${node.parent.getText().slice(0, 80)}`;
}

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
