import './require-node.mjs';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { EXIT } from '../src/cli/failure.ts';
import { endWithFailure, readArguments } from './entry.ts';

const ROOT = resolve(import.meta.dirname, '..');

const USAGE = {
  line: 'npm run mutate -- [--seed <n>] [--count <n>] [--against <file>] [--json <file>]',
  about: `Puts faults into the code, one at a time, and prints which of them the tests see.

  --seed <n>        draws other places (default 1)
  --count <n>       number of faults (default 60)
  --against <file>  tries only those that a run saw before, written by --json, and fails if one is missed now
  --json <file>     writes what was tried and seen
  --list            only prints the faults
  -h, --help        shows this
  -V, --version     shows the version

Files are changed in place and restored, so nothing else may run in this folder.`,
};

/** Folders whose faults the tests should see, rules and then doors, with the folder whose tests look first. */
const FOLDERS: Readonly<Record<string, string | null>> = {
  'src/evidence': 'test/evidence/',
  'src/paying': 'test/paying/',
  'src/model': 'test/model/',
  'src/sources': 'test/sources/',
  'src/x402': 'test/x402/',
  'src/fetching': 'test/fetching/',
  'src/views': 'test/views/',
  'src/mcp': 'test/mcp/',
  'src/http/endpoints': null,
};

/** Tests that start whole processes, browsers and markets: what they see of a rule others see, in a tenth of the time. */
const LEFT_OUT = [
  'test/{browser,deploy,intake,market,notifying,pictures,postgres,release}/**',
  'test/cli/{entry-point,probe-process}.test.ts',
  'test/http/{damaged-files,entry-point,probing,processes,publication,readiness,watchdog}.test.ts',
  'test/paying/{kills,hostile-nodes}.test.ts',
];

/** Longest that one look of the tests may take, in milliseconds. What hangs is seen. */
const LONGEST_MS = 900_000;

/** A fault: a piece of a file, and what is put in its place. */
interface Fault {
  readonly path: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly was: string;
  readonly becomes: string;
}

const COMPARISONS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
]);

/** Lists the faults that can be put at one node: comparisons turned, checks and bounds dropped, constants moved. */
function listFaultsAt(node: ts.Node): [replaced: ts.Node, becomes: string][] {
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const turned = COMPARISONS.get(operatorToken.kind);
    if (turned) return [[operatorToken, turned]];
    if (operatorToken.kind !== ts.SyntaxKind.AmpersandAmpersandToken) return [];
    return [
      [node, `(${right.getText()})`],
      ...(isPlain(left) ? [[node, `(${left.getText()})`] as [ts.Node, string]] : []),
    ];
  }
  // A check that returns or throws, dropped.
  if (ts.isIfStatement(node) && !node.elseStatement && isPlain(node.expression)) return [[node.expression, 'false']];
  if (ts.isNumericLiteral(node)) return [[node, String(Number(node.text.replaceAll('_', '')) + 1)]];
  if (node.kind === ts.SyntaxKind.TrueKeyword && !ts.isTypeNode(node.parent)) return [[node, 'false']];
  if (node.kind === ts.SyntaxKind.FalseKeyword && !ts.isTypeNode(node.parent)) return [[node, 'true']];
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression, name } = node.expression;
    const [first] = node.arguments;
    if (expression.getText() === 'Math' && /^(min|max)$/.test(name.text) && first && !ts.isSpreadElement(first))
      return [[node, `(${first.getText()})`]];
    if (name.text === 'slice' && node.arguments.length === 2) return [[node, expression.getText()]];
    if (name.text === 'filter' && node.arguments.length === 1) return [[node, expression.getText()]];
  }
  return [];
}

/** Returns whether what follows does not need the type that the expression narrows, so that dropping it still runs. */
function isPlain(expression: ts.Expression): boolean {
  return !/instanceof/.test(expression.getText());
}

function listFaults(path: string): Fault[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Fault[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    for (const [replaced, becomes] of listFaultsAt(node)) {
      const [start, end] = [replaced.getStart(), replaced.getEnd()];
      const line = file.getLineAndCharacterOfPosition(start).line + 1;
      found.push({ path, line, start, end, was: replaced.getText(), becomes });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/**
 * Draws faults by a digest of the seed and of each fault with the line it is in, so that those of a line that did not
 * change are drawn again however much changes elsewhere. Rules and doors are drawn from by the number of their faults.
 */
function drawFaults(seed: number, count: number): Fault[] {
  const all = Object.keys(FOLDERS).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .flatMap((entry) => listFaults(relative(ROOT, join(entry.parentPath, entry.name)))),
  );
  const digest = (fault: Fault) =>
    createHash('sha256')
      .update(`${seed} ${getName(fault)}`)
      .digest('hex');
  return [...new Map(all.map((fault) => [getName(fault), fault])).values()]
    .map((fault) => ({ fault, place: digest(fault) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .slice(0, count)
    .map(({ fault }) => fault);
}

/** A fault without the number of its line, which other changes move. */
function getName({ path, start, was, becomes }: Fault): string {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const line = text.slice(text.lastIndexOf('\n', start) + 1, text.indexOf('\n', start)).trim();
  return `${path}: ${line}: ${was} → ${becomes}`;
}

/** Runs the tests of a folder, or else all that a file is related to but those left out, and returns whether one fails. */
async function isSeen(what: { folder: string } | { path: string }): Promise<boolean> {
  const which = 'folder' in what ? ['run', what.folder] : ['related', what.path, '--run'];
  const leftOut = LEFT_OUT.map((files) => `--exclude=${files}`);
  const args = [...which, ...leftOut, '--bail=1', '--reporter=dot', '--passWithNoTests', '--testTimeout=120000'];
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd: ROOT,
    // The Node of the repository, also where this was not started by npm.
    env: { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
    stdio: 'ignore',
    detached: true,
  });
  const { promise, resolve: settle } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    settle(true);
  }, LONGEST_MS);
  child.once('exit', (code) => settle(code !== 0));
  return promise.finally(() => clearTimeout(timer));
}

/** Puts a fault into its file, looks whether a test sees it, and restores the file. */
async function tryFault(fault: Fault): Promise<boolean> {
  const file = join(ROOT, fault.path);
  const [, folder] = Object.entries(FOLDERS).find(([key]) => fault.path.startsWith(`${key}/`)) ?? [];
  const text = readFileSync(file, 'utf8');
  const restore = () => writeFileSync(file, text);
  process.once('exit', restore);
  try {
    writeFileSync(file, text.slice(0, fault.start) + fault.becomes + text.slice(fault.end));
    return (folder ? await isSeen({ folder }) : false) || (await isSeen({ path: fault.path }));
  } finally {
    restore();
    process.off('exit', restore);
  }
}

/** Runs `npm run mutate`. Returns the exit code: 1 where a fault that was seen before is missed. */
async function run(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = readArguments(USAGE, {
    ...{ seed: text, count: text, against: text, json: text, list: { type: 'boolean' } },
  });
  process.once('SIGINT', () => process.exit(EXIT.failed));
  process.once('SIGTERM', () => process.exit(EXIT.failed));
  const before: { name: string; seen: boolean }[] | undefined =
    values.against && JSON.parse(readFileSync(values.against, 'utf8'));
  const wanted = before && new Set(before.filter(({ seen }) => seen).map(({ name }) => name));
  const drawn = drawFaults(Number(values.seed ?? 1), Number(values.count ?? 60));
  const faults = drawn.filter((fault) => wanted?.has(getName(fault)) ?? true);
  if (values.list) for (const fault of faults) process.stdout.write(`${getName(fault)}\n`);
  if (values.list) return EXIT.done;
  const results: { name: string; line: number; seen: boolean; seconds: number }[] = [];
  for (const fault of faults) {
    const [name, began] = [getName(fault), performance.now()];
    const seen = await tryFault(fault);
    results.push({ name, line: fault.line, seen, seconds: Math.round((performance.now() - began) / 1000) });
    process.stdout.write(`${seen ? 'seen  ' : 'MISSED'} ${fault.path}:${fault.line} ${fault.was} → ${fault.becomes}\n`);
    if (values.json) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  }
  const missed = results.filter(({ seen }) => !seen).length;
  process.stdout.write(`${results.length - missed} of ${results.length} faults seen, ${missed} missed.\n`);
  return before && missed > 0 ? EXIT.failed : EXIT.done;
}

try {
  process.exit(await run());
} catch (error) {
  endWithFailure(error);
}
