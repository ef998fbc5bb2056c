import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildUsageFailure } from '../src/cli/failure.ts';
import { formatSection, formatTable, type Row } from './bench/measuring.ts';
import type { Run } from './bench/world.ts';
import { endWithFailure, readArguments } from './entry.ts';

/** One benchmark, and the catalogue sizes at which it is run. */
interface Benchmark {
  readonly about: string;
  readonly sizes: readonly number[];
  /** Loads its code, which is not needed to refuse a wrong command line. */
  load(): Promise<(run: Run, sizes: readonly number[]) => Promise<Row[]>>;
}

/** Measures one size after the other. */
function measureEach(measure: (run: Run, listings: number) => Promise<Row[]>) {
  return async (run: Run, sizes: readonly number[]) => {
    const rows: Row[] = [];
    for (const listings of sizes) rows.push(...(await measure(run, listings)));
    return rows;
  };
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  directory: {
    about: 'every kind of request beside Express and SQLite with the same records',
    sizes: [10_000],
    load: async () => measureEach((await import('./bench/directory.ts')).measureDirectory),
  },
  search: {
    about: 'the time of searches beside FTS5, and how well requests with known answers are answered',
    sizes: [10_000],
    load: async () => (await import('./bench/search.ts')).measureSearch,
  },
  start: {
    about: 'from the start of the process to its first answer beside the Express directory, and memory',
    sizes: [10_000],
    load: async () => measureEach((await import('./bench/start.ts')).measureStart),
  },
  rebuilds: {
    about: 'all pages beside Hugo making those of the listings, and how soon readers see a write',
    sizes: [10_000],
    load: async () => measureEach((await import('./bench/rebuilds.ts')).measureRebuilds),
  },
  liars: {
    about: 'what sellers who lie take from agents and do to honest ones, in three simulated markets',
    sizes: [300],
    load: async () => measureEach((await import('./bench/liars.ts')).measureLiars),
  },
};

const USAGE = {
  line: 'npm run bench -- [--listings <numbers>] [--quick] [--json] [--manual] [name …]',
  about: `Measures the whole service as npm start runs it, beside what one would use instead. Each request asks for something
new, unless there is only one document of its kind.

  --listings  takes these numbers of listings instead, such as 10000,100000
  --quick     one round of each: shows that it works, not how fast
  --json      one JSON document instead of tables
  --manual    replaces the tables of these benchmarks in src/docs/speed.md, and what is said of their goals
  -h, --help  shows this; -V, --version shows the version

${Object.entries(BENCHMARKS)
  .map(([name, { about }]) => `  ${name.padEnd(9)}  ${about}`)
  .join('\n')}

A ratio is our figure divided by theirs in the same run; cpu_ratio is their processor time divided by ours. Only ratios carry
over to another machine.`,
};

/** Reads the command line. Says why and ends the process if it is wrong. */
function readOptions() {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const options = { json: flag, manual: flag, quick: flag, listings: { type: 'string' } } as const;
    const { values, positionals } = readArguments(USAGE, options, { allowPositionals: true });
    const { listings, ...flags } = values;
    if (listings !== undefined && !/^[1-9]\d{0,5}(,[1-9]\d{0,5})*$/.test(listings)) {
      throw buildUsageFailure('--listings takes whole numbers with commas between them.', USAGE.line);
    }
    const unknown = positionals.filter((name) => !(name in BENCHMARKS));
    if (unknown.length > 0) {
      throw buildUsageFailure(`There is no benchmark ${unknown.join(', ')}.`, 'npm run bench -- --help lists them.');
    }
    const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
    return { ...flags, sizes: listings?.split(',').map(Number), names };
  } catch (error) {
    return endWithFailure(error);
  }
}

/** Replaces the tables of the benchmarks that were run on the page about speed. */
function writeManual(results: Readonly<Record<string, readonly Row[]>>): void {
  const file = join(import.meta.dirname, '../src/docs/speed.md');
  let manual = readFileSync(file, 'utf8');
  for (const [name, rows] of Object.entries(results)) {
    const section = `<!-- ${name} -->\n\n${formatSection(name, rows)}\n\n<!-- /${name} -->`;
    manual = manual.replace(new RegExp(`<!-- ${name} -->.*<!-- /${name} -->`, 's'), () => section);
  }
  writeFileSync(file, manual);
}

const { names, sizes, json, manual, quick } = readOptions();
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const run: Run = { folder, rounds: quick ? 1 : 11, tell: (line) => process.stderr.write(`${line}\n`) };
const results: Record<string, Row[]> = {};
for (const name of names) {
  const benchmark = BENCHMARKS[name] as Benchmark;
  const measure = await benchmark.load();
  const rows = await measure(run, sizes ?? benchmark.sizes);
  results[name] = rows;
  if (!json) console.log(`\n${name}: ${benchmark.about}\n\n${formatTable(rows)}\n`);
}
if (json) console.log(JSON.stringify(results, null, 2));
if (manual) writeManual(results);
