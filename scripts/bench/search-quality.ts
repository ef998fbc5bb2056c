import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithFailure, readArguments } from '../entry.ts';
import { getPercentile } from './measuring.ts';
import { type Found, openOurs, openSearches } from './search-peers.ts';
import { type DataSet, isNamed, isWithheld, openSets, type Request } from './search-sets.ts';
import { createRandom } from './synthetic.ts';

const USAGE = {
  line: 'node scripts/bench/search-quality.ts [<folder>] [--both] [--json <file>] [--against <file>] [--manual <file>]',
  about: `Measures how well requests in plain words are answered, beside SQLite's FTS5 and MiniSearch on the same texts. It asks
the requests of the sample in test/data/finding, and our own of the manifests in data/listings. A folder adds data sets of
others, each with tools.jsonl (name, description, routes as "apis") and requests.jsonl (query, and the right "tools" or
"routes"), and a feed in ../bazaar-2026-03 makes our own requests complete.

  --both     also asks the half of the requests that is set aside while the search is changed
  --json     writes what became of every request
  --against  compares with such a file
  --manual   replaces the table in this manual by the figures of the half set aside
  -h, --help  shows this; -V, --version shows the version

A request counts as answered with "first" or "five" if a right listing, or a right route, is there. "labels" is stricter: the share
of all right listings that are among the first five, each shown with a right route. "hub" is the share of requests with the
listing of the most routes wrongly among the first three. Intervals hold 95 % of 2,000 resamples of the requests.`,
};

const MEASURES = ['first', 'five', 'route first', 'route in five', 'shown first', 'labels', 'hub'] as const;
type Measure = (typeof MEASURES)[number];

const RESAMPLES = 2000;
const MANUAL_COLUMNS = ['requests', 'measure', 'ours', 'FTS5', 'MiniSearch', 'ours − FTS5', 'ours − MiniSearch'];

/** The figures of a request, from 0 to 1 by measure. A measure is missing where its labels say nothing on it. */
type Outcome = Partial<Record<Measure, number>>;
type Half = 'tuning' | 'set aside';

/** Figures on whether `match` tells requests with an answer from those without, of a half. */
interface Doubt {
  readonly half: Half;
  readonly answerable: number;
  readonly unanswerable: number;
  /** The chance that a request with an answer matches better than one without. */
  readonly AUC: number;
  readonly 'AUC by number of words': number;
  readonly 'wrongly weak': number;
  readonly 'rightly weak': number;
  readonly 'match of answerable (10, 50, 90 %)': string;
  readonly 'match of unanswerable (10, 50, 90 %)': string;
}

/** All figures of a data set, as a run writes them. */
interface Measured {
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, Outcome>>>>;
  readonly doubts: readonly Doubt[];
}

const { folder, values } = readOptions();
const halves: readonly Half[] = values.both ? ['tuning', 'set aside'] : ['tuning'];
const home = mkdtempSync(join(tmpdir(), 'search-quality-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
const before: Record<string, Measured> = values.against ? JSON.parse(readFileSync(values.against, 'utf8')) : {};
const measured: Record<string, Measured> = {};
const lines: string[][] = [];

for await (const set of openSets(folder, home)) {
  const asked = set.requests.filter(({ q }) => halves.includes(getHalf(q)));
  const largest = findLargest(set);
  const outcomes: Record<string, Record<string, Outcome>> = {};
  for (const [name, search] of Object.entries(openSearches(set.reading))) {
    outcomes[name] = Object.fromEntries(
      asked.map((request) => [request.q, judge(request, search(request.q), largest)]),
    );
  }
  console.info(`\n${set.name}: ${set.requests.length} requests, ${set.reading.getSnapshot().live_listings} listings`);
  console.table(halves.flatMap((half) => listFigures(outcomes, half)));
  console.table(halves.flatMap((half) => listDifferences(outcomes, before[set.name], half)));
  const doubts = await measureDoubt(set);
  console.table(doubts);
  measured[set.name] = { outcomes, doubts };
  if (!set.isSum) lines.push(...listLines(set.name, outcomes, halves.at(-1) ?? 'tuning'));
  await set.close();
}
if (values.json) writeFileSync(values.json, JSON.stringify(measured));
if (values.manual) writeManual(values.manual, lines);

function readOptions() {
  try {
    const file = { type: 'string' } as const;
    const options = { both: { type: 'boolean', default: false }, json: file, against: file, manual: file } as const;
    const { values, positionals } = readArguments(USAGE, options, { allowPositionals: true });
    return { folder: positionals[0], values };
  } catch (error) {
    return endWithFailure(error);
  }
}

/** Returns the half a request is in, by its words. */
function getHalf(q: string): Half {
  return (createHash('sha256').update(q).digest()[0] as number) % 2 === 0 ? 'tuning' : 'set aside';
}

/** Finds the host of the listing of the most routes. */
function findLargest({ reading: { published } }: DataSet): string {
  const largest = published
    .prepare<{ base_url: string }>(
      `SELECT base_url FROM listings JOIN routes ON listing = number WHERE state = 'live'
       GROUP BY number ORDER BY count(*) DESC, number LIMIT 1`,
    )
    .get();
  return largest ? new URL(largest.base_url).host : '';
}

function judge({ hosts, routes }: Request, found: Found, largest: string): Outcome {
  const isRight = (labels: readonly string[], keys: readonly string[]) =>
    Number(keys.some((key) => labels.some((label) => isNamed(label, key))));
  const isShownRight = (key: string) =>
    isRight(routes.length > 0 ? routes : hosts, [routes.length > 0 ? key : getHost(key)]);
  const firstFive = found.shown.slice(0, 5).filter(isShownRight).map(getHost);
  const gotten = hosts.filter((label) => isRight([label], firstFive)).length;
  return {
    first: isRight(hosts, found.hosts.slice(0, 1)),
    five: isRight(hosts, found.hosts.slice(0, 5)),
    ...(routes.length > 0 && {
      'route first': isRight(routes, found.routes.slice(0, 1)),
      'route in five': isRight(routes, found.routes.slice(0, 5)),
      'shown first': Number(found.shown.slice(0, 1).some(isShownRight)),
    }),
    labels: gotten / Math.min(5, hosts.length),
    hub: Number(found.hosts.slice(0, 3).includes(largest) && !isRight(hosts, [largest])),
  };
}

function getHost(route: string): string {
  return route.split(' ', 1)[0] ?? '';
}

function listOfHalf(outcomes: Readonly<Record<string, Outcome>> = {}, half: Half): readonly [string, Outcome][] {
  return Object.entries(outcomes).filter(([q]) => getHalf(q) === half);
}

/** Lists by search the mean of each measure. */
function listFigures(outcomes: Measured['outcomes'], half: Half) {
  return Object.entries(outcomes).map(([search, ofSearch]) => {
    const ofHalf = listOfHalf(ofSearch, half).map(([, outcome]) => outcome);
    const figures = MEASURES.map((measure) => [measure, getMean(ofHalf.flatMap((outcome) => outcome[measure] ?? []))]);
    return { half, search, requests: ofHalf.length, ...Object.fromEntries(figures) };
  });
}

/** Lists how far our figures are from those of the other searches, and of the run before, on the same requests. */
function listDifferences(outcomes: Measured['outcomes'], earlier: Measured | undefined, half: Half) {
  const { ours = {}, ...others } = outcomes;
  const all = { ...others, ...(earlier?.outcomes.ours && { 'ours before': earlier.outcomes.ours }) };
  return Object.entries(all).map(([name, theirs]) => {
    const differences = MEASURES.map((measure) => [measure, formatDifference(ours, theirs, { measure, half })]);
    return { half, 'ours less': name, ...Object.fromEntries(differences) };
  });
}

/** Formats the mean difference with its interval, by resampling the requests that both were asked (paired bootstrap). */
function formatDifference(
  ours: Readonly<Record<string, Outcome>>,
  theirs: Readonly<Record<string, Outcome>>,
  { measure, half }: { measure: Measure; half: Half },
): string {
  const differences = listOfHalf(ours, half).flatMap(([q, outcome]) => {
    const [our, their] = [outcome[measure], theirs[q]?.[measure]];
    return our === undefined || their === undefined ? [] : our - their;
  });
  if (differences.length === 0) return '';
  const random = createRandom(1);
  const means = Array.from({ length: RESAMPLES }, () =>
    getMean(differences.map(() => differences[Math.floor(random() * differences.length)] as number)),
  );
  const [mean, low, high] = [getMean(differences), getPercentile(means, 0.025), getPercentile(means, 0.975)].map(sign);
  return `${mean} (${low}, ${high})`;
}

function sign(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(3)}`;
}

/**
 * Measures how well the first match tells requests that something answers from those that nothing does: the set's own, or
 * those whose right listings are all withheld.
 */
async function measureDoubt({ requests, unanswerable, reading, withhold }: DataSet): Promise<Doubt[]> {
  await withhold?.();
  const search = openOurs(reading);
  const answerable = requests.filter(({ hosts }) => !withhold || !hosts.some(isWithheld)).map(({ q }) => q);
  const without = withhold ? requests.filter(({ hosts }) => hosts.every(isWithheld)).map(({ q }) => q) : unanswerable;
  return halves.map((half) => {
    const [yes, no] = [answerable, without].map((all) => all.filter((q) => getHalf(q) === half)) as [
      string[],
      string[],
    ];
    const [found, foundNot] = [yes, no].map((all) => all.map(search)) as [Found[], Found[]];
    const getMatches = (all: readonly Found[]) => all.map(({ match = 0 }) => match);
    const formatSpread = (all: readonly Found[]) =>
      [0.1, 0.5, 0.9].map((part) => round(getPercentile(getMatches(all), part))).join(' ');
    return {
      ...{ half, answerable: yes.length, unanswerable: no.length },
      AUC: round(getAuc(getMatches(found), getMatches(foundNot))),
      'AUC by number of words': round(getAuc(yes.map(countWords), no.map(countWords))),
      'wrongly weak': getMean(found.map(({ isWeak }) => Number(isWeak))),
      'rightly weak': getMean(foundNot.map(({ isWeak }) => Number(isWeak))),
      'match of answerable (10, 50, 90 %)': formatSpread(found),
      'match of unanswerable (10, 50, 90 %)': formatSpread(foundNot),
    };
  });
}

function countWords(q: string): number {
  return q.split(/\s+/).length;
}

function getAuc(yes: readonly number[], no: readonly number[]): number {
  let sum = 0;
  for (const high of yes) for (const low of no) sum += high > low ? 1 : high === low ? 0.5 : 0;
  return sum / (yes.length * no.length);
}

/** Lists the lines of the table in the manual: the measures of one half of a set. */
function listLines(name: string, outcomes: Measured['outcomes'], half: Half): string[][] {
  const figures = listFigures(outcomes, half);
  const differences = listDifferences(outcomes, undefined, half);
  return MEASURES.filter((measure) => figures.some((row) => !Number.isNaN(row[measure]))).map((measure) => [
    `${name} (${figures[0]?.requests})`,
    measure,
    ...figures.map((row) => (row[measure] as number).toFixed(3)),
    ...differences.map((row) => row[measure] as string),
  ]);
}

/** Replaces the table between the marks of a manual. */
function writeManual(file: string, rows: readonly string[][]): void {
  const all = [MANUAL_COLUMNS, ...rows];
  const widths = MANUAL_COLUMNS.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const format = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const table = [format(MANUAL_COLUMNS), format(widths.map((width) => '-'.repeat(width))), ...rows.map(format)].join(
    '\n',
  );
  const place = /(?<=<!-- quality -->\n).*(?=<!-- \/quality -->)/s;
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(place, () => `\n${table}\n\n`),
  );
}

function getMean(numbers: readonly number[]): number {
  return round(numbers.reduce((sum, number) => sum + number, 0) / numbers.length);
}

function round(value: number): number {
  return Math.round(1000 * value) / 1000;
}
