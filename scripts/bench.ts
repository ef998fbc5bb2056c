import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildUsageFailure } from '../src/cli/failure.ts';
import { formatSection, formatTable, type Row } from './bench/measuring.ts';
import type { Run } from './bench/world.ts';
import { endWithFailure, readArguments } from './entry.ts';

/** One benchmark, the catalogue sizes at which it is run, and those that `--large` adds. */
interface Benchmark {
  readonly about: string;
  readonly sizes: readonly number[];
  readonly large?: readonly number[];
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
    load: async () => measureEach((await import('./bench/serving.ts')).measureDirectory),
  },
  latency: {
    about: 'the OpenAPI document while all pages are rendered, and after one change',
    sizes: [10_000],
    large: [100_000],
    load: async () => measureEach((await import('./bench/serving.ts')).measureLatency),
  },
  search: {
    about: 'hundreds of searches, over HTTP and MCP, beside FTS5',
    sizes: [10_000],
    large: [100_000],
    load: async () => measureEach((await import('./bench/serving.ts')).measureSearch),
  },
  pages: {
    about: 'pages of listings beside one nginx worker that sends the same files',
    sizes: [10_000],
    load: async () => measureEach((await import('./bench/serving.ts')).measurePages),
  },
  sizes: {
    about: 'bytes of each kind of page and of the documents, tokens of what MCP sends',
    sizes: [1000],
    load: async () => measureEach((await import('./bench/sizes.ts')).measureSizes),
  },
  start: {
    about: 'from the start of the process to its first answer beside the Express directory, and memory',
    sizes: [1000, 10_000],
    large: [100_000],
    load: async () => measureEach((await import('./bench/serving.ts')).measureStart),
  },
  rebuilds: {
    about: 'all pages beside Hugo making those of the listings, and how soon readers see a write',
    sizes: [10_000],
    large: [100_000],
    load: async () => measureEach((await import('./bench/rebuilds.ts')).measureRebuilds),
  },
  growth: {
    about: 'how processor time, start, memory and file grow with the catalogue: exponents',
    sizes: [1000, 10_000, 100_000],
    load: async () => (await import('./bench/growth.ts')).measureGrowth,
  },
  machines: {
    about: 'a catalogue in PostgreSQL beside one in SQLite, and three servers that follow it',
    sizes: [1000, 10_000],
    load: async () => measureEach((await import('./bench/machines.ts')).measureMachines),
  },
  payments: {
    about: "paid calls on a chain of this machine beside the x402 SDK's own client",
    sizes: [30],
    load: async () => measureEach((await import('./bench/payments.ts')).measurePayments),
  },
  liars: {
    about: 'what sellers who lie take from agents and do to honest ones, in three simulated markets',
    sizes: [300],
    load: async () => measureEach((await import('./bench/liars.ts')).measureLiars),
  },
};

const USAGE = {
  line: 'npm run bench -- [--large] [--listings <numbers>] [--quick] [--json] [--manual] [name …]',
  about: `Measures the whole service as npm start runs it, beside what one would use instead. Each request asks for something
new, unless there is only one document of its kind.

  --large     adds 100,000 listings; takes many minutes
  --listings  takes these numbers of listings instead, such as 1000,10000
  --quick     one round of each: shows that it works, not how fast
  --json      one JSON document instead of tables
  --manual    replaces the tables of these benchmarks in src/docs/architecture.md, and what is said of their goals
  -h, --help  shows this; -V, --version shows the version

${Object.entries(BENCHMARKS)
  .map(([name, { about }]) => `  ${name.padEnd(10)}  ${about}`)
  .join('\n')}

A ratio is our figure divided by theirs in the same run; cpu_ratio is their processor time divided by ours. Only ratios carry
over to another machine.`,
};

/** Reads the command line. Says why and ends the process if it is wrong. */
function readOptions() {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const options = { json: flag, manual: flag, large: flag, quick: flag, listings: { type: 'string' } } as const;
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

/** Replaces the tables of the manual of the benchmarks that were run; one that it does not have yet comes last. */
function writeManual(results: Readonly<Record<string, readonly Row[]>>): void {
  const file = join(import.meta.dirname, '../src/docs/architecture.md');
  let manual = readFileSync(file, 'utf8');
  for (const [name, rows] of Object.entries(results)) {
    const section = `<!-- ${name} -->\n\n${formatSection(name, rows)}\n\n<!-- /${name} -->`;
    const old = new RegExp(`<!-- ${name} -->.*<!-- /${name} -->`, 's');
    const place = old.test(manual) ? old : /(?=<!-- \/figures -->)/;
    manual = manual.replace(place, () => (place === old ? section : `${section}\n\n`));
  }
  writeFileSync(file, manual);
}

const { names, sizes, json, manual, large, quick } = readOptions();
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const run: Run = { folder, rounds: quick ? 1 : 11, tell: (line) => process.stderr.write(`${line}\n`) };
const results: Record<string, Row[]> = {};
for (const name of names) {
  const benchmark = BENCHMARKS[name] as Benchmark;
  const measure = await benchmark.load();
  const rows = await measure(run, sizes ?? [...benchmark.sizes, ...((large && benchmark.large) || [])]);
  results[name] = rows;
  if (!json) console.log(`\n${name}: ${benchmark.about}\n\n${formatTable(rows)}\n`);
}
if (json) console.log(JSON.stringify(results, null, 2));
if (manual) writeManual(results);
