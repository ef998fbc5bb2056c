import { describe, expect, it } from 'vitest';
import { readOutputSchema, readRequest } from '../../../src/sources/bazaar/item.ts';

function readSchemaAndExample(item: unknown, method = 'GET') {
  const notes: string[] = [];
  return { ...readRequest(item, method, (code) => notes.push(code)), notes };
}

function readOutput(item: unknown) {
  const notes: string[] = [];
  return { schema: readOutputSchema(item, (code) => notes.push(code)), notes };
}

function makeVersion1(outputSchema: unknown) {
  return { x402Version: 1, accepts: [{ outputSchema }] };
}

function makeVersion2(bazaar: unknown) {
  return { x402Version: 2, extensions: { bazaar }, accepts: [{}] };
}

describe('the request', () => {
  it('of version 2 separates schema and example, without parts that only repeat the method', () => {
    const part = { type: 'object', properties: { q: { type: 'string', pattern: '^.+$' } }, required: ['q'] };
    const properties = {
      type: { const: 'http' },
      method: { enum: ['GET'] },
      queryParams: part,
      headers: { type: 'object' },
    };
    const item = makeVersion2({
      info: { input: { queryParams: { q: 'tides' } } },
      schema: { properties: { input: { properties } } },
    });
    expect(readSchemaAndExample(item)).toEqual({
      input_schema: { type: 'object', properties: { queryParams: part } },
      example: { query: { q: 'tides' } },
      notes: [],
    });
  });

  it('in the older form has schema and example for the part that the method uses', () => {
    const bazaar = {
      bodyType: 'json',
      input: { url: 'https://x.example' },
      inputSchema: { properties: { url: { type: 'string' } } },
    };
    const item = { x402Version: 1, accepts: [{ extensions: { bazaar } }] };
    expect(readSchemaAndExample(item, 'POST')).toMatchObject({
      input_schema: { properties: { body: { properties: { url: { type: 'string' } } } } },
      example: { body: { url: 'https://x.example' } },
    });
  });

  it('has the other parts of version 1, and a body of version 2 that describes its fields', () => {
    const input = {
      method: 'GET',
      headerFields: { 'x-units': { type: 'string' } },
      queryParams: { q: { description: 'What' } },
    };
    expect(readSchemaAndExample(makeVersion1({ input })).input_schema).toEqual({
      type: 'object',
      properties: {
        queryParams: { type: 'object', properties: { q: { description: 'What' } } },
        headers: { type: 'object', properties: { 'x-units': { type: 'string' } } },
      },
    });
    const body = { file: { type: 'file', required: true, description: 'The file' } };
    expect(readSchemaAndExample(makeVersion2({ info: { input: { body } } }), 'POST')).toMatchObject({
      input_schema: { properties: { body: { properties: { file: { format: 'file' } }, required: ['file'] } } },
      example: null,
    });
  });

  it.each([
    [1, 'bodyFields', { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }],
    [2, 'body', { $schema: 'x', properties: { q: { type: 'string' } }, required: ['q'] }],
    [2, 'body', { type: 'array', items: { type: 'string' } }],
    [1, 'body', { oneOf: [{ type: 'object', properties: { q: {} } }] }],
  ])('of version %i reads a JSON Schema in %s as one', (version, name, schema) => {
    const input = { [name]: schema };
    const item = version === 1 ? makeVersion1({ input }) : makeVersion2({ info: { input } });
    expect(readSchemaAndExample(item, 'POST')).toEqual({
      ...{ input_schema: { type: 'object', properties: { body: schema } }, example: null },
      notes: [],
    });
  });

  it('requires no name that is no text', () => {
    const body = { type: 'object', properties: { q: { type: 'string' } }, required: ['q', 7, null] };
    const item = makeVersion2({ info: { input: { body } } });
    expect(readSchemaAndExample(item, 'POST').input_schema?.properties).toEqual({ body: { ...body, required: ['q'] } });
  });

  it('has fields that are named like words of JSON Schema, and values that are schemas', () => {
    const named = { type: { type: 'string' }, properties: { type: 'object', description: 'Of the thing' } };
    const read = (body: unknown) => readSchemaAndExample(makeVersion2({ info: { input: { body } } }), 'POST');
    expect(read(named).input_schema).toMatchObject({ properties: { body: { properties: named } } });
    const value = { schema: { type: 'object', properties: { name: { type: 'string' } } }, text: 'x' };
    expect(read(value)).toMatchObject({ input_schema: null, example: { body: value } });
  });

  it('declares its fields where values of some are placeholders, and those as required', () => {
    const queryParams = { chain: 'string', k: 'integer', tx: '0x12...', limit: 10 };
    expect(readSchemaAndExample(makeVersion2({ info: { input: { queryParams } } }))).toMatchObject({
      example: { query: { limit: '10' } },
      input_schema: {
        properties: {
          queryParams: {
            properties: {
              ...{ chain: { type: 'string' }, k: { type: 'integer' }, tx: { type: 'string' } },
              limit: { examples: [10] },
            },
            required: ['chain', 'k', 'tx'],
          },
        },
      },
    });
    const body = { filter: { chain: 'string', n: 3 }, ids: ['integer'] };
    expect(readSchemaAndExample(makeVersion2({ info: { input: { body } } }), 'POST')).toMatchObject({
      example: null,
      input_schema: {
        properties: {
          body: {
            properties: {
              filter: { properties: { chain: { type: 'string' }, n: { examples: [3] } }, required: ['chain', 'n'] },
              ids: { type: 'array', items: { type: 'integer' } },
            },
          },
        },
      },
    });
  });

  it('is read where a whole description stands in place of the answer', () => {
    const input = { type: 'http', method: 'POST', bodyFields: { url: { type: 'string', required: true } } };
    const output = { properties: { text: { type: 'string' } } };
    const described = {
      type: 'object',
      properties: { body: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] } },
    };
    const whole = makeVersion1({ input: { type: 'http', method: 'POST' }, output: { input, output } });
    expect(readSchemaAndExample(whole, 'POST').input_schema).toEqual(described);
    expect(readOutput(whole).schema).toEqual(output);
    const mixed = makeVersion1({ input: { type: 'http', method: 'POST' }, output: { input, ...output } });
    expect(readSchemaAndExample(mixed, 'POST').input_schema).toEqual(described);
    expect(readOutput(mixed).schema).toEqual(output);
    expect(readOutput(makeVersion1({ output: { input } })).schema).toBeNull();
    const answer = { properties: { input: { type: 'string' } } };
    expect(readOutput(makeVersion1({ output: answer })).schema).toEqual(answer);
  });

  it('is described where the texts of version 2 explain their fields, and an example where they do not', () => {
    const read = (body: unknown) => readSchemaAndExample(makeVersion2({ info: { input: { body } } }), 'POST');
    expect(read({ vault: 'Contract of the vault', mode: 'slow or quick (optional, default: slow)' })).toMatchObject({
      input_schema: { properties: { body: { properties: { vault: { description: 'Contract of the vault' } } } } },
      example: null,
    });
    const body = { text: 'Rates rose again (see table 2).', style: 'formal' };
    expect(read(body)).toMatchObject({ input_schema: null, example: { body } });
  });

  it('takes nothing where its query has no parameters, and says nothing where it has no query', () => {
    const read = (input: unknown, method?: string) =>
      readSchemaAndExample(makeVersion1({ input }), method).input_schema;
    expect(read({ queryParams: {} })).toEqual({ type: 'object', properties: {} });
    expect(read({ method: 'GET' })).toBeNull();
    expect(read({ queryParams: {} }, 'POST')).toBeNull();
  });

  it('lacks parts that are too large or say nothing', () => {
    const input = { queryParams: { type: 'object', properties: { q: { description: 'x'.repeat(20_000) } } } };
    expect(readSchemaAndExample(makeVersion2({ schema: { properties: { input: { properties: input } } } }))).toEqual({
      ...{ input_schema: null, example: null },
      notes: ['schema_too_large'],
    });
    const empty = { queryParams: { type: 'object', properties: {}, additionalProperties: false } };
    expect(
      readSchemaAndExample(makeVersion2({ schema: { properties: { input: { properties: empty } } } })).input_schema,
    ).toBeNull();
  });
});

describe('the answer', () => {
  it.each([
    ['an example', { type: 'json', example: { a: 1 } }, { examples: [{ a: 1 }] }],
    [
      'a schema',
      { type: 'object', properties: { a: {} }, required: ['a'] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
    [
      'a schema inside',
      { type: 'json', schema: { type: 'array', items: { type: 'string', required: true } } },
      { type: 'array', items: { type: 'string' } },
    ],
    [
      'fields',
      { n: { type: 'number', required: true } },
      { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    ],
    [
      'fields within fields',
      { d: { e: { type: 'string' } }, k: 7 },
      {
        type: 'object',
        properties: { d: { type: 'object', properties: { e: { type: 'string' } } }, k: { examples: [7] } },
      },
    ],
    ['a kind alone', { type: 'json' }, null],
    ['nothing', null, null],
  ])('of version 1 reads %s', (_, output, schema) => {
    expect(readOutput(makeVersion1({ output }))).toEqual({ schema, notes: [] });
  });

  it('of version 2 joins the schema and the example', () => {
    const schema = {
      properties: { output: { properties: { type: { type: 'string' }, example: { type: 'object' } } } },
    };
    const item = makeVersion2({ info: { output: { type: 'json', example: { a: 1 } } }, schema });
    expect(readOutput(item).schema).toEqual({ type: 'object', examples: [{ a: 1 }] });
  });

  it('keeps the schema if only the example is too large', () => {
    const schema = { properties: { output: { properties: { example: { type: 'object', required: ['a'] } } } } };
    const item = makeVersion2({ info: { output: { example: { a: 'x'.repeat(20_000) } } }, schema });
    expect(readOutput(item)).toEqual({ schema: { type: 'object', required: ['a'] }, notes: ['schema_too_large'] });
  });
});
