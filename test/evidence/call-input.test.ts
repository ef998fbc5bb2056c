import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillCallInput } from '../../src/evidence/call-input.ts';
import { CannotMakeError, makeValue } from '../../src/evidence/made-value.ts';
import { findSchemaFault } from '../../src/evidence/schema-check.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { DeclaredRoute } from '../../src/model/route.ts';
import { startProcessorTime } from '../processor-time.ts';
import { makeRoute } from '../records.ts';

const fill = (declared: Partial<DeclaredRoute>) => fillCallInput(makeRoute({ path: '/v1/x', ...declared }));

const object = (properties: JsonObject, required?: string[]): JsonObject => ({
  type: 'object',
  properties,
  ...(required && { required }),
});
const ofBody = (body: JsonObject) => object({ body });
const ofQuery = (queryParams: JsonObject) => object({ queryParams });

describe('what a call sends', () => {
  it('is the example where that satisfies the declared input', () => {
    const input_schema = ofBody(object({ city: { type: 'string' } }, ['city']));
    expect(fill({ method: 'POST', input_schema, example: { body: { city: 'Bonn', extra: 1 } } })).toMatchObject({
      body: { city: 'Bonn', extra: 1 },
      basis: 'example',
      replace: [],
      lack: null,
    });
  });

  it('is the example with what the declared input requires besides', () => {
    const input_schema = ofBody(object({ city: { type: 'string' }, days: { type: 'integer' } }, ['city', 'days']));
    expect(fill({ method: 'POST', input_schema, example: { body: { city: 'Bonn' } } })).toMatchObject({
      body: { city: 'Bonn', days: 1 },
      basis: 'schema',
      replace: [{ name: 'days', shown: '1' }],
      lack: null,
    });
  });

  it('is made from the declared input where the example contradicts it', () => {
    const input_schema = ofBody(object({ days: { type: 'integer', default: 3 } }, ['days']));
    expect(fill({ method: 'POST', input_schema, example: { body: { days: 'three' } } })).toMatchObject({
      body: { days: 3 },
      lack: null,
    });
  });

  it('is a plain request where a source says that it takes nothing, or the address says what', () => {
    const nothing: JsonObject = { type: 'object', properties: {} };
    expect(fill({ input_schema: nothing })).toMatchObject({ query: {}, body: undefined, replace: [], lack: null });
    expect(fill({ path: '/v1/price?of=x' })).toMatchObject({ query: {}, lack: null });
    expect(fill({ path: '/v1/:coin' })).toMatchObject({ lack: null });
  });

  it('has no placeholder of its source for a value', () => {
    const fields: JsonObject = {
      chain: { type: 'string', example: 'string' },
      hash: { type: 'string', default: '0x12...' },
      dataType: { type: 'string', default: 'string' },
    };
    expect(fill({ input_schema: ofQuery(object(fields, ['chain', 'hash', 'dataType'])) })).toMatchObject({
      query: { chain: '<chain>', hash: '<hash>', dataType: 'string' },
      replace: [{ name: 'chain' }, { name: 'hash' }],
    });
  });

  it('compares a query as the types that are declared, and sends the text of its source', () => {
    const fields = {
      lat: { type: 'number' },
      deep: { type: 'boolean' },
      ids: { type: 'array', items: { type: 'string' } },
    };
    const example = { query: { lat: '52.50', deep: 'true', ids: 'a,b' } };
    expect(fill({ input_schema: ofQuery(object(fields, ['lat', 'deep', 'ids'])), example })).toMatchObject({
      query: example.query,
      basis: 'example',
      lack: null,
    });
  });

  it('does not repeat what the path asks already, and fills its templates where their values are declared', () => {
    const input_schema = object({
      queryParams: object({ from: { type: 'string' }, to: { type: 'string' } }, ['from', 'to']),
      pathParams: object({ id: { type: 'string', example: 'btc' }, day: { type: 'string' } }),
    });
    expect(fill({ path: '/v1/{id}/{day}?from=USD', input_schema })).toMatchObject({
      path: { id: 'btc' },
      query: { to: '<to>' },
    });
  });

  it('has in its path what the example lists with the query', () => {
    const example = { query: { name: 'a.eth', network: 'main' } };
    expect(fill({ path: '/v1/{name}/:day', example })).toMatchObject({ path: { name: 'a.eth' }, lack: null });
    expect(fill({ path: '/v1/:name', example: { query: { name: '..' } } }).path).toEqual({});
  });

  it('has no body where a route without one declares its query as well', () => {
    const fields = object({ q: { type: 'string' } }, ['q']);
    expect(fill({ input_schema: object({ queryParams: fields, body: fields }) })).toMatchObject({
      query: { q: '<q>' },
      body: undefined,
      lack: null,
    });
  });

  it('has the headers that are required, and none that pays', () => {
    const headers = object({ 'X-Region': { enum: ['eu'] }, 'X-Id': { type: 'string' } }, [
      'X-Region',
      'X-Id',
      'X-PAYMENT',
    ]);
    expect(fill({ input_schema: object({ headers }) })).toMatchObject({
      headers: { 'x-region': 'eu', 'x-id': '<X-Id>' },
      replace: [{ name: 'X-Id', shown: '<X-Id>' }],
    });
  });

  it('is a form where the source says so', () => {
    const input_schema = ofBody(object({ q: { type: 'string' }, n: { type: 'integer' } }, ['q', 'n']));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = (body?: string) => fill({ method: 'POST', input_schema, example: { headers, ...(body && { body }) } });
    expect(sent('q=a+b&n=2')).toMatchObject({ body: 'q=a+b&n=2', lack: null });
    expect(sent()).toMatchObject({ body: 'q=%3Cq%3E&n=1', lack: null });
    expect(sent('q=a+b')).toMatchObject({ body: 'q=a+b&n=1', lack: null });
    const other = { headers: { 'content-type': 'multipart/form-data' } };
    expect(fill({ method: 'POST', input_schema, example: other }).lack).toContain('it takes multipart/form-data');
  });

  it.each<[string, Partial<DeclaredRoute>]>([
    ['nothing on record says what it takes', { method: 'POST' }],
    ['nothing on record says what it takes', { method: 'POST', path: '/v1/{id}' }],
    ['nothing on record says what it takes, or that it takes nothing', { method: 'GET' }],
    [
      'it takes a file ("file")',
      { method: 'POST', input_schema: ofBody(object({ file: { format: 'binary' } }, ['file'])) },
    ],
    [
      'no text fits the pattern of "code"',
      { input_schema: ofQuery(object({ code: { pattern: '^q{7}$' } }, ['code'])) },
    ],
    ['its example has no body', { method: 'POST', example: { query: { q: 'x' } } }],
    ['it declares a body, which GET cannot carry', { input_schema: ofBody(object({ q: {} })) }],
    ['refers to parts', { method: 'POST', input_schema: ofBody({ $ref: '#/x' }), example: { body: { a: 1 } } }],
    ['does not fit', { method: 'POST', input_schema: ofBody({ type: 'integer', minimum: 3, maximum: 2 }) }],
  ])('is not to be had where %s, and that is said', (words, declared) => {
    expect(fill(declared).lack).toMatch(
      new RegExp(`^The record cannot make a call that works: .*${words.replace(/[()]/g, '\\$&')}`),
    );
  });
});

describe('a value made from a schema', () => {
  it.each<[JsonObject, unknown]>([
    [{ const: 4, default: 5 }, 4],
    [{ type: 'string', examples: ['a', 'b'] }, 'a'],
    [{ type: 'string', enum: ['day', 'hour'] }, 'day'],
    [{ type: 'string' }, '<city>'],
    [{ type: 'string', minLength: 9 }, '<city>xxx'],
    [{ type: 'string', maxLength: 3 }, 'xxx'],
    [{ type: 'string', format: 'email' }, 'name@example.com'],
    [{ type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' }, `0x${'1'.repeat(40)}`],
    [{ type: 'integer', minimum: 5, multipleOf: 4 }, 8],
    [{ type: 'number', exclusiveMaximum: 1 }, 0.999999],
    [{ type: ['null', 'boolean'] }, true],
    [{ type: 'array', items: { type: 'string' }, minItems: 2 }, ['<city>', '<city>']],
    [{ anyOf: [{ type: 'null' }, { format: 'binary' }, { type: 'integer' }] }, 1],
    [{ allOf: [object({ a: { const: 1 } }, ['a']), object({ b: { const: 2 } }, ['b'])] }, { a: 1, b: 2 }],
    [object({ a: { const: 1 }, b: {} }), { a: 1 }],
    [object({ a: {}, b: {} }), { a: '<a>', b: '<b>' }],
    [object({ a: {}, b: {} }, []), {}],
  ])('of %j is %j', (schema, value) => {
    expect(makeValue(schema, 'city').value).toEqual(value);
    expect(findSchemaFault(schema, value)).toBeNull();
  });

  it('has no more of a hostile name than is plain', () => {
    const { value } = makeValue({ type: 'string' }, `"><script>\u202e'; rm -rf / #${'x'.repeat(99)}`);
    expect(value).toMatch(/^<[\w.-]{1,40}>$/);
  });
});

describe('a schema that a provider wrote', () => {
  const within = (milliseconds: number, work: () => unknown) => {
    const getWork = startProcessorTime();
    const result = work();
    expect(getWork()).toBeLessThan(milliseconds);
    return result;
  };

  it.each<[string, JsonObject, unknown]>([
    ['a pattern that doubles with each letter', { pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`],
    ['a pattern of many repetitions', { pattern: '^a*a*a*a*a*a*b$' }, 'a'.repeat(300)],
    [
      'items that are compared with one another',
      { uniqueItems: true },
      Array.from({ length: 20_000 }, (_, n) => ({ n })),
    ],
    ['parts that name one another', { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }, {}],
    ['an enum that is none', { enum: 5 }, 1],
    [
      'many conditions for many items',
      { items: { allOf: Array.from({ length: 2000 }, () => ({})) } },
      Array(4000).fill(1),
    ],
  ])('takes no time to check, whatever it holds: %s', (_what, schema, value) => {
    within(1000, () => findSchemaFault(schema, value));
    within(1000, () => fill({ method: 'POST', input_schema: ofBody(schema), example: { body: value } }));
  });

  it('never throws, and what is made and found right is valid', () => {
    fc.assert(
      fc.property(fc.object({ key: fc.constantFrom(...WORDS), maxDepth: 4 }), (schema) => {
        const filled = fill({ method: 'POST', input_schema: ofBody(schema as JsonObject) });
        if (filled.lack !== null || filled.body === undefined) return;
        expect(findSchemaFault(schema as JsonObject, filled.body)).toBeNull();
        expect(makesOrRefuses(schema as JsonObject)).toBe(true);
      }),
    );
  });
});

const WORDS = [
  'type',
  'properties',
  'required',
  'items',
  'enum',
  'anyOf',
  'pattern',
  'minLength',
  'maximum',
  'a',
  'b',
  'allOf',
];

function makesOrRefuses(schema: JsonObject): boolean {
  try {
    makeValue(schema, 'x');
    return true;
  } catch (error) {
    return error instanceof CannotMakeError;
  }
}

it('agrees with a validator that knows patterns and formats', () => {
  const schema = object({ day: { type: 'string', format: 'date' }, code: { type: 'string', pattern: '^[A-Z]{3}$' } }, [
    'day',
    'code',
  ]);
  expect(findSchemaFault(schema, { day: '2026-13-01', code: 'USD' })).toContain('date');
  expect(findSchemaFault(schema, { day: '2026-12-01', code: 'usd' })).toContain('pattern');
  const { value } = makeValue(schema, 'x');
  expect(new Validator(schema, '2020-12').validate(value).valid).toBe(true);
});
