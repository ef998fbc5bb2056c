/**
 * `node scripts/bench/search-quality.ts <folder>`: how well requests in whole sentences are answered. The folder holds data
 * sets that others wrote, each a folder with `tools.jsonl` (name, description, routes as `apis`) and `requests.jsonl`
 * (query, and the names of the right `tools` or `routes`). Prints, for each half of the requests, in which share a right
 * listing comes first and among the first five, and how much of the request the first listing matches.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { type Declaration, declaration } from '../../src/model/declaration.ts';
import { cleanText } from '../../src/sources/provider-text.ts';
import { PATHS } from '../../src/views/links.ts';
import type { AgentList } from '../../src/views/listing/query.ts';
import { getMedian, getPercentile } from './figures.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';
import { buildSettings, startService } from './world.ts';

interface Tool {
  name: string;
  description?: string;
  apis?: { name: string; method: string; description: string; parameters: { name: string; description: string }[] }[];
}

interface LabelledRequest {
  query: string;
  tools?: string[];
  routes?: [tool: string, route: string][];
}

/** How one request was answered. */
interface Result {
  /** Where the first right listing is, from 1; 0 where none is among the first hundred. */
  readonly place: number;
  readonly total: number;
  /** How much of the request the first listing matches. */
  readonly match: number;
  readonly isWeak: boolean;
  readonly ms: number;
}

const AT = '2026-11-01T00:00:00.000Z';

const [folder = ''] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'search-quality-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
const rows: Record<string, string | number>[] = [];
for (const set of readdirSync(folder)) {
  if (existsSync(join(folder, set, 'requests.jsonl'))) rows.push(...(await measureSet(set)));
}
console.table(rows);

async function measureSet(set: string): Promise<Record<string, string | number>[]> {
  const file = join(home, `${set}.sqlite`);
  const catalogue = openCatalogue(file, { identity: '7c0d5c6e-55a2-4a52-8a5e-3f3c1d2b4a60', at: AT });
  writeCatalogue(catalogue, AT, (writing) => {
    for (const [index, tool] of readLines<Tool>(join(folder, set, 'tools.jsonl')).entries()) {
      recordDeclaration(writing, buildDeclaration(tool, index));
    }
  });
  catalogue.close();
  const env = { ...process.env, ...buildSettings(file, join(home, `${set}-releases`)) };
  const server = await startService({ env }, '--no-rebuild');
  const results: (Result | undefined)[] = [];
  for (const labelled of readLines<LabelledRequest>(join(folder, set, 'requests.jsonl'))) {
    results.push(await search(server.url, labelled));
  }
  await server.stop();
  const [even, odd] = [0, 1].map((half) => results.filter((_, at) => at % 2 === half));
  return [summarise(`${set} even`, even ?? []), summarise(`${set} odd`, odd ?? [])];
}

/** Searches. Undefined where the request is refused. */
async function search(url: string, { query, tools, routes }: LabelledRequest): Promise<Result | undefined> {
  const right = new Set(tools ?? routes?.map(([tool]) => tool));
  const started = performance.now();
  const response = await fetch(`${url}${PATHS.agentList}?${new URLSearchParams({ q: query, limit: '100' })}`);
  if (response.status === 400) return undefined;
  const { listings, total, weak = false }: AgentList = await response.json();
  const ms = performance.now() - started;
  const place = listings.findIndex((listing) => right.has(listing.provider_name)) + 1;
  return { place, total, match: listings[0]?.match ?? 0, isWeak: weak, ms };
}

function summarise(set: string, all: readonly (Result | undefined)[]): Record<string, string | number> {
  const answered = all.filter((result) => result !== undefined);
  const share = (is: (result: Result) => boolean) => round(answered.filter(is).length / all.length);
  const right = answered.filter(({ place }) => place === 1).map(({ match }) => match);
  const wrong = answered.filter(({ place }) => place !== 1).map(({ match }) => match);
  return {
    set,
    requests: all.length,
    'top 1': share(({ place }) => place === 1),
    'top 5': share(({ place }) => place > 0 && place <= 5),
    refused: round(1 - answered.length / all.length),
    nothing: share(({ total }) => total === 0),
    total: Math.round(answered.reduce((sum, { total }) => sum + total, 0) / all.length),
    'match right (10, 50 %)': `${round(getPercentile(right, 0.1))} ${round(getMedian(right))}`,
    'match wrong (50, 90 %)': `${round(getMedian(wrong))} ${round(getPercentile(wrong, 0.9))}`,
    weak: share(({ isWeak }) => isWeak),
    'ms (most)': round(Math.max(...answered.map(({ ms }) => ms))),
  };
}

/** Builds the listing of a tool as a feed would. Its provider name is the tool's, by which results are recognised. */
function buildDeclaration(tool: Tool, index: number): Declaration {
  const base = buildSyntheticDeclaration(index);
  const [terms] = base.routes.map((route) => route.terms);
  const description = cleanText(tool.description ?? tool.apis?.[0]?.description, 'description');
  return declaration.parse({
    ...base,
    source: { ...base.source, name: `tool ${index}` },
    base_url: `https://t${index}.provider-of-tests.com`,
    slug: null,
    title: cleanText(tool.name, 'title') || `tool ${index}`,
    tagline: cleanText(description, 'tagline'),
    description,
    provider_name: tool.name,
    category: null,
    routes: (tool.apis ?? [{ name: 'call', method: 'GET', description: '', parameters: [] }]).map((api, at) => ({
      ...base.routes[0],
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(api.method) ? api.method : 'GET',
      path: `/${encodeURIComponent(api.name.toLowerCase().replace(/[^a-z0-9]+/gi, '-'))}-${at}`,
      description: cleanText(`${api.name}. ${api.description ?? ''}`, 'route_description'),
      terms,
    })),
  });
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
