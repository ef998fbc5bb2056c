import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import MiniSearch from 'minisearch';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { type Declaration, declaration } from '../../src/model/declaration.ts';
import { formatRoute } from '../../src/model/route.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { findResources } from '../../src/published/found-resources.ts';
import { findListing, getItem, iterateRefs, readRouteAt } from '../../src/published/listings.ts';
import { openReading, type Reading } from '../../src/published/reading.ts';
import { selectListings } from '../../src/published/select.ts';
import { STOP_WORDS } from '../../src/search/stop-words.ts';
import { getStem, listWords } from '../../src/search/words.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import {
  type Asked,
  ask,
  buildGet,
  buildListPath,
  buildRow,
  buildToolCall,
  getPercentile,
  type Query,
  type Row,
} from './measuring.ts';
import { EXPRESS, startExpressDirectory } from './peers.ts';
import { buildSyntheticDeclaration, createRandom, pickWords } from './synthetic.ts';
import { openWrittenWorld, type Run, startService } from './world.ts';

/** Measures the time of searches at each size, and, once, how well requests with known answers are answered. */
export async function measureSearch(run: Run, sizes: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const listings of sizes) rows.push(...(await measureTimes(run, listings)));
  return [...rows, ...(await measureFinding(run))];
}

/** Number of searches of each kind that are measured, and of those before them while code is compiled. */
const SEARCHES = 300;
const WARM_UP = 50;

/** Measures the time of searches, one after the other, beside FTS5 on the same texts. */
async function measureTimes(run: Run, listings: number): Promise<Row[]> {
  const world = await openWrittenWorld(run, listings);
  const server = await startService(world);
  const random = createRandom(7);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const list = (query: Query) => buildGet(buildListPath(query));
  const pickRequest = () => pickWords(random, pick([2, 3, 4, 5, 6]));
  /** Searches that FTS5 can answer, too. */
  const searches: Readonly<Record<string, () => Asked>> = {
    'list: one word': () => list({ q: pickWords(random, 1), limit: 20 }),
    'list: one word, misspelt': () => list({ q: misspell(pickWords(random, 1)), limit: 20 }),
    'list: 2 to 6 words': () => list({ q: pickRequest(), limit: 20 }),
    'list: common words': () => list({ q: `data ${pickWords(random, 1)} price api token market`, limit: 20 }),
  };
  const others: Readonly<Record<string, () => Asked>> = {
    'list: words, by price': () => list({ q: pickWords(random, 3), sort: 'price', category: 'Data' }),
    'list: no words, sorted': () =>
      list({
        sort: pick(['name', 'price', 'updated', 'reliability', 'latency', 'proof']),
        max_price_usdc: random().toFixed(6),
      }),
    'list: limit=1, since': () =>
      list({ limit: 1, updated_since: `2026-10-01T00:00:00.${Math.floor(random() * 1e6)}Z` }),
    'MCP: 2 to 6 words': () => buildToolCall('search_listings', { q: pickRequest() }),
  };
  const goal = listings >= 100_000 ? 'ours < 25' : listings >= 10_000 ? 'ours < 10' : undefined;
  const theirs = await startExpressDirectory(world);
  try {
    const rows: Row[] = [];
    for (const [kind, build] of Object.entries({ ...searches, ...others })) {
      const times: number[] = [];
      const theirTimes: number[] = [];
      for (let count = -WARM_UP; count < SEARCHES; count += 1) {
        const asked = build();
        const { ms, body } = await ask(server, asked);
        if (body.includes('"isError":true')) throw new Error(`${kind}: ${body}`);
        if (count >= 0) times.push(ms);
        if (!(kind in searches)) continue;
        const their = await ask(theirs, asked);
        if (count >= 0) theirTimes.push(their.ms);
      }
      const row = (share: number) => ({
        listings,
        unit: 'ms',
        ours: getPercentile(times, share),
        ...(theirTimes.length > 0 && { beside: `${EXPRESS}'s FTS5`, theirs: getPercentile(theirTimes, share) }),
      });
      rows.push(buildRow({ ...row(0.5), what: `${kind}, 50 % within` }));
      rows.push(buildRow({ ...row(0.99), what: `${kind}, 99 % within`, goal }));
    }
    return rows;
  } finally {
    await Promise.all([server.stop(), theirs.stop()]);
  }
}

/** Returns a word with two of its letters swapped. */
function misspell(word: string): string {
  const at = word.length >> 1;
  return word.slice(0, at - 1) + word[at] + word[at - 1] + word.slice(at + 1);
}

/** Measures how many requests of the sample are answered rightly, beside SQLite's FTS5 and MiniSearch on the same texts. */
async function measureFinding({ folder, tell }: Run): Promise<Row[]> {
  tell('Asking the requests of the sample …');
  const { reading, requests } = await openSample(folder);
  const documents = listDocuments(reading);
  const ours = openOurs(reading);
  const others = { FTS5: openFts(documents), MiniSearch: openMiniSearch(documents) };
  const measures: Readonly<Record<string, (found: Found, request: Request) => boolean>> = {
    'a right listing first': ({ hosts }, right) => right.hosts.includes(hosts[0] ?? ''),
    'a right listing among five': ({ hosts }, right) => hosts.slice(0, 5).some((host) => right.hosts.includes(host)),
    'a right route first': ({ routes }, right) => right.routes.includes(routes[0] ?? ''),
    'a right route among five': ({ routes }, right) => routes.slice(0, 5).some((one) => right.routes.includes(one)),
  };
  const rows = Object.entries(measures).flatMap(([what, isRight]) => {
    const getShare = (search: Search) =>
      (100 * requests.filter((request) => isRight(search(request.q), request)).length) / requests.length;
    const base = { listings: reading.getSnapshot().live_listings, what: `sample: ${what}`, unit: '% of requests' };
    return Object.entries(others).map(([beside, theirs]) =>
      buildRow({ ...base, ours: getShare(ours), beside, theirs: getShare(theirs) }),
    );
  });
  reading.published.close();
  return rows;
}

/** A request with its right answers: hosts of listings, and routes (`host GET /path`). */
interface Request {
  readonly q: string;
  readonly hosts: readonly string[];
  readonly routes: readonly string[];
}

/** Requests with known answers, and the catalogue that they are asked of. */
interface Sample {
  readonly requests: readonly Request[];
  /** Requests that nothing answers. */
  readonly unanswerable: readonly string[];
  readonly reading: Reading;
}

/** A listing of the sample in `test/data/finding`. */
interface Sampled extends Record<'slug' | 'title' | 'provider' | 'tagline' | 'description' | 'base_url', string> {
  readonly category: Declaration['category'];
  readonly routes: readonly (Record<'path' | 'description', string> & {
    readonly method: Declaration['routes'][number]['method'];
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
  })[];
}

const SAMPLE = resolve(import.meta.dirname, '../../test/data/finding');
const AT = '2026-11-01T00:00:00.000Z';
const IDENTITY = '7c0d5c6e-55a2-4a52-8a5e-3f3c1d2b4a60';
const SITE = { baseUrl: 'https://apis.example', serviceTitle: '', contactName: '', contactUrl: 'https://apis.example' };

/** Opens the sample with its files in a folder. A quarter of its requests has no answer. */
export async function openSample(folder: string): Promise<Sample> {
  const read = (name: string) => JSON.parse(readFileSync(join(SAMPLE, name), 'utf8'));
  const sampled: Sampled[] = read('listings.json');
  const requests: { request: string; answers: string[]; routes: string[] }[] = read('requests.json');
  const file = join(folder, 'sample.sqlite');
  const catalogue = await openCatalogue(file, { identity: IDENTITY, at: AT });
  await writeCatalogue(catalogue, AT, async (writing) => {
    for (const [index, one] of sampled.entries()) await recordDeclarations(writing, [buildSampled(one, index)]);
  });
  await catalogue.close();
  const publishedFile = `${file}.published`;
  await publishCatalogue({ catalogueAddress: file, publishedFile, baseUrl: SITE.baseUrl }, 'bench');
  const hosts = new Map(sampled.map(({ slug, base_url }) => [slug, new URL(base_url).host]));
  const getKey = (label: string) => label.replace(/^\S+/, (slug) => hosts.get(slug) ?? slug);
  return {
    reading: openReading(publishedFile, SITE),
    requests: requests
      .filter(({ answers }) => answers.length > 0)
      .map(({ request, answers, routes }) => ({ q: request, hosts: answers.map(getKey), routes: routes.map(getKey) })),
    unanswerable: requests.filter(({ answers }) => answers.length === 0).map(({ request }) => request),
  };
}

function buildSampled({ slug, title, provider, routes, ...texts }: Sampled, index: number): Declaration {
  const base = buildSyntheticDeclaration(index);
  const buildFields = (names: readonly string[]) =>
    names.length === 0
      ? null
      : { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
  return declaration.parse({
    ...base,
    ...texts,
    source: { ...base.source, name: slug },
    slug: null,
    service_name: null,
    title,
    provider_name: provider,
    routes: routes.map(({ method, path, description, inputs, outputs }) => ({
      ...base.routes[0],
      method,
      path,
      description,
      input_schema: buildFields(inputs),
      output_schema: buildFields(outputs),
    })),
  });
}

/** The results of a search, best first, ten at most. Hosts stand for listings; a route is `host GET /path`. */
interface Found {
  readonly hosts: readonly string[];
  readonly routes: readonly string[];
  /** The route that is shown of each listing. */
  readonly shown: readonly string[];
  /** The match of the first listing, and whether the answer as a whole is marked as weak. */
  readonly match?: number;
  readonly isWeak?: boolean;
}

type Search = (q: string) => Found;

const SHOWN = 10;

/** Opens the service's own search. */
export function openOurs({ published, getSnapshot }: Reading): Search {
  return (q) => {
    const snapshot = getSnapshot();
    const { listings, answer } = selectListings(published, snapshot, listQuery.parse({ q, limit: SHOWN }));
    const { resources } = findResources(published, snapshot, { query: q, limit: SHOWN });
    const hosts = listings.map((listing) => new URL(getItem(published, listing).base_url).host);
    return {
      hosts,
      routes: resources.map(({ listing, route }) => `${new URL(listing.base_url).host} ${formatRoute(route)}`),
      shown: listings.map((listing, at) => {
        const found = readRouteAt(published, listing, answer?.matches[at]?.position ?? -1);
        return `${hosts[at]}${found ? ` ${formatRoute(found.route)}` : ''}`;
      }),
      match: answer?.matches[0]?.match ?? 0,
      isWeak: answer?.isWeak ?? true,
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
  return [...iterateRefs(published)].flatMap(({ slug }) => {
    const live = findListing(published, slug);
    if (!live) throw new Error(`${slug} is not live`);
    const { title: name, tagline, description, provider_name, category, base_url, routes } = live;
    const { host } = new URL(base_url);
    const listing = [tagline, description, provider_name, category].join(' ');
    const ofRoutes = routes.map((route) => ({
      kind: 'route' as const,
      key: `${host} ${formatRoute(route)}`,
      name,
      listing,
      own: [route.path, route.description, ...listTexts(route.input_schema), ...listTexts(route.output_schema)].join(
        ' ',
      ),
    }));
    const own = ofRoutes.map((route) => route.own).join(' ');
    return [{ kind: 'listing' as const, key: host, name, listing, own }, ...ofRoutes];
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

/** Routes of a library that are looked at to find ten listings. */
const ROUTES_SEEN = 50;

/** Shortens what a library found; of each listing it shows the first of its routes. */
function buildFound(hosts: readonly string[], routes: readonly string[]): Found {
  const shown = routes.filter((route, at) => {
    const isSame = (other: string) => other.split(' ', 1)[0] === route.split(' ', 1)[0];
    return routes.findIndex(isSame) === at;
  });
  return { hosts: hosts.slice(0, SHOWN), routes: routes.slice(0, SHOWN), shown: shown.slice(0, SHOWN) };
}

function openFts(documents: readonly TextDocument[]): Search {
  const sqlite = new Sqlite(':memory:');
  const open = (kind: TextDocument['kind']) => {
    sqlite.exec(`CREATE VIRTUAL TABLE ${kind}s USING fts5 (key UNINDEXED, name, own, listing, tokenize = 'porter')`);
    const insert = sqlite.prepare(`INSERT INTO ${kind}s VALUES (@key, @name, @own, @listing)`);
    // Identifiers are split into words, as for the others.
    const apart = (text: string) => listWords(text).join(' ');
    for (const { key, name, own, listing } of documents.filter((one) => one.kind === kind)) {
      insert.run({ key, name: apart(name), own: apart(own), listing: apart(listing) });
    }
    const weights = kind === 'listing' ? '0, 4, 1, 2' : '0, 3, 2, 1';
    return sqlite
      .prepare<[string], string>(
        `SELECT key FROM ${kind}s WHERE ${kind}s MATCH ? ORDER BY bm25(${kind}s, ${weights}) LIMIT ${ROUTES_SEEN}`,
      )
      .pluck();
  };
  const [listings, routes] = [open('listing'), open('route')];
  return (q) => {
    const words = [...new Set(listTelling(q))].map((word) => `"${word}"`).join(' OR ');
    return words === '' ? buildFound([], []) : buildFound(listings.all(words), routes.all(words));
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
        .slice(0, ROUTES_SEEN)
        .map(({ key }) => key as string);
  };
  const [listings, routes] = [open('listing'), open('route')];
  return (q) => buildFound(listings(q), routes(q));
}
