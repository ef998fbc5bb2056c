/**
 * `node scripts/bench/search-quality.ts <folder of data sets> [--both]` measures how well requests in plain words are
 * answered, beside SQLite's FTS5 and MiniSearch on the same texts. The folder holds data sets that others wrote, each
 * with `tools.jsonl` (name, description, routes as `apis`) and `requests.jsonl` (query, and the right `tools` or
 * `routes`); the repository's own requests are asked if the folder beside it holds the feed they are about. Requests
 * fall into two halves by a digest of their text: `tuning`, to look at while the search is changed, and with `--both`
 * the one `set aside`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import MiniSearch from 'minisearch';
import { parse } from 'yaml';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { recordDeclaration } from '../../src/catalogue/write/declarations.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { type Declaration, declaration } from '../../src/model/declaration.ts';
import type { Listing } from '../../src/model/listing.ts';
import { formatRoute } from '../../src/model/route.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { findResources } from '../../src/published/found-resources.ts';
import { getItem } from '../../src/published/listings.ts';
import type { Reading } from '../../src/published/reading.ts';
import { openReading } from '../../src/published/reading.ts';
import { selectListings } from '../../src/published/select.ts';
import { STOP_WORDS } from '../../src/search/stop-words.ts';
import { getStem, listWords } from '../../src/search/words.ts';
import { cleanText } from '../../src/sources/provider-text.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { getMedian, getPercentile } from './measuring.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';

interface Tool {
  name: string;
  description?: string;
  apis?: {
    name: string;
    method: string;
    description: string;
    parameters: { name: string; type: string; description: string }[];
    response?: unknown;
  }[];
}

/**
 * A request with its right answers: hosts of listings, and routes (`host GET /path`), in which a `*` matches anything.
 */
interface Request {
  readonly q: string;
  readonly hosts: readonly string[];
  readonly routes: readonly string[];
}

/** The results of a search, best first: hosts of listings, and routes. */
interface Found {
  readonly hosts: readonly string[];
  readonly routes: readonly string[];
  readonly match?: number | undefined;
}

interface DataSet {
  readonly name: string;
  readonly requests: readonly Request[];
  /** Requests that nothing answers, if the set has some. */
  readonly unanswerable: readonly string[];
  readonly reading: Reading;
  /** Removes the listings by whose absence requests become unanswerable. */
  readonly withhold?: (() => void) | undefined;
  close(): void;
}

type Search = (q: string) => Found;

const AT = '2026-11-01T00:00:00.000Z';
const IDENTITY = '7c0d5c6e-55a2-4a52-8a5e-3f3c1d2b4a60';
const SITE = { baseUrl: 'https://apis.example', serviceTitle: '', contactName: '', contactUrl: 'https://apis.example' };
const OWN_REQUESTS = resolve(import.meta.dirname, '../../test/search');
const HALVES = process.argv.includes('--both') ? (['tuning', 'set aside'] as const) : (['tuning'] as const);

const [folder = ''] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'search-quality-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));

for (const set of await openSets()) {
  const rows = [];
  for (const [name, search] of Object.entries(openSearches(set.reading))) {
    const results = set.requests.map((request) => ask(request, search));
    for (const half of HALVES) {
      rows.push({ search: name, half, ...summarise(results.filter(({ request }) => getHalf(request.q) === half)) });
    }
  }
  console.info(`\n${set.name}: ${set.requests.length} requests, ${set.reading.getSnapshot().live_listings} listings`);
  console.table(rows);
  const doubts = measureDoubt(set);
  if (doubts.length > 0) console.table(doubts);
  set.close();
}

/** Gives the half a request falls into. */
function getHalf(q: string): 'tuning' | 'set aside' {
  return (createHash('sha256').update(q).digest()[0] as number) % 2 === 0 ? 'tuning' : 'set aside';
}

async function openSets(): Promise<DataSet[]> {
  const sets = readdirSync(folder).filter((set) => existsSync(join(folder, set, 'requests.jsonl')));
  const feed = resolve(folder, '../bazaar-2026-03/resources.json');
  const opened: DataSet[] = [];
  for (const name of sets) opened.push(await openToolSet(name));
  return [...opened, ...(existsSync(feed) ? await openOwnSets(feed) : [])];
}

async function openToolSet(name: string): Promise<DataSet> {
  const file = join(home, `${name}.sqlite`);
  const catalogue = await openCatalogue(file, { identity: IDENTITY, at: AT });
  const tools = readLines<Tool>(join(folder, name, 'tools.jsonl')).map(buildDeclaration);
  await writeCatalogue(catalogue, AT, async (writing) => {
    for (const { declared } of tools) await recordDeclaration(writing, declared);
  });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const requests = readLines<{ query: string; tools?: string[]; routes?: [string, string][] }>(
    join(folder, name, 'requests.jsonl'),
  ).map(({ query, tools: right, routes = [] }) => ({
    q: query,
    hosts: [...new Set(right ?? routes.map(([tool]) => tool))].flatMap((tool) => byName.get(tool)?.host ?? []),
    routes: routes.flatMap(([tool, route]) => byName.get(tool)?.routes.get(route) ?? []),
  }));
  const files = { catalogueAddress: file, publishedFile: `${file}.published` };
  await publishCatalogue(files, 'bench');
  const reading = openReading(files.publishedFile, SITE);
  return {
    ...{ name, requests, unanswerable: [], reading },
    withhold: async () => {
      const slugs = reading.published
        .prepare<{ slug: string; base_url: string }>('SELECT slug, base_url FROM listings')
        .all()
        .filter(({ base_url }) => isWithheld(new URL(base_url).host));
      await writeCatalogue(catalogue, AT, async (writing) => {
        for (const { slug } of slugs) await delistListing(writing, slug, { by: 'operator', reason: 'withheld' });
      });
      await publishCatalogue(files, 'bench');
    },
    close: async () => {
      reading.published.close();
      await catalogue.close();
    },
  };
}

/** Says whether a listing is removed to make requests for it unanswerable: every third. */
function isWithheld(host: string): boolean {
  return (createHash('sha256').update(host).digest()[0] as number) % 3 === 0;
}

/** Imports the feed that the repository's own requests are about, and its own manifests. */
async function openOwnSets(feed: string): Promise<DataSet[]> {
  const file = join(home, 'own.sqlite');
  Object.assign(process.env, { CATALOGUE: file, BASE_URL: SITE.baseUrl, RELEASES: join(home, 'releases') });
  const quiet = { write: () => true } as never;
  const document = resolve(folder, '../provider-openapi/openapi.json');
  const manifests = resolve(import.meta.dirname, '../../data/listings');
  for (const args of [['--bazaar', feed], ['--openapi', document], [manifests]]) {
    const io = { stdout: quiet, stderr: quiet, now: () => new Date(AT), signal: new AbortController().signal };
    await runCommandLine(['import', ...args], io);
  }
  const files = { catalogueAddress: file, publishedFile: `${file}.published` };
  await publishCatalogue(files, 'bench');
  const reading = openReading(files.publishedFile, SITE);
  const requests = readOwn<Record<string, string[]>[]>('requests.yaml', [])
    .flatMap((line) => Object.entries(line))
    .map(([q, hosts]) => ({ q: String(q), hosts, routes: [] }));
  const tasks = readOwn<Record<string, Record<string, string[]>>[]>('tasks.yaml', [])
    .flatMap((line) => Object.entries(line))
    .map(([q, right]) => ({
      q,
      hosts: Object.keys(right),
      routes: Object.entries(right).flatMap(([host, routes]) => routes.map((route) => `${host} ${route}`)),
    }));
  const unanswerable = Object.values(readOwn<Record<string, string[]>>('unanswered.yaml', {})).flat();
  const own = { unanswerable: [], reading, close: () => undefined };
  return [
    { ...own, name: 'own requests', requests, unanswerable },
    { ...own, name: 'own tasks', requests: tasks, unanswerable },
    // Requests of any length: tasks are longer than unanswerable requests, so a count of words would tell them apart.
    {
      ...own,
      name: 'own requests and tasks',
      requests: [...requests, ...tasks],
      unanswerable,
      close: reading.published.close,
    },
  ].filter((set) => set.requests.length > 0);
}

function readOwn<Content>(name: string, otherwise: Content): Content {
  const file = join(OWN_REQUESTS, name);
  return existsSync(file) ? parse(readFileSync(file, 'utf8')) : otherwise;
}

/** The searches that are compared: the service's own, and two libraries on the same texts. */
function openSearches(reading: Reading): Record<string, Search> {
  const documents = listDocuments(reading);
  return { ours: openOurs(reading), FTS5: openFts(documents), MiniSearch: openMiniSearch(documents) };
}

function openOurs({ published, getSnapshot }: Reading): Search {
  return (q) => {
    const snapshot = getSnapshot();
    const { listings, answer } = selectListings(published, snapshot, listQuery.parse({ q, limit: 10 }));
    const { resources } = findResources(published, snapshot, { query: q, limit: 10 });
    return {
      hosts: listings.map((listing) => new URL(getItem(published, listing).base_url).host),
      routes: resources.map(({ listing, route }) => `${new URL(listing.base_url).host} ${formatRoute(route)}`),
      match: answer?.matches[0]?.match ?? 0,
    };
  };
}

/** A listing or a route as the libraries index it. */
interface TextDocument {
  readonly kind: 'listing' | 'route';
  /** Host of the listing, or `host GET /path` of the route. */
  readonly key: string;
  readonly name: string;
  readonly own: string;
  readonly listing: string;
}

function listDocuments({ published }: Reading): TextDocument[] {
  const rows = published
    .prepare<{ document: string }>(
      "SELECT document FROM documents JOIN listings ON number = listing WHERE state = 'live'",
    )
    .all();
  return rows.flatMap(({ document }) => {
    const { title, tagline, description, provider_name, category, base_url, routes }: Listing = JSON.parse(document);
    const listing = [tagline, description, provider_name, category].join(' ');
    const texts = routes.map(({ path, description: text, input_schema, output_schema }) =>
      [path, text, ...listTexts(input_schema), ...listTexts(output_schema)].join(' '),
    );
    return [
      { kind: 'listing', key: new URL(base_url).host, name: title, own: texts.join(' '), listing } as const,
      ...routes.map(
        (route, at) =>
          ({
            kind: 'route',
            key: `${new URL(base_url).host} ${formatRoute(route)}`,
            name: title,
            own: texts[at] ?? '',
            listing,
          }) as const,
      ),
    ];
  });
}

/** Lists the names of a schema's fields, and what it says of them. */
function listTexts(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    if (name === 'description') return [String(inner)];
    return name === 'properties'
      ? Object.entries(inner).flatMap(([key, value]) => [key, ...listTexts(value)])
      : listTexts(inner);
  });
}

function listTelling(text: string): string[] {
  return listWords(text).filter((word) => !STOP_WORDS.has(word));
}

function openFts(documents: readonly TextDocument[]): Search {
  const sqlite = new Sqlite(':memory:');
  const open = (kind: TextDocument['kind']) => {
    sqlite.exec(`CREATE VIRTUAL TABLE ${kind}s USING fts5 (key UNINDEXED, name, own, listing, tokenize = 'porter')`);
    const insert = sqlite.prepare(`INSERT INTO ${kind}s VALUES (@key, @name, @own, @listing)`);
    // Identifiers are split into words, as for the others.
    for (const document of documents.filter((one) => one.kind === kind)) {
      const apart = (text: string) => listWords(text).join(' ');
      insert.run({
        ...document,
        name: apart(document.name),
        own: apart(document.own),
        listing: apart(document.listing),
      });
    }
    const weights = kind === 'listing' ? '0, 4, 1, 2' : '0, 3, 2, 1';
    return sqlite
      .prepare<[string], string>(
        `SELECT key FROM ${kind}s WHERE ${kind}s MATCH ? ORDER BY bm25(${kind}s, ${weights}) LIMIT 10`,
      )
      .pluck();
  };
  const [listings, routes] = [open('listing'), open('route')];
  return (q) => {
    const words = [...new Set(listTelling(q))].map((word) => `"${word}"`).join(' OR ');
    return words === '' ? { hosts: [], routes: [] } : { hosts: listings.all(words), routes: routes.all(words) };
  };
}

function openMiniSearch(documents: readonly TextDocument[]): Search {
  const open = (kind: TextDocument['kind']) => {
    const index = new MiniSearch<TextDocument & { id: number }>({
      fields: ['name', 'own', 'listing'],
      storeFields: ['key'],
      tokenize: listTelling,
      processTerm: getStem,
    });
    index.addAll(documents.filter((one) => one.kind === kind).map((one, id) => ({ ...one, id })));
    const boost = kind === 'listing' ? { name: 4, listing: 2 } : { name: 3, own: 2 };
    return (q: string) =>
      index
        .search(q, { boost })
        .slice(0, 10)
        .map(({ key }) => key as string);
  };
  const [listings, routes] = [open('listing'), open('route')];
  return (q) => ({ hosts: listings(q), routes: routes(q) });
}

interface Result {
  readonly request: Request;
  readonly hosts: Ranks;
  readonly routes: Ranks;
  readonly isEmpty: boolean;
  readonly ms: number;
}

/** The rank of the first right answer from 1, 0 for none in ten; and the share of the right ones that are in ten. */
interface Ranks {
  readonly place: number;
  readonly recall: number;
}

function ask(request: Request, search: Search): Result {
  const started = performance.now();
  const { hosts, routes } = search(request.q);
  const ms = performance.now() - started;
  return {
    ...{ request, ms, isEmpty: hosts.length === 0 },
    hosts: getRanks(hosts, request.hosts),
    routes: getRanks(routes, request.routes),
  };
}

function getRanks(found: readonly string[], right: readonly string[]): Ranks {
  const fits = (label: string, key: string) => {
    const [start = '', end] = label.split('*');
    return end === undefined ? key === label : key.startsWith(start) && key.endsWith(end);
  };
  const place = found.findIndex((key) => right.some((label) => fits(label, key))) + 1;
  const got = right.filter((label) => found.some((key) => fits(label, key))).length;
  return { place, recall: right.length === 0 ? 0 : got / right.length };
}

function summarise(results: readonly Result[]): Record<string, string | number> {
  const mean = (of: readonly Result[], get: (result: Result) => number) =>
    round(of.reduce((sum, result) => sum + get(result), 0) / of.length);
  const describe = (of: readonly Result[], kind: 'hosts' | 'routes') => ({
    'top 1': mean(of, (result) => Number(result[kind].place === 1)),
    'top 5': mean(of, (result) => Number(result[kind].place > 0 && result[kind].place <= 5)),
    'recall 10': mean(of, (result) => result[kind].recall),
  });
  const withRoutes = results.filter(({ request }) => request.routes.length > 0);
  const routes = withRoutes.length > 0 ? describe(withRoutes, 'routes') : {};
  return {
    requests: results.length,
    ...describe(results, 'hosts'),
    ...Object.fromEntries(Object.entries(routes).map(([name, value]) => [`routes ${name}`, value])),
    nothing: mean(results, ({ isEmpty }) => Number(isEmpty)),
    'ms (50, 99 %)': `${round(getMedian(results.map(({ ms }) => ms)))} ${round(
      getPercentile(
        results.map(({ ms }) => ms),
        0.99,
      ),
    )}`,
  };
}

/**
 * Measures how well the first match tells requests that something answers from those that nothing does: the set's own, or
 * those whose right listings are all withheld. AUC is the chance that one of the former matches better than one of the latter.
 */
function measureDoubt({ requests, unanswerable, reading, withhold }: DataSet): Record<string, string | number>[] {
  if (!withhold && unanswerable.length === 0) return [];
  withhold?.();
  const search = openOurs(reading);
  const answerable = requests.filter(({ hosts }) => !withhold || !hosts.some(isWithheld)).map(({ q }) => q);
  const without = withhold ? requests.filter(({ hosts }) => hosts.every(isWithheld)).map(({ q }) => q) : unanswerable;
  return HALVES.map((half) => {
    const match = (requests: readonly string[]) =>
      requests.filter((q) => getHalf(q) === half).map((q) => search(q).match ?? 0);
    const [yes, no] = [match(answerable), match(without)];
    return {
      half,
      answerable: yes.length,
      unanswerable: no.length,
      AUC: round(getAuc(yes, no)),
      'AUC by number of words': round(getAuc(countWords(answerable, half), countWords(without, half))),
      'match of answerable (10, 50, 90 %)': [0.1, 0.5, 0.9].map((part) => round(getPercentile(yes, part))).join(' '),
      'match of unanswerable (10, 50, 90 %)': [0.1, 0.5, 0.9].map((part) => round(getPercentile(no, part))).join(' '),
    };
  });
}

function countWords(requests: readonly string[], half: string): number[] {
  return requests.filter((q) => getHalf(q) === half).map((q) => q.split(/\s+/).length);
}

function getAuc(yes: readonly number[], no: readonly number[]): number {
  let sum = 0;
  for (const high of yes) for (const low of no) sum += high > low ? 1 : high === low ? 0.5 : 0;
  return sum / (yes.length * no.length);
}

/** Builds the listing of a tool as a feed would. */
function buildDeclaration(tool: Tool, index: number) {
  const base = buildSyntheticDeclaration(index);
  const [terms] = base.routes.map((route) => route.terms);
  const host = `t${index}.provider-of-tests.com`;
  const apis = tool.apis ?? [{ name: 'call', method: 'GET', description: '', parameters: [] }];
  const description = cleanText(tool.description ?? apis[0]?.description, 'description');
  const paths = apis.map(
    ({ name }, at) => `/${encodeURIComponent(name.toLowerCase().replace(/[^a-z0-9]+/gi, '-'))}-${at}`,
  );
  const declared: Declaration = declaration.parse({
    ...base,
    source: { ...base.source, name: `tool ${index}` },
    base_url: `https://${host}`,
    slug: null,
    service_name: null,
    title: cleanText(tool.name, 'title') || `tool ${index}`,
    tagline: cleanText(description, 'tagline'),
    description,
    provider_name: `t${index}`,
    category: null,
    routes: apis.map(({ name, method, description: text, parameters, response }, at) => ({
      ...base.routes[0],
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? method : 'GET',
      path: paths[at],
      description: cleanText(`${name}. ${text ?? ''}`, 'route_description'),
      input_schema: parameters.length > 0 ? buildInput(parameters) : null,
      output_schema: response === undefined ? null : buildOutput(response),
      terms,
    })),
  });
  const routes = new Map(
    apis.map(({ name }, at) => [name, `${host} ${declared.routes[at]?.method ?? 'GET'} ${paths[at]}`]),
  );
  return { name: tool.name, host, routes, declared };
}

function buildInput(parameters: readonly { name: string; type: string; description: string }[]) {
  const properties = parameters.map(({ name, type, description }) => [name, { type: type.toLowerCase(), description }]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** Builds the schema of what an answer is like. */
function buildOutput(shape: unknown): object {
  if (Array.isArray(shape)) return { type: 'array', items: buildOutput(shape[0]) };
  if (typeof shape !== 'object' || shape === null) return { type: 'string' };
  const properties = Object.entries(shape).map(([name, inner]) => [name, buildOutput(inner)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function readLines<Line>(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function round(value: number): number {
  return Math.round(1000 * value) / 1000;
}
