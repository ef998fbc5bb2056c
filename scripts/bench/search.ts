import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLive } from '../../src/live/app.ts';
import { createMcp } from '../../src/mcp/server.ts';
import { openReading, type Reading } from '../../src/snapshot/reading.ts';
import { selectListings } from '../../src/snapshot/select.ts';
import { listQuery } from '../../src/views/list-query.ts';
import { createRandom } from './synthetic.ts';
import { pickWord } from './words.ts';

/** One line of the result: how long one kind of request took, in milliseconds. */
export interface SearchResult {
  listings: number;
  request: string;
  count: number;
  p50_ms: number;
  p99_ms: number;
  /** The 99th percentile of processor time, which what else the machine does falls on less. */
  p99_cpu_ms: number;
}

/** What a first search costs, which reads the index, and what the process holds then. */
export interface FirstSearchResult {
  listings: number;
  snapshot_ms: number;
  first_search_ms: number;
  index_mb: number;
  process_mb: number;
}

/** Requests of a kind; each is another, so that no kept answer is measured. */
const REQUESTS = 300;

/** Requests before those that count. */
const WARM_UP = 50;

type Query = Record<string, string | number>;
type Ask = (query: Query) => Response | Promise<Response>;

const SITE = {
  baseUrl: 'http://localhost:4321',
  serviceTitle: 'Agent-Payable APIs',
  contactName: 'Maintainers',
  contactUrl: 'http://localhost:4321',
};

/** Measures searching a synthetic catalogue of so many listings, with the HTTP handler and the MCP tool called in-process. */
export async function measureSearch(folder: string, listings: number): Promise<(SearchResult | FirstSearchResult)[]> {
  const file = join(folder, `search-${listings}.sqlite`);
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'make-catalogue.ts'), file, String(listings)]);
  const reading = openReading(file, SITE);
  try {
    const first = measureFirst(reading);
    const live = createLive({ reading });
    const mcp = createMcp({ reading, onError: (error) => console.error(error) });
    const askList: Ask = (query) => live.fetch(new Request(`${SITE.baseUrl}/agent/list?${getSearch(query)}`));
    const askTool: Ask = (query) => mcp(buildToolCall(query));
    const kinds: [string, Ask, (random: () => number) => Query][] = [
      ['list: 2 to 6 words', askList, (random) => ({ q: pickWords(random, 2 + Math.floor(random() * 5)) })],
      [
        'list: common words',
        askList,
        (random) => ({ q: `data ${pickWords(random, 1)} price api token market`, limit: 20 }),
      ],
      ['list: words, by price', askList, (random) => ({ q: pickWords(random, 3), sort: 'price', category: 'Data' })],
      [
        'list: no words, sorted',
        askList,
        (random) => ({ sort: pickSort(random), max_price_usdc: random().toFixed(6) }),
      ],
      [
        'list: limit=1, since',
        askList,
        (random) => ({ limit: 1, updated_since: `2026-10-01T00:00:00.${Math.floor(random() * 1e6)}Z` }),
      ],
      ['MCP: 2 to 6 words', askTool, (random) => ({ q: pickWords(random, 2 + Math.floor(random() * 5)) })],
    ];
    const results: SearchResult[] = [];
    for (const [request, ask, build] of kinds) results.push(await measureKind(listings, request, ask, build));
    return [{ listings, ...first }, ...results];
  } finally {
    reading.catalogue.close();
  }
}

/** Takes the snapshot and makes the first search of a process. */
function measureFirst(reading: Reading): Omit<FirstSearchResult, 'listings'> {
  const started = performance.now();
  const snapshot = reading.getSnapshot();
  const snapshotMs = performance.now() - started;
  const before = getHeld();
  const asked = performance.now();
  selectListings(reading, snapshot, listQuery.parse({ q: 'weather forecast' }));
  const firstMs = performance.now() - asked;
  return {
    snapshot_ms: Math.round(snapshotMs),
    first_search_ms: Math.round(firstMs),
    index_mb: Math.round((getHeld() - before) / 1e6),
    process_mb: Math.round(process.memoryUsage.rss() / 1e6),
  };
}

async function measureKind(listings: number, request: string, ask: Ask, build: (random: () => number) => Query) {
  const random = createRandom(7);
  const times: number[] = [];
  const cpu: number[] = [];
  for (let count = -WARM_UP; count < REQUESTS; count += 1) {
    const query = build(random);
    const used = process.cpuUsage();
    const started = performance.now();
    const response = await ask(query);
    const body = await response.text();
    if (count >= 0) {
      times.push(performance.now() - started);
      const { user, system } = process.cpuUsage(used);
      cpu.push((user + system) / 1000);
    }
    if (response.status !== 200 || body.includes('"isError":true'))
      throw new Error(`${request}: ${body.slice(0, 300)}`);
  }
  const round = (ms: number) => Number(ms.toFixed(1));
  return {
    listings,
    request,
    count: REQUESTS,
    p50_ms: round(getPercentile(times, 0.5)),
    p99_ms: round(getPercentile(times, 0.99)),
    p99_cpu_ms: round(getPercentile(cpu, 0.99)),
  };
}

/** Bytes that JavaScript holds once what is not needed is let go, arrays of numbers included. */
function getHeld(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function getPercentile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.ceil(share * numbers.length) - 1] ?? Number.NaN;
}

function pickWords(random: () => number, count: number): string {
  return Array.from({ length: count }, () => pickWord(random)).join(' ');
}

function pickSort(random: () => number): string {
  return ['name', 'price', 'updated', 'reliability'][Math.floor(random() * 4)] ?? 'name';
}

function getSearch(query: Query): URLSearchParams {
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

function buildToolCall(query: Query): Request {
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search_listings', arguments: query },
  };
  return new Request(`${SITE.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      host: new URL(SITE.baseUrl).host,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify(message),
  });
}
