/**
 * `node scripts/bench/agent-loop.ts <corpus>` measures how far an agent gets that follows answers
 * without a model. For each request it calls `search_listings`, takes the first result that is not weak and not
 * dangerous, asks its provider for a 402, and hands that to `check_payment_terms`. Requests are 50 of the tasks in
 * `test/search/tasks.yaml` over the feed in the corpus, whose providers answer here from the record, and some over the
 * market of the demo, whose providers are real.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { parse } from 'yaml';
import { runCommandLine } from '../../src/cli/run.ts';
import { buildCaller } from '../../src/mcp/caller.ts';
import { TOOLS } from '../../src/mcp/tools/index.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { findListing, iterateRefs } from '../../src/published/listings.ts';
import { openReading, type Reading } from '../../src/published/reading.ts';
import type { PublicRoute } from '../../src/views/listing/route-record.ts';
import { startMarket } from '../market/market.ts';
import { getMedian, getPercentile } from './measuring.ts';

/** A request with the routes that are right answers: `host GET /path`, in which one `*` matches anything. */
interface Request {
  readonly q: string;
  readonly right: readonly string[];
}

interface World {
  readonly name: string;
  readonly requests: readonly Request[];
  readonly reading: Reading;
  /**
   * Calls a route without paying, with the example on record. Returns the challenge of its 402, or undefined without
   * one.
   */
  call(route: Called, example?: PublicRoute['example']): Promise<unknown>;
}

interface Called {
  readonly method: string;
  readonly url: string;
}

/** A search result about a route; of a listing without routes it has no call. */
interface Result extends Partial<Called> {
  readonly slug: string;
  readonly caution?: string;
  readonly input?: string;
}

/** The result of a request. */
interface Loop {
  /** True if some result is a right route: an agent that reads all of them can go on with it. */
  readonly isListed: boolean;
  /** True if it ended at a right route whose 402 is what is on record, with nothing grave against it. */
  readonly isRight: boolean;
  /** True if the answers say what that route takes, with types, or if nobody knows. */
  readonly isReady: boolean;
  /** Tokens of both answers, and with the further answer that says what the route takes. */
  readonly tokens: number;
  readonly tokensToCall: number;
}

const TASKS = 50;
const AT = '2026-11-01T00:00:00.000Z';
const SITE = { baseUrl: 'https://apis.example', serviceTitle: '', contactName: '', contactUrl: 'https://apis.example' };
const ROOT = resolve(import.meta.dirname, '../..');

/** Requests for the routes of the market, by path. */
const DEMO: readonly (readonly [q: string, path: string])[] = [
  ['how many words are in this text', 'GET /v1/word-count'],
  ['the SHA-256 hash of a text', 'GET /v1/hash'],
  ['make a URL slug from a headline', 'GET /v1/slug'],
  ['convert miles to kilometres', 'GET /v1/convert'],
  ['complete a chat message', 'POST /v1/chat/completions'],
  ['is this IBAN valid', 'GET /v1/iban'],
  ['check a card number by the Luhn digit', 'POST /v1/luhn'],
  ['tides at a harbour', 'GET /v1/tides'],
  ['monthly payments of a loan', 'POST /v1/loan-schedule'],
  ['distance between two coordinates', 'GET /v1/distance'],
];

const [corpus = '', ...rest] = process.argv.slice(2);
if (corpus === '' || rest.length > 0) throw new Error('usage: agent-loop.ts <corpus>');
const home = mkdtempSync(join(tmpdir(), 'agent-loop-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
const market = await startMarket({ solana: false });
try {
  const worlds = [await openCorpus(), await openDemo()];
  const rows = [];
  for (const world of worlds) {
    const loops = [];
    for (const request of world.requests) loops.push(await follow(world, request));
    rows.push({ over: world.name, ...summarise(loops) });
    world.reading.published.close();
  }
  console.table(rows);
} finally {
  await market.stop();
}

/** Runs commands on a catalogue of its own, and opens their result. */
async function open(name: string, commands: readonly string[][], now: () => Date) {
  const file = join(home, `${name}.sqlite`);
  const settings = {
    CATALOGUE: file,
    SITE: join(home, name),
    BASE_URL: SITE.baseUrl,
    ALLOW_PRIVATE_NETWORKS: 'on',
  };
  Object.assign(process.env, settings);
  const quiet = { write: () => true } as never;
  for (const args of commands) {
    const io = { stdout: quiet, stderr: quiet, now, signal: new AbortController().signal };
    await runCommandLine(args, io);
  }
  const files = { catalogueAddress: file, publishedFile: `${file}.published`, baseUrl: SITE.baseUrl };
  await publishCatalogue(files, 'bench');
  return openReading(files.publishedFile, SITE, { now });
}

/** Opens the real listings. Their providers are not asked: they are assumed to ask what is on record. */
async function openCorpus(): Promise<World> {
  const commands = [
    ['import', '--bazaar', join(corpus, 'bazaar-2026-03/resources.json')],
    ['import', '--openapi', join(corpus, 'provider-openapi/openapi.json')],
    ['import', join(ROOT, 'data/listings')],
  ];
  const reading = await open('corpus', commands, () => new Date(AT));
  const recorded = new Map<string, object | undefined>(
    listRoutes(reading).map(({ route, url }) => [`${route.method} ${url}`, buildChallenge(route, url)] as const),
  );
  return {
    ...{ name: 'tasks over the corpus', requests: readTasks(), reading },
    call: async ({ method, url }) => recorded.get(`${method} ${url}`),
  };
}

async function openDemo(): Promise<World> {
  const commands = [
    ['import', '--bazaar', market.feedUrl],
    ['probe', '--all', '--pause', '0'],
  ];
  const reading = await open('demo', commands, () => new Date());
  return {
    ...{ name: 'the demo', requests: DEMO.map(([q, path]) => ({ q, right: [`*${path}`] })), reading },
    call: async ({ method, url }, example) => {
      const headers = { 'Content-Type': 'application/json' };
      const posted = method === 'POST' ? { headers, body: JSON.stringify(example?.body ?? {}) } : {};
      const response = await fetch(`${url}?${new URLSearchParams(example?.query)}`, { method, ...posted });
      if (response.status !== 402) return undefined;
      return response.headers.get('payment-required') ?? (await response.json());
    },
  };
}

/** Reads the tasks in the order of a digest of their words, so that nobody chooses them. */
function readTasks(): Request[] {
  const lines: Record<string, Record<string, string[]>>[] = parse(
    readFileSync(join(ROOT, 'test/search/tasks.yaml'), 'utf8'),
  );
  const getDigest = (q: string) => createHash('sha256').update(q).digest('hex');
  return lines
    .flatMap((line) => Object.entries(line))
    .map(([q, right]) => ({
      q,
      right: Object.entries(right).flatMap(([host, routes]) => routes.map((route) => `${host} ${route}`)),
    }))
    .sort((a, b) => (getDigest(a.q) < getDigest(b.q) ? -1 : 1))
    .slice(0, TASKS);
}

function listRoutes({ published }: Reading): { route: PublicRoute; url: string }[] {
  return Array.from(iterateRefs(published)).flatMap(({ slug }) =>
    (findListing(published, slug)?.routes ?? []).map((route) => ({ route, url: route.url })),
  );
}

/** Writes the terms on record of a route as its 402 would; undefined if nothing can be paid. */
function buildChallenge({ terms }: PublicRoute, url: string): object | undefined {
  const accepts = terms
    .filter(({ pay_to, current }) => pay_to !== null && current)
    .map(({ scheme, network, asset, amount, pay_to }) => ({
      ...{ scheme, network: NETWORKS[network].id, asset, amount: String(amount), payTo: pay_to },
      ...{ maxTimeoutSeconds: 60, extra: {} },
    }));
  return accepts.length > 0 ? { x402Version: 2, resource: { url }, accepts } : undefined;
}

async function follow(world: World, { q, right }: Request): Promise<Loop> {
  const { reading, call } = world;
  const found = callTool(reading, 'search_listings', { q });
  const results: Result[] = found.answer.listings;
  const routes = listRoutes(reading);
  const isRightRoute = (result: Result) => {
    const { method, url = '' } = result;
    const route = routes.find((one) => one.url === url && one.route.method === method)?.route;
    return route !== undefined && right.some((label) => matches(label, `${new URL(url).host} ${method} ${route.path}`));
  };
  const isListed = results.some((result) => !isDangerous(result) && isRightRoute(result));
  const best = found.answer.weak ? undefined : results.find((result) => !isDangerous(result));
  const { method, url } = best ?? {};
  const failed = { isListed, isRight: false, isReady: false, tokens: found.tokens, tokensToCall: found.tokens };
  if (best === undefined || method === undefined || url === undefined) return failed;
  const route = routes.find((one) => one.url === url && one.route.method === method)?.route;
  const challenge = await call({ method, url }, route?.example);
  if (challenge === undefined) return failed;
  const check = callTool(reading, 'check_payment_terms', { url, method, challenge });
  const isPayable = ['match', 'unseen'].includes(check.answer.verdict) && check.answer.severity !== 'danger';
  const isReady = best.input !== undefined || (route?.input_schema === null && route.example === null);
  const tokens = found.tokens + check.tokens;
  const further = isReady ? 0 : callTool(reading, 'get_listing', { slug: best.slug }).tokens;
  return { isListed, isRight: isPayable && isRightRoute(best), isReady, tokens, tokensToCall: tokens + further };
}

function isDangerous({ caution = '' }: Result): boolean {
  return caution.includes('DANGER');
}

function matches(label: string, name: string): boolean {
  const [begin = '', end] = label.split('*');
  return end === undefined ? name === label : name.startsWith(begin) && name.endsWith(end);
}

/** Calls a tool. Returns the answer, and the tokens of the part that a host hands on: the text says the same as the other. */
function callTool(reading: Reading, name: string, args: object) {
  const tool = TOOLS[name];
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const answer = Object(buildCaller(reading).callTool(tool, args).structuredContent);
  return { answer, tokens: countTokens(JSON.stringify(answer)) };
}

function summarise(loops: readonly Loop[]): Record<string, string | number> {
  const share = (is: (loop: Loop) => boolean) => Number((loops.filter(is).length / loops.length).toFixed(2));
  const describe = (get: (loop: Loop) => number) => {
    const figures = loops.map(get);
    return `${Math.round(getMedian(figures))} ${Math.round(getPercentile(figures, 0.9))}`;
  };
  return {
    requests: loops.length,
    'a right route listed': share(({ isListed }) => isListed),
    'right and payable, two calls': share(({ isRight }) => isRight),
    'and its input known': share(({ isRight, isReady }) => isRight && isReady),
    'tokens of two calls (50, 90 %)': describe(({ tokens }) => tokens),
    'tokens until the call (50, 90 %)': describe(({ tokensToCall }) => tokensToCall),
  };
}
