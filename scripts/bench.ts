import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureDocuments } from './bench/documents.ts';
import { measurePayments } from './bench/payments.ts';
import { measureRebuilds } from './bench/rebuilds.ts';
import { measureSearch } from './bench/search.ts';

/**
 * Benchmarks with ratios taken in one run: `npm run bench -- [--json] [--large] [documents] [rebuilds] [payments]
 * [search]`. Only ratios between contestants of one run mean anything on another machine. `--large` adds 100,000 listings
 * where that is told apart.
 */
const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, large: { type: 'boolean' } },
  allowPositionals: true,
});
const isWanted = (name: string) => positionals.length === 0 || positionals.includes(name);
const folder = await mkdtemp(join(tmpdir(), 'bench-'));
const results: Record<string, object[]> = {};

/** Runs one benchmark after the other and shows each result as it comes. */
async function run(
  name: string,
  sizes: readonly number[],
  measure: (folder: string, size: number) => Promise<object | object[]>,
) {
  if (!isWanted(name)) return;
  for (const size of sizes) {
    const rows = [await measure(folder, size)].flat();
    results[name] = [...(results[name] ?? []), ...rows];
    if (!values.json) console.table(rows);
  }
}

try {
  await run('documents', [30, 10_000], measureDocuments);
  await run('rebuilds', [30, 10_000], measureRebuilds);
  await run('payments', [100], measurePayments);
  await run('search', values.large ? [10_000, 100_000] : [10_000], measureSearch);
  if (values.json) console.log(JSON.stringify(results, null, 2));
} finally {
  await rm(folder, { recursive: true, force: true });
}
