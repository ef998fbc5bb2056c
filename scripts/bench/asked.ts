/**
 * `node scripts/bench/asked.ts <folder>`: how well requests in whole sentences are answered. The folder holds data sets
 * that others wrote, each a folder with `tools.jsonl` (name, description, routes as `apis`) and `requests.jsonl` (query,
 * and the names of the right `tools` or `routes`). Prints the share with a right listing first and among five, in each
 * half of the requests, and how much of the request the first listing answers where it is right and where it is not.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { type Declaration, declaration } from '../../src/model/declaration.ts';
import { parseItem } from '../../src/snapshot/entry.ts';
import { openReading } from '../../src/snapshot/reading.ts';
import { selectListings } from '../../src/snapshot/select.ts';
import { cleanText } from '../../src/sources/provider-text.ts';
import { listQuery } from '../../src/views/list-query.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';

interface Tool {
  name: string;
  description?: string;
  apis?: { name: string; method: string; description: string; parameters: { name: string; description: string }[] }[];
}

interface Asked {
  query: string;
  tools?: string[];
  routes?: [tool: string, route: string][];
}

const AT = '2026-11-01T00:00:00.000Z';
const SITE = { baseUrl: 'http://localhost:4321', serviceTitle: 'x', contactName: 'x', contactUrl: 'http://localhost' };

const [folder = ''] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'asked-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
const rows: Record<string, string | number>[] = [];
for (const set of readdirSync(folder)) {
  if (existsSync(join(folder, set, 'requests.jsonl'))) rows.push(...measure(set));
}
console.table(rows);

function measure(set: string): Record<string, string | number>[] {
  const tools = readLines<Tool>(join(folder, set, 'tools.jsonl'));
  const file = join(home, `${set}.sqlite`);
  const catalogue = openCatalogue(file, { identity: '7c0d5c6e-55a2-4a52-8a5e-3f3c1d2b4a60', at: AT });
  writeCatalogue(catalogue, AT, (writing) => {
    for (const [index, tool] of tools.entries()) recordDeclaration(writing, buildDeclaration(tool, index));
  });
  catalogue.close();
  const reading = openReading(file, SITE);
  const snapshot = reading.getSnapshot();
  const asked = readLines<Asked>(join(folder, set, 'requests.jsonl')).map(({ query, tools, routes }, at) => {
    const right = new Set(tools ?? routes?.map(([tool]) => tool));
    const parsed = listQuery.safeParse({ q: query, limit: 100 });
    if (!parsed.success) return { half: at % 2, place: 0, total: 0, match: 0, weak: 0, ms: 0, isRefused: 1 };
    const started = performance.now();
    const found = selectListings(reading, snapshot, parsed.data);
    const ms = performance.now() - started;
    const place = found.entries.findIndex((entry) => right.has(parseItem(entry).provider_name)) + 1;
    const [match = 0] = found.answer?.matches ?? [];
    return {
      half: at % 2,
      place,
      total: found.total,
      match,
      weak: Number(found.answer?.isWeak ?? 0),
      ms,
      isRefused: 0,
    };
  });
  reading.catalogue.close();
  return [0, 1].map((half) => {
    const of = asked.filter((one) => one.half === half);
    const share = (is: (one: (typeof of)[number]) => boolean) => round(of.filter(is).length / of.length);
    const get = (is: (one: (typeof of)[number]) => boolean, at: number) =>
      of
        .filter((one) => one.isRefused === 0 && is(one))
        .map(({ match }) => match)
        .sort((a, b) => a - b)
        .at(Math.floor(at * of.filter((one) => one.isRefused === 0 && is(one)).length)) ?? 0;
    return {
      set: `${set} ${half === 0 ? 'even' : 'odd'}`,
      requests: of.length,
      'top 1': share(({ place }) => place === 1),
      'top 5': share(({ place }) => place > 0 && place <= 5),
      refused: share(({ isRefused }) => isRefused === 1),
      nothing: share(({ total, isRefused }) => isRefused === 0 && total === 0),
      total: Math.round(of.reduce((sum, { total }) => sum + total, 0) / of.length),
      'match right (10, 50 %)': `${round(get(({ place }) => place === 1, 0.1))} ${round(get(({ place }) => place === 1, 0.5))}`,
      'match wrong (50, 90 %)': `${round(get(({ place }) => place !== 1, 0.5))} ${round(get(({ place }) => place !== 1, 0.9))}`,
      weak: share(({ weak }) => weak === 1),
      'ms (most)': round(Math.max(...of.map(({ ms }) => ms))),
    };
  });
}

/** Makes the listing of a tool as a feed would have it; the provider's name is the tool's, by which it is found again. */
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
