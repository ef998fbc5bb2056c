/**
 * Writes what listings of real data are called: a line for each, with host, title, provider, tagline and category. It
 * imports the feeds and documents of a folder, and the manifests in `data/listings`, into a catalogue that it removes again.
 */
import './require-node.mjs';
import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { openCatalogueForReading } from '../src/catalogue/database.ts';
import { listListings } from '../src/catalogue/read/listings.ts';
import { runCommandLine } from '../src/cli/run.ts';
import { ServiceError } from '../src/errors.ts';
import type { Listing } from '../src/model/listing.ts';
import { isObject } from '../src/sources/json-value.ts';
import { endWithFailure, readArguments } from './entry.ts';

const USAGE = {
  line: 'node scripts/names-report.ts <folder> [--no-seed] [--against <file>]',
  about: `Prints a line of tab-separated values for each listing of the feeds (bazaar-*/*.json) and documents of providers
(provider-*/*.json) in a folder, and of data/listings: its host, the half of the data that it is in, its title, provider, tagline and
category. Rules are made with the half "tuning" in sight, and measured on the other.

  --no-seed   leaves data/listings out, whose words hide those of the feeds
  --against   prints only the texts that differ from those in this file, an earlier output, with their first words
  -h, --help  shows this; -V, --version shows the version`,
};

const AT = '2026-09-01T00:00:00.000Z';
const SHOWN_WORDS = 7;
const COLUMNS = ['host', 'half', 'title', 'provider', 'tagline', 'category'];

const home = mkdtempSync(join(tmpdir(), 'names-report-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
try {
  const { folder, against, hasSeed } = readOptions();
  const lines = (await importAll(folder, hasSeed)).map(formatListing).sort();
  const shown = against === undefined ? lines : listDifferences(readFileSync(against, 'utf8').split('\n'), lines);
  const columns = against === undefined ? COLUMNS : ['host', 'half', 'text', 'before', 'after'];
  process.stdout.write(`${[columns.join('\t'), ...shown].join('\n')}\n`);
} catch (error) {
  endWithFailure(error);
}

function readOptions() {
  const options = { 'no-seed': { type: 'boolean', default: false }, against: { type: 'string' } } as const;
  const { values, positionals } = readArguments(USAGE, options, { allowPositionals: true });
  const [folder] = positionals;
  if (folder === undefined)
    throw new ServiceError('bad_input', 'The folder of the data is missing.', { hint: USAGE.line });
  return { folder: resolve(folder), against: values.against, hasSeed: !values['no-seed'] };
}

/** Imports all sources into an empty catalogue. Returns the listings. */
async function importAll(folder: string, hasSeed: boolean): Promise<Listing[]> {
  const catalogue = join(home, 'catalogue.sqlite');
  Object.assign(process.env, { CATALOGUE: catalogue, SITE: join(home, 'site') });
  const list = (pattern: string) =>
    globSync(pattern, { cwd: folder })
      .sort()
      .map((name) => join(folder, name));
  const feeds = list('bazaar-*/*.json').flatMap(listFeeds);
  if (hasSeed) await runImport(join(import.meta.dirname, '../data/listings'));
  for (const feed of feeds) await runImport('--bazaar', feed);
  for (const document of list('provider-*/*.json')) await runImport('--openapi', document);
  const reading = await openCatalogueForReading(catalogue);
  const listings = await listListings(reading);
  await reading.close();
  return listings.filter(({ state }) => state === 'live');
}

/** Lists the feed in a file, or writes a file for each of the feeds in it, which are by the names of their facilitators. */
function listFeeds(file: string): string[] {
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isObject(json) || Array.isArray(json.items) || Array.isArray(json.resources)) return [file];
  return Object.entries(json).flatMap(([name, feed]) => {
    if (!isObject(feed)) return [];
    const own = join(home, `${name}.json`);
    writeFileSync(own, JSON.stringify(feed));
    return [own];
  });
}

async function runImport(...args: string[]): Promise<void> {
  let errors = '';
  const stdout = new PassThrough().resume();
  const stderr = new PassThrough().on('data', (text) => {
    errors += text;
  });
  const io = { stdout, stderr, now: () => new Date(AT), signal: new AbortController().signal };
  const code = await runCommandLine(['import', ...args], io);
  if (code !== 0 && errors !== '') process.stderr.write(`import ${args.join(' ')}\n${errors}`);
}

function formatListing({ base_url, title, provider_name, tagline, category }: Listing): string {
  const { host, pathname } = new URL(base_url);
  const place = `${host}${pathname.replace(/\/$/, '')}`;
  return [place, getHalf(host), title, provider_name, tagline, category].join('\t');
}

/** Returns the half a host is in, by its digest. */
function getHalf(host: string): string {
  return (createHash('sha256').update(host).digest()[0] as number) % 2 === 0 ? 'tuning' : 'set aside';
}

/** Lists each text that differs: host, half, which one, as it was, and as it is, with the beginning of a long one. */
function listDifferences(before: readonly string[], after: readonly string[]): string[] {
  const earlier = new Map(before.map((line) => [getHost(line), line.split('\t')]));
  return after.flatMap((line) => {
    const now = line.split('\t');
    const was = earlier.get(getHost(line));
    if (was === undefined) return [];
    return COLUMNS.flatMap((column, at) =>
      was[at] === now[at] ? [] : [now.slice(0, 2).concat(column, shorten(was[at]), shorten(now[at])).join('\t')],
    );
  });
}

/** Returns the first words of a provider's text: a list of differences is kept, and quotes nobody's sentences. */
function shorten(text = ''): string {
  const words = text.split(' ');
  return words.length > SHOWN_WORDS ? `${words.slice(0, SHOWN_WORDS).join(' ')} …` : text;
}

function getHost(line: string): string {
  return line.split('\t', 1)[0] ?? '';
}
