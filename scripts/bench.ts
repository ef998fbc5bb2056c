import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildUsageFailure } from '../src/commands/failure.ts';
import { formatTable, type Row } from './bench/row.ts';
import type { Run } from './bench/world.ts';
import { endWithFailure, readArguments } from './entry.ts';

/** What is measured at one catalogue size. */
type Measure = (run: Run, listings: number) => Promise<Row[]>;

/** A benchmark: what it says of itself, the sizes it is made at, those that `--large` adds, and what loads it. */
interface Benchmark {
  readonly about: string;
  readonly sizes: readonly number[];
  readonly large?: readonly number[];
  load(): Promise<Measure>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  documents: {
    about: 'live documents beside a bare node:http server that sends the same bytes',
    sizes: [30, 10_000],
    load: async () => (await import('./bench/documents.ts')).measureDocuments,
  },
  directory: {
    about: 'requests that nobody made before, beside a plain Express and SQLite directory of the same records',
    sizes: [10_000],
    load: async () => (await import('./bench/directory.ts')).measureDirectory,
  },
  latency: {
    about: 'the OpenAPI document while every page is rendered beside it, and after one change',
    sizes: [30, 10_000],
    large: [100_000],
    load: async () => (await import('./bench/latency.ts')).measureLatency,
  },
  tools: {
    about: "MCP tool calls beside the same calls through Astro's request pipeline",
    sizes: [10_000],
    load: async () => (await import('./bench/tools.ts')).measureTools,
  },
  search: {
    about: 'hundreds of different searches, over HTTP and MCP',
    sizes: [10_000],
    large: [100_000],
    load: async () => (await import('./bench/search.ts')).measureSearch,
  },
  pages: {
    about: 'static pages beside one nginx worker that sends the same release',
    sizes: [10_000],
    load: async () => (await import('./bench/pages.ts')).measurePages,
  },
  rebuilds: {
    about: 'every page beside Hugo making those of the listings, and one change',
    sizes: [10_000],
    large: [100_000],
    load: async () => (await import('./bench/rebuilds.ts')).measureRebuilds,
  },
  start: {
    about: 'from the start of the process to its first answers, and its memory',
    sizes: [10_000],
    large: [100_000],
    load: async () => (await import('./bench/start.ts')).measureStart,
  },
  payments: {
    about: "paid calls on a chain of this machine beside the x402 SDK's own client",
    sizes: [30],
    load: async () => (await import('./bench/payments.ts')).measurePayments,
  },
};

const LINE = 'npm run bench -- [--large] [--listings <number>] [--quick] [--json] [--manual] [name …]';

const ABOUT = `Measures, and says how it compares.

  --large     at 100,000 listings, too, where that is told apart; takes many minutes
  --listings  at this size instead
  --quick     one short round of each: shows that it runs, not how fast
  --json      one JSON document instead of tables
  --manual    puts what there is a goal for into src/docs/architecture.md, in the place of the table there
  -h, --help  shows this; -V, --version shows the version

${Object.entries(BENCHMARKS)
  .map(([name, { about }]) => `  ${name.padEnd(10)}  ${about}`)
  .join('\n')}

Ratios are between contestants of one run, ours by theirs; only they mean anything on another machine.`;

/** Reads the command line; ends the process with what is wrong with it where that does not fit. */
function readOptions() {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const { values, positionals } = readArguments(
      { line: LINE, about: ABOUT },
      { json: flag, manual: flag, large: flag, quick: flag, listings: { type: 'string' } },
      { allowPositionals: true },
    );
    const { listings, ...flags } = values;
    if (listings !== undefined && !/^[1-9]\d{0,5}$/.test(listings)) {
      throw buildUsageFailure('--listings takes a whole number.', LINE);
    }
    const unknown = positionals.filter((name) => !(name in BENCHMARKS));
    if (unknown.length > 0) {
      throw buildUsageFailure(`There is no benchmark ${unknown.join(', ')}.`, `npm run bench -- --help lists them.`);
    }
    const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
    return { ...flags, size: listings === undefined ? undefined : Number(listings), names };
  } catch (error) {
    return endWithFailure(error);
  }
}

/** Puts the table of what there is a goal for in the place of the one that the manual has. */
function writeManual(rows: readonly Row[]): void {
  const file = join(import.meta.dirname, '../src/docs/architecture.md');
  const table = formatTable(rows.filter(({ goal }) => goal !== undefined));
  const place = /(?<=<!-- figures -->\n).*(?=<!-- \/figures -->)/s;
  writeFileSync(file, readFileSync(file, 'utf8').replace(place, `\n${table}\n\n`));
}

const { names, size, json, manual, large, quick } = readOptions();
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const pace = quick ? { rounds: 1, secondsEach: 1 } : { rounds: 11, secondsEach: 1 };
const run: Run = { folder, ...pace, tell: (line) => process.stderr.write(`${line}\n`) };
const results: Record<string, Row[]> = {};
for (const name of names) {
  const { about, sizes, large: more = [], load } = BENCHMARKS[name] as Benchmark;
  const measure = await load();
  const rows: Row[] = [];
  const wanted = size !== undefined ? [size] : large ? [...sizes, ...more] : sizes;
  for (const listings of wanted) rows.push(...(await measure(run, listings)));
  results[name] = rows;
  if (!json) console.log(`\n${name}: ${about}\n\n${formatTable(rows)}\n`);
}
if (json) console.log(JSON.stringify(results, null, 2));
if (manual) writeManual(Object.values(results).flat());
