import './require-node.mjs';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { buildUsageFailure, EXIT } from '../src/cli/failure.ts';
import { endWithFailure, readArguments } from './entry.ts';

const ROOT = resolve(import.meta.dirname, '..');

const USAGE = {
  line: 'npm run mutate -- [--seed <n>] [--count <n>] [--against <file>] [--json <file>] [--list]',
  about: `Puts faults into the code, one at a time, and prints which of them the tests see.

  --seed <n>        draws other places (default 1)
  --count <n>       number of faults (default 60)
  --against <file>  tries those that an earlier run saw, as written by --json, instead of drawing; fails if one is missed
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

/** Tests that start whole processes, browsers and markets, left out because they take long. What only they see is missed. */
const LEFT_OUT = [
  'test/{browser,deploy,intake,market,pictures,postgres,site}/**',
  'test/cli/{entry-point,probe-process}.test.ts',
  'test/http/{damaged-files,entry-point,processes,publication,readiness}.test.ts',
  'test/paying/kills.test.ts',
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

/** Returns whether an expression can be dropped without an error at once: what follows `instanceof` reads members. */
function isPlain(expression: ts.Expression): boolean {
  return !/instanceof/.test(expression.getText());
}

function listFaults(path: string): Fault[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Fault[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node)) return;
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

/** Lists every fault that can be put into a folder of rules or doors. Of those with one name, the last. */
function listAllFaults(): Fault[] {
  const all = Object.keys(FOLDERS).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .flatMap((entry) => listFaults(relative(ROOT, join(entry.parentPath, entry.name)))),
  );
  return [...new Map(all.map((fault) => [getName(fault), fault])).values()];
}

/**
 * Draws faults by a digest of the seed and of each fault with its line. Changes to other lines move few in or out of the
 * draw: those of a line that did not change keep their digest.
 */
function drawFaults(seed: number, count: number): Fault[] {
  const digest = (fault: Fault) =>
    createHash('sha256')
      .update(`${seed} ${getName(fault)}`)
      .digest('hex');
  return listAllFaults()
    .map((fault) => ({ fault, place: digest(fault) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .slice(0, count)
    .map(({ fault }) => fault);
}

/** Returns the name of a fault: its file, its line and what changes there, without numbers that other changes move. */
function getName({ path, start, was, becomes }: Fault): string {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const line = text.slice(text.lastIndexOf('\n', start) + 1, text.indexOf('\n', start)).trim();
  return `${path}: ${line}: ${was} → ${becomes}`;
}

/** The tests that run now. */
let running: ChildProcess | undefined;

/** Runs the tests of a folder, or else all that a file is related to but those left out, and returns whether one fails. */
async function isSeen(what: { folder: string } | { path: string }): Promise<boolean> {
  const which = 'folder' in what ? ['run', what.folder] : ['related', what.path, '--run'];
  const leftOut = LEFT_OUT.map((files) => `--exclude=${files}`);
  const args = [...which, ...leftOut, '--bail=1', '--reporter=dot', '--passWithNoTests'];
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  running = spawn(process.execPath, [vitest, ...args], {
    cwd: ROOT,
    // The Node of the repository, also where this was not started by npm.
    env: { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
    stdio: 'ignore',
    detached: true,
  });
  const timer = setTimeout(endTests, LONGEST_MS);
  const [code] = await once(running, 'exit');
  clearTimeout(timer);
  return code !== 0;
}

/** Ends the tests that run, with all their workers. */
function endTests(): void {
  if (running?.pid !== undefined && running.exitCode === null && running.signalCode === null)
    process.kill(-running.pid, 'SIGKILL');
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

/** Lists the faults that an earlier run saw. Prints those whose code has changed since. */
function listSeen(file: string): Fault[] {
  const before: { name: string; seen: boolean }[] = JSON.parse(readFileSync(file, 'utf8'));
  const known = new Map(listAllFaults().map((fault) => [getName(fault), fault]));
  const names = before.filter(({ seen }) => seen).map(({ name }) => name);
  const gone = names.filter((name) => !known.has(name));
  if (gone.length > 0) process.stderr.write(`Not tried, since their code has changed:\n  ${gone.join('\n  ')}\n`);
  return names.flatMap((name) => known.get(name) ?? []);
}

/** Reads a whole number of the command line. Throws `bad_input` for anything else. */
function readNumber(option: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw buildUsageFailure(`--${option} takes a whole number, not "${text}"`, USAGE.line);
  return Number(text);
}

/** Runs `npm run mutate`. Returns the exit code: 1 where a fault that was seen before is missed. */
async function run(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = readArguments(USAGE, {
    seed: text,
    count: text,
    against: text,
    json: text,
    list: { type: 'boolean' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(EXIT.failed));
  process.once('exit', endTests);
  const faults = values.against
    ? listSeen(values.against)
    : drawFaults(readNumber('seed', values.seed ?? '1'), readNumber('count', values.count ?? '60'));
  if (values.list) for (const fault of faults) process.stdout.write(`${getName(fault)}\n`);
  if (values.list) return EXIT.done;
  if (await isSeen({ folder: 'test/' })) {
    process.stderr.write('The tests fail without a fault: run npm test first.\n');
    return EXIT.failed;
  }
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
  return values.against && missed > 0 ? EXIT.failed : EXIT.done;
}

try {
  process.exit(await run());
} catch (error) {
  endWithFailure(error);
}
