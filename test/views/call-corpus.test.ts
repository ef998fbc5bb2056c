import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { fillCallInput, readTyped } from '../../src/evidence/call-input.ts';
import { isObject, type JsonObject } from '../../src/model/json.ts';
import type { DeclaredRoute, Route } from '../../src/model/route.ts';
import { buildFeedDeclarations } from '../../src/sources/bazaar/declarations.ts';
import { parseFeedPage } from '../../src/sources/bazaar/page.ts';
import { buildCallRequest } from '../../src/views/call/request.ts';
import { OPTIONS } from '../sources/bazaar/items.ts';
import { takeDocument } from '../sources/openapi/documents.ts';

const CORPUS = join(import.meta.dirname, '../../../shared/corpus');
const isThere = existsSync(CORPUS);
if (!isThere) console.info('Not run: calls of real routes, because the corpus is not beside the project.');

const load = (path: string) => readFileSync(join(CORPUS, path));

function listRoutes(): DeclaredRoute[] {
  const recorded: Record<string, unknown> = JSON.parse(load('bazaar-2026-08/discovery.json').toString());
  const pages = [
    load('bazaar-2026-03/resources.json'),
    ...Object.values(recorded).flatMap((page) => (isObject(page) ? Buffer.from(JSON.stringify(page)) : [])),
  ];
  const { declarations } = takeDocument(load('provider-openapi/openapi.json'));
  return [
    ...pages.flatMap((page) => buildFeedDeclarations(parseFeedPage(page, 'recorded').items, OPTIONS).declarations),
    ...declarations,
  ].flatMap(({ routes }) => routes);
}

/** Lists what of a call its declared input does not allow, by a validator that knows every word of JSON Schema. */
function listFaults(declared: DeclaredRoute): string[] {
  const route: Route = {
    ...declared,
    ...{ id: 'b2c0ffee-0000-5000-8000-000000000000', verification: 'unverified', proof: null, proofs: [] },
    ...{ said_by: {}, cautions: [], undelivered: null, payee: null, probe: null, terms: [] },
  };
  const { url, body } = buildCallRequest('https://api.example.com', route);
  const parts = isObject(route.input_schema?.properties) ? route.input_schema.properties : {};
  const query = readTyped(Object.fromEntries(new URL(url).searchParams), asObject(parts.queryParams));
  const sent = body?.isJson ? JSON.parse(body.text) : body?.text;
  return [
    ...(isObject(parts.queryParams) ? validate(parts.queryParams, query) : []),
    ...(isObject(parts.body) ? validate(parts.body, sent) : []),
  ].map((fault) => `${route.method} ${route.path}: ${fault}`);
}

function validate(schema: JsonObject, value: unknown): string[] {
  return new Validator(schema, '2020-12').validate(value).errors.map(({ error }) => error);
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

describe.skipIf(!isThere)('calls of real routes', () => {
  const routes = isThere ? listRoutes() : [];
  const described = routes.filter(({ input_schema }) => input_schema !== null);
  const filled = described.map((route) => ({ route, lack: fillCallInput(route).lack }));

  it('satisfy the declared input, each of them', () => {
    const made = filled.filter(({ lack }) => lack === null);
    expect(made.length).toBeGreaterThanOrEqual(100);
    expect(made.flatMap(({ route }) => listFaults(route))).toEqual([]);
    console.info(
      `${made.length} calls of ${described.length} routes with a declared input, of ${routes.length} in all.`,
    );
  });

  it('are missing only where a reason is given, and hardly ever', () => {
    const lacks = filled.flatMap(({ lack }) => lack ?? []);
    expect(lacks.every((lack) => lack.startsWith('The record cannot make a call that works: '))).toBe(true);
    expect(lacks.length).toBeLessThan(described.length / 5);
    const undescribed = routes.filter(
      ({ method, input_schema, example }) => method === 'POST' && !input_schema && !example,
    );
    expect(
      undescribed.every((route) => fillCallInput(route).lack?.includes('nothing on record says what it takes')),
    ).toBe(true);
  });
});
