/** Measures the import of a feed of many items. Repeats the items of a real feed under other hosts until there are enough. */
import '../require-node.mjs';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ServiceError } from '../../src/errors.ts';
import { endWithFailure, readArguments } from '../entry.ts';
import { buildSettings, runChild } from './world.ts';

const USAGE = {
  line: 'node scripts/bench/import-items.ts <feed> [--items <number>] [--checkout <folder>]',
  about: `Imports a feed, JSON with "items" that have a "resource", into an empty catalogue, and once more into the same. Prints
processor time, time and memory of each. The items are repeated under other hosts until there are as many as asked for.

  --items     how many, 22000 where not said
  --checkout  imports with the program in this folder, another state of the code
  -h, --help  shows this; -V, --version shows the version`,
};

const home = mkdtempSync(join(tmpdir(), 'import-items-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
try {
  const { feed, items, checkout } = readOptions();
  const file = join(home, 'feed.json');
  writeFileSync(file, JSON.stringify(repeatFeed(JSON.parse(readFileSync(feed, 'utf8')), items)));
  const env = { ...process.env, ...buildSettings(join(home, 'catalogue.sqlite'), join(home, 'site')) };
  const args = ['--import', './scripts/require-node.mjs', 'scripts/catalogue.ts', 'import', '--bazaar', file];
  for (const time of ['first', 'again']) {
    const { seconds, cpuMs, peak } = await runChild(process.execPath, args, { cwd: checkout, env });
    const figures = [`${(cpuMs / 1000).toFixed(1)} s of processor`, `${seconds.toFixed(1)} s`];
    console.log(`${items} items, ${time}: ${figures.join(', ')}, at most ${Math.round(peak / 1e6)} MB`);
  }
} catch (error) {
  endWithFailure(error);
}

function readOptions() {
  const options = { items: { type: 'string', default: '22000' }, checkout: { type: 'string', default: '.' } } as const;
  const { values, positionals } = readArguments(USAGE, options, { allowPositionals: true });
  const [feed] = positionals;
  const items = Number(values.items);
  if (feed === undefined || !Number.isSafeInteger(items) || items < 1)
    throw new ServiceError('bad_input', 'A feed and a whole number of items are needed.', { hint: USAGE.line });
  return { feed, items, checkout: resolve(values.checkout) };
}

/** Repeats the items of a feed, each time under other hosts, which have registered domains of their own. */
function repeatFeed(feed: { items: { resource: string }[] }, count: number) {
  const items = Array.from({ length: count }, (_, at) => {
    const item = feed.items[at % feed.items.length] as { resource: string };
    const round = Math.floor(at / feed.items.length);
    return round === 0 ? item : { ...item, resource: item.resource.replace('://', `://r${round}-`) };
  });
  return { ...feed, items, pagination: { limit: count, offset: 0, total: count } };
}
