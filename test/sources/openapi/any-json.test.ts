import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FACTS, parse } from '../provider-file/statements.ts';
import { makeDocument, makeOperation, readDocument } from './documents.ts';

const WHOLE = makeDocument({
  externalDocs: { url: '/docs' },
  paths: {
    '/v1/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: 'a' }],
      post: makeOperation({
        servers: [{ url: '/{v}', variables: { v: { default: 'v2' } } }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } },
      }),
    },
  },
  components: {
    schemas: {
      A: { type: 'object', required: ['a'], properties: { a: { enum: [1] }, b: { $ref: '#/components/schemas/A' } } },
    },
  },
});

const FILE = {
  name: 'Tides',
  items: [{ resource: { url: 'https://a.example/x' }, accepts: [{ network: 'base' }] }, { url: '/y' }, 'GET /z'],
};
const STATEMENT = {
  version: 1,
  listings: [
    { listed: true, facts: FACTS },
    { base_url: '/v1', listed: false, reason: 'x' },
  ],
};

/** Puts other values in a few places of a document. */
function damage(value: unknown, places: readonly [number, unknown][]): unknown {
  const copy = structuredClone(value);
  for (const [place, other] of places) {
    const holders = listHolders(copy);
    const holder = holders[place % holders.length];
    const keys = Object.keys(holder ?? {});
    const key = keys[Math.floor(place / holders.length) % keys.length];
    if (holder && key !== undefined) Reflect.set(holder, key, structuredClone(other));
  }
  return copy;
}

function listHolders(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(listHolders)].filter((holder) => Object.keys(holder).length > 0);
}

const places = fc.array(
  fc.tuple(fc.nat(), fc.oneof(fc.jsonValue(), fc.constantFrom('#/paths', { $ref: '#/paths' }, 1e308, '/'))),
  {
    minLength: 1,
    maxLength: 4,
  },
);

describe('whatever JSON stands in its place', () => {
  it.each([
    ['an OpenAPI document', WHOLE],
    ['a list of resources', FILE],
  ])('%s is read without a throw, every item accounted for', (_, whole) => {
    fc.assert(
      fc.property(places, fc.constantFrom(null, 'https://api.tides-of-tests.com/v2'), (changes, base_url) => {
        const read = readDocument(damage(whole, changes), { base_url });
        if ('code' in read) return;
        const { received, taken, duplicates, refused } = read.items;
        expect(taken + duplicates + refused).toBe(received);
        expect(read.declarations.flatMap(({ routes }) => routes)).toHaveLength(taken);
      }),
    );
  });

  it('a statement is parsed without a throw', () => {
    fc.assert(fc.property(places, (changes) => void parse(damage(STATEMENT, changes))));
  });
});
