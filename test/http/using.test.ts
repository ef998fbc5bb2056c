import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { buildFrame } from '../../src/http/endpoints/index.ts';
import { MAX_QUESTION_BYTES } from '../../src/http/endpoints/posted.ts';
import { seedCatalogue } from '../../src/importing/manifests.ts';
import { TOOLS } from '../../src/mcp/tools/index.ts';
import { NOTICE_MONTHS } from '../../src/views/changelog.ts';
import { PATHS } from '../../src/views/links.ts';
import {
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
  listFilters,
  listSort,
  REQUEST_MAX_LENGTH,
} from '../../src/views/listing/query.ts';
import { SKILL_NAME } from '../../src/views/skill.ts';
import { makeFolder, NOW } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { SITE } from '../site.ts';
import { ask, serveSiteFixture } from './running.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MANUAL = readFileSync(join(ROOT, 'src/docs/using.md'), 'utf8');
/** Each command of the manual with the answer shown under it. */
const SAMPLES = [...MANUAL.matchAll(/```sh\n(curl .*?)```\n\n```\n(.*?)```/gs)].map(
  ([, command = '', answer = '']) => [command.trim(), JSON.parse(answer)] as const,
);
const { paths = {} } = buildFrame(SITE);

/** Serves a copy as it starts, with the listings of the repository, at the address that the manual names. */
async function serveSeed() {
  const fixture = await makeSiteFixture(makeFolder(), { count: 0, settings: { RATE_LIMIT: '600' } });
  await seedCatalogue(fixture.catalogue, join(ROOT, 'data/listings'), () => new Date(NOW));
  return serveSiteFixture({ fixture, written: false });
}

/** Sends what a command of curl sends. */
function runCurl(command: string, url: string): Promise<Response> {
  const words = [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare,
  );
  const listAfter = (option: string) => words.flatMap((word, at) => (words[at - 1] === option ? (word ?? []) : []));
  const target = new URL(words.find((word) => word?.startsWith('http:')) ?? '');
  const headers = listAfter('-H').map((line) => line.split(': ') as [string, string]);
  const data = listAfter('-d').join('&');
  if (words.includes('-G')) target.search = data;
  const address = `${url}${target.pathname}${target.search}`;
  return data && !words.includes('-G')
    ? fetch(address, { method: 'POST', headers, body: data })
    : fetch(address, { headers });
}

/** Cuts an answer down to the fields of a sample, and its lists to as many as there are in it. */
function cutLike(answer: unknown, sample: unknown): unknown {
  if (Array.isArray(answer) && Array.isArray(sample)) {
    return answer.slice(0, sample.length || undefined).map((item, at) => cutLike(item, sample[at]));
  }
  if (!isObject(answer) || !isObject(sample)) return answer;
  return Object.fromEntries(Object.entries(sample).map(([name, part]) => [name, cutLike(answer[name], part)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe('the manual of the API', () => {
  it('shows what each of its commands answers', async () => {
    const { url } = await serveSeed();
    expect(SAMPLES).toHaveLength(8);
    expect(MANUAL.match(/```sh\n/g)).toHaveLength(SAMPLES.length);
    for (const [command, sample] of SAMPLES) {
      expect(command).toContain('http://localhost:4321/');
      const answer = await (await runCurl(command, url)).json();
      expect([command, cutLike(answer, sample)]).toEqual([command, sample]);
    }
  });

  it('names the tools, filters, orders and statuses that there are, and no other', () => {
    const table = MANUAL.slice(MANUAL.indexOf('| question'), MANUAL.indexOf('[The reference]'));
    const tools = new Set([...table.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, name]) => name));
    expect(tools).toEqual(new Set(Object.keys(TOOLS)));
    const list = (from: string, to: string) =>
      [...MANUAL.slice(MANUAL.indexOf(from), MANUAL.indexOf(to)).matchAll(/`([a-z_]+)`/g)].map(([, name]) => name);
    const { q: _request, ...filters } = listFilters.shape;
    expect(list('Filters are', 'A listing must pass').toSorted()).toEqual(Object.keys(filters).toSorted());
    expect(list('`sort` is', 'A page has').filter((name) => name !== 'sort' && name !== 'q')).toEqual(listSort.options);
    const statuses = [...MANUAL.matchAll(/^\| (\d{3}) /gm)].map(([, status]) => status);
    const documented = Object.entries(paths)
      .filter(([path]) => path.startsWith('/agent/'))
      .flatMap(([, operations]) => [operations?.get, operations?.post])
      .flatMap((operation) => Object.keys(operation?.responses ?? {}))
      .filter((status) => Number(status) >= 400);
    expect(statuses).toEqual([...new Set(documented)].toSorted());
  });

  it('names addresses that there are', () => {
    const addresses = [...MANUAL.matchAll(/\]\((\/[^)#]*)|`(?:GET |POST )?(\/[^`?]*)`/g)].map(([, a, b]) => a ?? b);
    const templates = [
      ...[PATHS.agentListing('{slug}'), PATHS.agentReceipt('{id}')],
      ...[PATHS.registryEntry('{identifier}'), PATHS.skill(SKILL_NAME)],
    ];
    const known: unknown[] = [...Object.values(PATHS), ...templates];
    expect(addresses.length).toBeGreaterThan(10);
    expect(addresses.filter((path) => !known.includes(path))).toEqual([]);
  });

  it('states the limits and the notice as they are', async () => {
    const { rateLimit } = readConfig({});
    for (const words of [
      `A page has ${LIST_LIMIT_DEFAULT.words} listings with \`q\` and ${LIST_LIMIT_DEFAULT.filters} without, or as many as \`limit\` says, up to ${LIST_LIMIT_MAX}.`,
      `at most ${MAX_QUESTION_BYTES / 1024} KB`,
      `${rateLimit} requests a minute`,
      `at most ${REQUEST_MAX_LENGTH} characters`,
      `${NOTICE_MONTHS} months`,
    ]) {
      expect(MANUAL.replace(/\s+/g, ' ')).toContain(words);
    }
    const server = await serveSeed();
    const getLeft = async (path: string) =>
      Number(/r=(\d+)/.exec(String((await ask(server, path)).headers.ratelimit))?.[1]);
    const left: number[] = [rateLimit];
    for (const path of ['/agent/list', '/agent/changes', '/openapi.json']) left.push(await getLeft(path));
    expect(left).toEqual([600, 598, 597, 587]);
  });

  it('says truly that an answer is not sent twice, and which revision it is of', async () => {
    const server = await serveSeed();
    const first = await ask(server, '/agent/listings/camelai-pdf');
    expect(first.headers['x-catalogue-revision']).toBe('1');
    const again = await ask(server, '/agent/listings/camelai-pdf', {
      headers: { 'If-None-Match': String(first.headers.etag) },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});
