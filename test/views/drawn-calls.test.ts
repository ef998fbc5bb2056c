import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { fillCallInput, readTyped } from '../../src/evidence/call-input.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { isObject, type JsonObject } from '../../src/model/json.ts';
import { isBodiless } from '../../src/model/request.ts';
import { getRouteUrl, type Route } from '../../src/model/route.ts';
import { buildFeedDeclarations } from '../../src/sources/bazaar/feed.ts';
import { parseFeedPage } from '../../src/sources/bazaar/pull.ts';
import { readManifests } from '../../src/sources/manifest.ts';
import { buildRouteCall, type CallGuide } from '../../src/views/call/guide.ts';
import { buildCallRequest, type CallRequest } from '../../src/views/call/request.ts';
import { skipWithout } from '../skipped.ts';
import { OPTIONS } from '../sources/bazaar/items.ts';
import { takeDocument } from '../sources/openapi/documents.ts';
import { makePublicListing } from './listings.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CORPUS = resolve(ROOT, '../shared/corpus');
const DRAWN = 100;
const NOW = '2026-11-01T00:00:00.000Z';

/** The request of a route. */
interface RouteRequest {
  readonly name: string;
  readonly route: Route;
  readonly request: CallRequest;
}

/** The call of a drawn route, as the page of its listing shows it. */
interface DrawnCall extends RouteRequest {
  readonly guide: CallGuide;
}

async function listSeed(): Promise<Declaration[]> {
  const declarations: Declaration[] = [];
  for await (const { declaration } of readManifests([join(ROOT, 'data/listings')], {
    allowPrivateNetworks: false,
    now: NOW,
  }))
    if (declaration) declarations.push(declaration);
  return declarations;
}

function listCorpus(): Declaration[] {
  const load = (path: string) => readFileSync(join(CORPUS, path));
  const recorded: Record<string, unknown> = JSON.parse(load('bazaar-2026-08/discovery.json').toString());
  const pages = [
    load('bazaar-2026-03/resources.json'),
    ...Object.values(recorded).flatMap((page) => (isObject(page) ? Buffer.from(JSON.stringify(page)) : [])),
  ];
  return [
    ...pages.flatMap((page) => buildFeedDeclarations(parseFeedPage(page, 'recorded').items, OPTIONS).declarations),
    ...['openapi.json', 'well-known-x402.json'].flatMap(
      (name) => takeDocument(load(`provider-openapi/${name}`)).declarations,
    ),
  ];
}

/** Lists the routes of declarations, each with its request, as if no other source had them. */
function listRequests(declarations: readonly Declaration[]): RouteRequest[] {
  return declarations.flatMap(({ base_url, routes }) =>
    routes.map((declared) => {
      const route: Route = {
        ...declared,
        ...{ id: 'b2c0ffee-0000-5000-8000-000000000000', verification: 'unverified', proof: null, proofs: [] },
        ...{ said_by: {}, cautions: [], undelivered: null, payee: null, probe: null, terms: [] },
      };
      const name = `${route.method} ${getRouteUrl(base_url, route.path)}`;
      return { name, route, request: buildCallRequest(base_url, route) };
    }),
  );
}

/** Draws routes by the digest of method and address, and builds the call of each as its listing shows it. */
async function drawCalls(declarations: readonly Declaration[]): Promise<DrawnCall[]> {
  const named = declarations.flatMap((declaration) =>
    declaration.routes.map(({ method, path }) => ({
      declaration,
      name: `${method} ${getRouteUrl(declaration.base_url, path)}`,
    })),
  );
  const getDigest = (name: string) => createHash('sha256').update(name).digest('hex');
  const drawn = [...new Map(named.map((one) => [one.name, one])).values()]
    .toSorted((a, b) => (getDigest(a.name) < getDigest(b.name) ? -1 : 1))
    .slice(0, DRAWN);
  const calls: DrawnCall[] = [];
  for (const [declaration, of] of Map.groupBy(drawn, (one) => one.declaration)) {
    const listing = await makePublicListing(declaration);
    for (const { name } of of) {
      const route = listing.routes.find((one) => name === `${one.method} ${getRouteUrl(listing.base_url, one.path)}`);
      if (!route) throw new Error(`the listing has no ${name}`);
      const request = buildCallRequest(listing.base_url, route);
      calls.push({ name, route, guide: buildRouteCall(listing, route), request });
    }
  }
  return calls;
}

/** Lists what of a request its route does not declare so, by a validator that knows every word of JSON Schema. */
function listFaults({ name, route, request }: RouteRequest): string[] {
  const { url, body, replace, headers } = request;
  const parts = asObject(route.input_schema?.properties);
  const [address = '', search = ''] = url.split('?');
  const named = [...`${url} ${body?.text}`.matchAll(/[/="]<([\w.-]*)>(?=["/ ?&])/g)].flatMap(
    ([, field]) => field ?? [],
  );
  const sent = body?.isJson ? JSON.parse(body.text) : body?.text;
  const given = new Set(headers.map(([header]) => header.toLowerCase()));
  const requiredHeaders = asList(asObject(parts.headers).required).filter((field) => !/authorization/i.test(field));
  return [
    ...named
      .filter((field) => !replace.some((one) => one.name === field))
      .map((field) => `nothing says what ${field} is`),
    ...Object.entries(findTemplateValues(route.path, address)).flatMap(([field, value]) =>
      /^<.*>$/.test(value) ? [] : validate(asObject(asObject(asObject(parts.pathParams).properties)[field]), value),
    ),
    ...validate(
      asObject(parts.queryParams),
      readTyped(Object.fromEntries(new URLSearchParams(search)), asObject(parts.queryParams)),
    ),
    ...requiredHeaders
      .filter((field) => !given.has(field.toLowerCase()))
      .map((field) => `the header ${field} is missing`),
    ...(isBodiless(route.method) ? (body ? ['it has a body'] : []) : listBodyFaults(route, parts.body, sent)),
  ].map((fault) => `${name}: ${fault}`);
}

function listBodyFaults({ method, example }: Route, schema: unknown, sent: unknown): string[] {
  if (isObject(schema)) return validate(schema, sent ?? null);
  const isSame = JSON.stringify(sent) === JSON.stringify(example?.body);
  return isSame || method === 'DELETE' ? [] : ['its body is not that of the example'];
}

/** Finds the values that stand in an address where its path has templates. */
function findTemplateValues(path: string, address: string): Record<string, string> {
  const templates = (path.split('?')[0] ?? '').split('/');
  const segments = address.split('/').slice(-templates.length);
  return Object.fromEntries(
    templates.flatMap((template, at) => {
      const [, colon, brace] = /^(?::(\w+)|\{([^{}]+)\})$/.exec(template) ?? [];
      const field = colon ?? brace;
      return field === undefined ? [] : [[field, decodeURIComponent(segments[at] ?? '')]];
    }),
  );
}

function validate(schema: JsonObject, value: unknown): string[] {
  return new Validator(schema, '2020-12').validate(value).errors.map(({ error }) => error);
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function asList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Counts the calls that are shown whole, shown with values to replace, and withheld, by reason. */
function countCalls(calls: readonly DrawnCall[]): Record<string, number> {
  const kinds = calls.map(({ guide: { paying, replace, lack, stop } }) => {
    if (paying === null) return `withheld: ${(lack ?? stop ?? '').replace(/"[^"]*"|(?<=schema, )at .*/g, '…')}`;
    return replace.length > 0 ? 'shown, with values to replace' : 'shown';
  });
  return Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length]));
}

const SETS: [string, () => Promise<Declaration[]>][] = [
  ['the seed', listSeed],
  ['the corpus', async () => listCorpus()],
];

describe.each(SETS)('the calls of %s', (name, list) => {
  if (name === 'the corpus') skipWithout('corpus');
  let listed: Promise<Declaration[]> | undefined;
  /** Returns the declarations, which the first test that asks for them reads. */
  const listOnce = () => {
    listed ??= list();
    return listed;
  };

  it('satisfy the declared input, each of them', async () => {
    const requests = listRequests(await listOnce());
    const made = requests.filter(({ route }) => fillCallInput(route).lack === null);
    expect(made.length).toBeGreaterThan(requests.length / 2);
    expect(made.flatMap(listFaults)).toEqual([]);
  });

  it('are missing only where a reason is given, and hardly ever where an input is declared', async () => {
    const described = listRequests(await listOnce()).filter(({ route }) => route.input_schema !== null);
    const lacks = described.flatMap(({ route }) => fillCallInput(route).lack ?? []);
    expect(lacks.every((lack) => lack.startsWith('The record cannot make a call that works: '))).toBe(true);
    expect(lacks.length).toBeLessThan(described.length / 5);
  });

  it('are right or withheld with a reason, in a hundred that are drawn by a digest', async () => {
    const calls = await drawCalls(await listOnce());
    console.info(name, countCalls(calls));
    expect(calls.length).toBe(DRAWN);
    const [withheld, shown] = [
      calls.filter(({ guide }) => guide.paying === null),
      calls.filter(({ guide }) => guide.paying !== null),
    ];
    expect(withheld.filter(({ guide }) => !guide.lack && !guide.stop).map((call) => call.name)).toEqual([]);
    expect(shown.flatMap(listFaults)).toEqual([]);
    expect(shown.length).toBeGreaterThan(DRAWN / 2);
  });
});
