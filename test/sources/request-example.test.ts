import { describe, expect, it } from 'vitest';
import { buildRequestExample } from '../../src/sources/request-example.ts';

function build(given: Parameters<typeof buildRequestExample>[0], method = 'POST') {
  const notes: string[] = [];
  const messages: string[] = [];
  const example = buildRequestExample(given, method, (code, message = '') => {
    notes.push(code);
    messages.push(message);
  });
  return { example, notes, messages };
}

describe('an example request', () => {
  it('keeps query, headers and body, query values as text', () => {
    const given = { query: { q: 'tides', n: 2, deep: true }, headers: { 'X-Units': 'metric' }, body: { a: [1] } };
    expect(build(given)).toMatchObject({
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

  it('leaves out type names and what dots cut short, and keeps what only looks like them', () => {
    const query = { chain: 'string', k: 'integer', tx: '0x1234...', to: '…', of: 'Token (ETH, … or address)' };
    const kept = { dataType: 'string', q: 'Wait for it...', dir: '.', host: 'a.b.c' };
    expect(build({ query: { ...query, ...kept } }).example).toEqual({ query: kept });
    const body = { n: 1, filter: { chain: 'string' }, list: ['0x1...'], fields: { name: { type: 'string' } } };
    expect(build({ body }).example).toEqual({ body: { n: 1, fields: { name: { type: 'string' } } } });
    expect(build({ body: { text: 'string' } }).example).toBeNull();
    expect(build({ body: {} }).example).toEqual({ body: {} });
  });

  it('reports each header that HTTP does not allow, in visible text', () => {
    const headers = {
      'x a': '1',
      'x-b': 'c\r\nd: e',
      'x-c': { nested: true },
      'x-d': 'ü',
      'x-e': 'x'.repeat(501),
      'x-f\u202E\n': '1',
      [`x-${'g'.repeat(5000)}`]: '1',
      'x-fine': '1',
    };
    const { example, notes, messages } = build({ headers });
    expect(example).toEqual({ headers: { 'x-fine': '1' } });
    expect(notes).toEqual(Array.from({ length: 7 }, () => 'header_left_out'));
    expect(messages).toEqual([
      'The example’s header "x a" was left out: its name is not one that HTTP allows.',
      'The example’s header "x-b" was left out: its value holds a line end, or is not plain ASCII.',
      'The example’s header "x-c" was left out: its value is not text.',
      'The example’s header "x-d" was left out: its value holds a line end, or is not plain ASCII.',
      'The example’s header "x-e" was left out: its value is longer than 500 characters.',
      'The example’s header "x-f" was left out: its name is not one that HTTP allows.',
      expect.stringMatching(/^The example’s header "x-g{20,60}…" was left out/),
    ]);
  });

  it('reports once that there were too many headers', () => {
    const headers = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-${i}`, '1']));
    const { example, messages } = build({ headers });
    expect(Object.keys(example?.headers ?? {})).toHaveLength(50);
    expect(messages).toEqual(['10 headers of the example were left out: it may have 50.']);
  });

  it('has no body if the method sends none or if it is too large', () => {
    expect(build({ body: { a: 1 } }, 'GET')).toMatchObject({ example: null, notes: ['body_ignored'] });
    expect(build({ body: 'x'.repeat(20_000) })).toMatchObject({ example: null, notes: ['example_too_large'] });
  });

  it('is null if nothing is given', () => {
    for (const given of [{}, { query: {} }, { query: [], headers: 'x' }]) expect(build(given).example).toBeNull();
  });

  it('cannot reach a prototype', () => {
    const { example } = build(JSON.parse('{"query":{"__proto__":"x","a":"b"},"headers":{"__proto__":"x"}}'));
    expect(example).toEqual({ query: { a: 'b' } });
  });
});
