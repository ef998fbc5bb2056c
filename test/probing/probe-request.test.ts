import { describe, expect, it } from 'vitest';
import { buildProbeRequest } from '../../src/probing/probe-request.ts';
import { findDecoyPath } from '../../src/probing/probe-route.ts';
import { makeProbed } from './market.ts';

const BASE = 'https://seller.example/base?key=1';

function build(overrides: Parameters<typeof makeProbed>[0]) {
  const request = buildProbeRequest(BASE, makeProbed(overrides));
  if (!request) throw new Error('no request');
  return request;
}

describe('the request of a probe', () => {
  it('is the example of the route, without anything that pays or is secret', () => {
    const headers = {
      'X-Tone': 'plain',
      'X-PAYMENT': 'abc',
      'Payment-Signature': 'abc',
      Authorization: 'Bearer x',
      'User-Agent': 'other',
    };
    const request = build({
      method: 'POST',
      path: '/v1/x?a=1',
      example: { query: { a: '2', b: 'c d' }, headers, body: { q: 1 } },
    });
    expect(request.url.href).toBe('https://seller.example/base/v1/x?a=1&b=c+d');
    expect(request).toMatchObject({ method: 'POST', body: '{"q":1}' });
    expect(request.headers).toEqual({
      accept: 'application/json, */*',
      'content-type': 'application/json',
      'x-tone': 'plain',
    });
  });

  it('has an empty object as body if the method needs one and none is known', () => {
    expect(build({ method: 'PUT' }).body).toBe('{}');
    expect(build({ method: 'GET', example: { body: { a: 1 } } }).body).toBeUndefined();
    expect(build({ method: 'DELETE' })).toMatchObject({ body: undefined });
    expect(build({ method: 'POST', example: { body: 'a=1', headers: { 'content-type': 'text/plain' } } }).body).toBe(
      'a=1',
    );
  });

  it.each([
    { type: 'string', format: 'constructor' },
    { type: 'string', format: '__proto__' },
    { type: 'string', maxLength: -1 },
    { type: 'string', minLength: 1e9 },
    { type: 'string', pattern: '(' },
  ])('is built whatever the schema of a parameter is: %j', (id) => {
    const input_schema = { properties: { pathParams: { properties: { id } } } };
    expect(build({ path: '/u/{id}', input_schema }).url.pathname).toBe('/base/u/1');
    expect(build({ path: '/u/{id}', input_schema, example: { query: { id: 'BTC' } } }).url.pathname).toBe(
      '/base/u/BTC',
    );
  });

  it.each([
    ['/u/:id', '/base/u/1', ['id']],
    ['/u/{id}/posts/{post}.json', '/base/u/1/posts/1.json', ['id', 'post']],
    ['/u/{symbol}', '/base/u/A%2FB', []],
    ['/u/{chain}', '/base/u/8453', []],
    ['/u/{body}', '/base/u/x', []],
    ['/u/{dots}', '/base/u/1', ['dots']],
    ['/models/a:run', '/base/models/a:run', []],
    ['/x?u=:id&v={symbol}', '/base/x?u=1&v=A%2FB', ['id']],
  ])('fills %s as %s', (path, filled, invented) => {
    const request = build({
      path,
      example: { query: { symbol: 'A/B', dots: '..' }, body: { body: 'x' } },
      input_schema: { properties: { pathParams: { properties: { chain: { type: 'integer', examples: [8453] } } } } },
      method: 'HEAD',
    });
    const { pathname, search } = request.url;
    expect((pathname + search).replace(/[?&](?:symbol=A%2FB&)?dots=\.\.$/, '').replace(/[?&]symbol=A%2FB$/, '')).toBe(
      filled,
    );
    expect(request.invented).toEqual(invented);
  });

  it('does not exist without a valid address', () => {
    expect(buildProbeRequest('not an address', makeProbed())).toBeUndefined();
  });
});

describe('a decoy path', () => {
  const word = 'a'.repeat(16);
  it.each([
    ['/', `/${word}`],
    ['/quote', `/${word}`],
    ['/v1/quote', `/v1/${word}`],
    ['/api/v2/getPrice?x=1', `/api/v2/${word}`],
    ['/v1/BTC-USD', `/${word}/${word}`],
    ['/v1/price/bitcoin', `/v1/${word}/${word}`],
    ['/v1/price/:symbol', `/v1/${word}/${word}`],
    ['/:chain/price/:symbol', `/:chain/${word}/${word}`],
    ['/:chain/:symbol', null],
    ['/:id', null],
    ['/0xabc', null],
  ])('for %s is %s, which no template of the same seller matches', (path, sibling) => {
    expect(findDecoyPath(path, () => 0)).toBe(sibling);
  });
});
