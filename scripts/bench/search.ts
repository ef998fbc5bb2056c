import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createApp } from '../../src/http/app.ts';
import { createMcp } from '../../src/mcp/server.ts';
import { getSite } from '../../src/release/release.ts';
import { openReading, type Reading } from '../../src/snapshot/reading.ts';
import { selectListings } from '../../src/snapshot/select.ts';
import { listQuery } from '../../src/views/list-query.ts';
import { buildToolCall } from './requests.ts';
import { getPercentile } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { createRandom } from './synthetic.ts';
import { pickWord } from './words.ts';
import { openWorld, type Run } from './world.ts';

/** Requests of a kind; each is another, so that no kept answer is measured. */
const REQUESTS = 300;

/** Requests before those that count. */
const WARM_UP = 50;

type Query = Record<string, string | number>;
type Ask = (query: Query) => Response | Promise<Response>;

/** What 99 of 100 searches may take, in milliseconds. */
const getGoal = (listings: number) => (listings >= 100_000 ? '< 25' : listings >= 10_000 ? '< 10' : undefined);

/** Measures searching a synthetic catalogue of so many listings, with the HTTP handler and the MCP tool called in-process. */
export async function measureSearch(run: Run, listings: number): Promise<Row[]> {
  const { config } = await openWorld(run, listings);
  const reading = openReading(config.catalogueFile, getSite(config));
  try {
    const first = measureFirst(listings, reading);
    const app = createApp({ reading });
    const mcp = createMcp({ reading, onError: (error) => console.error(error) });
    const askList: Ask = (query) => app.fetch(new Request(`${config.baseUrl}/agent/list?${getSearch(query)}`));
    const askTool: Ask = (query) => mcp(buildToolRequest(config.baseUrl, query));
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
    const rows: Row[] = [];
    for (const [request, ask, build] of kinds) rows.push(...(await measureKind(listings, request, ask, build)));
    return [...first, ...rows];
  } finally {
    reading.catalogue.close();
  }
}

/** Takes the snapshot and makes the first search of a process, which reads the index. */
function measureFirst(listings: number, reading: Reading): Row[] {
  const started = performance.now();
  const snapshot = reading.getSnapshot();
  const snapshotMs = performance.now() - started;
  const before = getHeld();
  const asked = performance.now();
  selectListings(reading, snapshot, listQuery.parse({ q: 'weather forecast' }));
  const firstMs = performance.now() - asked;
  return [
    buildRow({ listings, what: 'snapshot', unit: 'ms', ours: snapshotMs }),
    buildRow({ listings, what: 'first search of a process', unit: 'ms', ours: firstMs }),
    buildRow({ listings, what: 'index in memory', unit: 'MB', ours: (getHeld() - before) / 1e6 }),
  ];
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
  const base = { listings, unit: 'ms' };
  const goal = getGoal(listings);
  return [
    buildRow({ ...base, what: `${request}, 50 % within`, ours: getPercentile(times, 0.5) }),
    buildRow({ ...base, what: `${request}, 99 % within`, ours: getPercentile(times, 0.99), goal }),
    // What else the machine does falls on processor time less.
    buildRow({ ...base, what: `${request}, 99 % within, processor time`, ours: getPercentile(cpu, 0.99) }),
  ];
}

/** Bytes that JavaScript holds once what is not needed is let go, arrays of numbers included. */
function getHeld(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
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

function buildToolRequest(baseUrl: string, query: Query): Request {
  const { path, method = 'POST', headers, body = '' } = buildToolCall(query);
  return new Request(`${baseUrl}${path}`, { method, headers: { ...headers, host: new URL(baseUrl).host }, body });
}
