import { describe, expect, it } from 'vitest';
import { buildRequestExample } from '../../src/sources/request-example.ts';

function build(given: Parameters<typeof buildRequestExample>[0], method = 'POST') {
  const notes: string[] = [];
  return { example: buildRequestExample(given, method, (code) => notes.push(code)), notes };
}

describe('an example request', () => {
  it('keeps query, headers and body, query values as text', () => {
    const given = { query: { q: 'tides', n: 2, deep: true }, headers: { 'X-Units': 'metric' }, body: { a: [1] } };
    expect(build(given)).toEqual({
      example: { query: { q: 'tides', n: '2', deep: 'true' }, headers: { 'x-units': 'metric' }, body: { a: [1] } },
      notes: [],
    });
  });

  it('drops secrets, payments and connection headers with a note each', () => {
    const names = ['Authorization', 'Cookie', 'X-PAYMENT', 'PAYMENT-SIGNATURE', 'X-Api-Key', 'x-access-token', 'Host'];
    const more = ['Proxy-Authorization', 'X-Forwarded-For', 'Content-Length', 'x-client-secret', 'Transfer-Encoding'];
    const headers = Object.fromEntries([...names, ...more].map((name) => [name, 'value']));
    const { example, notes } = build({ headers: { ...headers, 'x-note': 'Bearer abc', accept: 'text/csv' } });
    expect(example).toEqual({ headers: { accept: 'text/csv' } });
    expect(notes).toEqual(Array.from({ length: 13 }, () => 'header_removed'));
  });

  it('drops headers that could split a request, placeholders, and values that are no text', () => {
    const headers = { 'x a': '1', 'x-b': 'c\r\nd: e', 'x-c': '{c}' };
    const query = { chain: '{chain}', id: ':id', key: '<key>', nested: { a: 1 }, none: null, q: 'x' };
    expect(build({ headers, query }).example).toEqual({ query: { q: 'x' } });
  });

  it('has no body where the method sends none, and none that is too large', () => {
    expect(build({ body: { a: 1 } }, 'GET')).toEqual({ example: null, notes: ['body_ignored'] });
    expect(build({ body: 'x'.repeat(20_000) })).toEqual({ example: null, notes: ['example_too_large'] });
  });

  it('is null where nothing is given', () => {
    for (const given of [{}, { query: {} }, { query: [], headers: 'x' }]) expect(build(given).example).toBeNull();
  });

  it('cannot reach a prototype', () => {
    const { example } = build(JSON.parse('{"query":{"__proto__":"x","a":"b"},"headers":{"__proto__":"x"}}'));
    expect(example).toEqual({ query: { a: 'b' } });
  });
});
