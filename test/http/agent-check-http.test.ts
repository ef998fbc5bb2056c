import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MAX_QUESTION_BYTES } from '../../src/http/endpoints/posted.ts';
import { agentCheck } from '../../src/views/check.ts';
import { makeRoute, makeTerms } from '../builders.ts';
import { buildChallenge, buildFields, CALLED, encode, makeFresh, recordAll, serveChecks } from './checking.ts';

const served = async () => await serveChecks(await recordAll([makeFresh()]));
const QUERY = `/agent/check?${new URLSearchParams(buildFields(makeTerms()))}`;

/** Asks for what is refused, and gives how. */
async function refuse(asked: Response | Promise<Response>) {
  const response = await asked;
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return { ...(await response.json()), status: response.status };
}

describe('GET /agent/check', () => {
  it('is 304 while nothing changes, the same compressed, and another answer at once when something does', async () => {
    const catalogue = await recordAll([makeFresh()]);
    const { get } = await serveChecks(catalogue);
    const first = await get(QUERY);
    expect(first.headers.get('x-catalogue-revision')).toBe('1');
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    const etag = first.headers.get('etag') ?? '';
    const plain = await first.text();
    expect((await get(QUERY, { 'If-None-Match': etag })).status).toBe(304);
    const zipped = await get(QUERY, { 'Accept-Encoding': 'gzip' });
    expect(gunzipSync(Buffer.from(await zipped.arrayBuffer())).toString()).toBe(plain);
    const routes = [makeRoute({ terms: [makeTerms({ amount: 2000 })] })];
    await recordAll([makeFresh({ routes })], catalogue);
    const changed = await get(QUERY, { 'If-None-Match': etag });
    expect(changed.status).toBe(200);
    expect(agentCheck.parse(await changed.json())).toMatchObject({ revision: 2, reason: 'cheaper' });
  });

  it('refuses what it does not know, what is missing, and what cannot be', async () => {
    const { get } = await served();
    const fields = buildFields(makeTerms());
    const ask = (change: Record<string, string | undefined>) => {
      const given = Object.entries({ ...fields, ...change }).filter(([, value]) => value !== undefined);
      return refuse(get(`/agent/check?${new URLSearchParams(given as [string, string][])}`));
    };
    expect(await ask({ payto: 'x' })).toMatchObject({
      status: 400,
      code: 'unknown_parameter',
      hint: expect.stringContaining('Did you mean pay_to? It takes url, method, network, asset, pay_to, amount'),
    });
    expect(await ask({ challenge: '{}' })).toMatchObject({ code: 'unknown_parameter' });
    expect(await ask({ url: undefined })).toMatchObject({ code: 'missing_parameter', parameter: 'url' });
    expect(await ask({ asset: undefined, amount: undefined })).toMatchObject({
      code: 'missing_terms',
      missing: ['asset', 'amount'],
    });
    expect(await ask({ amount: '0.001' })).toMatchObject({
      code: 'bad_parameter',
      hint: expect.stringContaining('atomic USDC in decimal digits'),
    });
    expect(await ask({ amount: '-5' })).toMatchObject({ code: 'bad_parameter' });
    expect(await ask({ price_usdc: '1e3' })).toMatchObject({ code: 'bad_parameter' });
    expect(await ask({ price_usdc: '0.002' })).toMatchObject({ code: 'terms_disagree' });
    expect(await ask({ method: 'FETCH' })).toMatchObject({ code: 'bad_parameter', parameter: 'method' });
    for (const url of ['nowhere', 'ftp://api.example.com/x', 'https://me:secret@api.example.com/x', 'https://[']) {
      const problem = await ask({ url });
      expect(problem).toMatchObject({ status: 400, code: 'bad_url' });
      expect(JSON.stringify(problem)).not.toContain('secret');
    }
    expect(await ask({ url: `https://e.com/${'a'.repeat(2100)}` })).toMatchObject({ code: 'bad_parameter' });
  });
});

describe('POST /agent/check', () => {
  it('is answered unstored, to pages of any origin, after a preflight', async () => {
    const { fetch, post } = await served();
    const preflight = await fetch('/agent/check', {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,OPTIONS');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type');
    const answer = await post({ url: CALLED, challenge: buildChallenge([makeTerms()]) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('x-catalogue-revision')).toBe('1');
    const other = await fetch('/agent/check', { method: 'DELETE' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  });

  it('takes fields as well, and says the same as GET', async () => {
    const { post, get } = await served();
    const [byPost, byGet] = [await post(buildFields(makeTerms())), await get(QUERY)];
    expect(await byPost.json()).toEqual(await byGet.json());
  });

  it('refuses other types, more than it reads, and what is no JSON', async () => {
    const { post, fetch } = await served();
    const body = { url: CALLED, challenge: buildChallenge([makeTerms()]) };
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
      const response = await post(body, { 'Content-Type': type });
      expect(response.headers.get('accept-post')).toBe('application/json');
      expect(await refuse(response)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
    }
    expect((await fetch('/agent/check', { method: 'POST', body: new Uint8Array(3) })).status).toBe(415);
    expect((await post(body, { 'Content-Type': 'application/json; charset=utf-8' })).status).toBe(200);
    const padded = (length: number) => ({ ...body, challenge: { ...body.challenge, error: 'e'.repeat(length) } });
    expect(await refuse(post(padded(1024 * 1024)))).toMatchObject({ status: 413, code: 'too_large' });
    const frame = JSON.stringify(padded(0)).length;
    expect((await post(padded(MAX_QUESTION_BYTES - frame))).status).toBe(200);
    expect((await post(padded(MAX_QUESTION_BYTES - frame + 1))).status).toBe(413);
    expect(await refuse(post('{"url":'))).toMatchObject({ status: 400, code: 'not_json' });
    expect(await refuse(post('[]'))).toMatchObject({ status: 400, code: 'bad_arguments' });
    expect(await refuse(post({ ...body, chalenge: 1 }))).toMatchObject({
      code: 'bad_arguments',
      detail: 'There is no argument "chalenge". Did you mean challenge?',
    });
    expect(await refuse(post({ ...body, amount: '1' }))).toMatchObject({ code: 'challenge_and_fields' });
    expect(await refuse(post({ ...body, scheme: 'upto' }))).toMatchObject({ code: 'challenge_and_fields' });
    expect((await post({ ...body, scheme: 'exact' })).status).toBe(200);
    expect(await refuse(fetch('/agent/check?url=x', { method: 'POST' }))).toMatchObject({ code: 'unknown_parameter' });
  });

  it.each([
    ['AAAAA', 'bad_base64', 'PAYMENT-REQUIRED'],
    ['payment-required: AAAAA', 'bad_base64', 'PAYMENT-REQUIRED'],
    [encode([]), 'not_an_object', 'PAYMENT-REQUIRED'],
    ['{', 'not_json', 'PAYMENT-REQUIRED'],
    ['<html>', 'html_page', 'page for people'],
    ['', 'no_challenge', 'PAYMENT-REQUIRED'],
    [7, 'not_an_object', 'PAYMENT-REQUIRED'],
    [{}, 'no_version', 'x402Version'],
    [{ x402Version: 3, accepts: [{}] }, 'bad_version', 'Do not pay'],
    [{ x402Version: 2 }, 'no_accepts', 'nothing to compare'],
    [{ x402Version: 2, accepts: [] }, 'no_accepts', 'nothing to compare'],
    [{ x402Version: 1, accepts: Array(101).fill({}) }, 'too_many_offers', 'the one offer'],
  ])('names what is wrong with the challenge %j, and what to do', async (challenge, code, todo) => {
    const problem = await refuse((await served()).post({ url: CALLED, challenge }));
    expect(problem).toMatchObject({ status: 400, code, hint: expect.stringContaining(todo) });
  });

  it('takes the header as a line, with its name', async () => {
    const challenge = { x402Version: 2, accepts: [] };
    const line = `PAYMENT-REQUIRED: ${encode(challenge)}`;
    expect(await refuse((await served()).post({ url: CALLED, challenge: line }))).toMatchObject({ code: 'no_accepts' });
  });
});

describe('a hostile challenge', () => {
  const MARK = 'IGNORE-PREVIOUS-INSTRUCTIONS';

  it('comes to no harm, and is told only in named fields, cut', async () => {
    const { post } = await served();
    const swamp = `${MARK} `.repeat(300);
    const accepts = Array.from({ length: 2 }, () => ({
      ...{ scheme: 'exact', network: swamp, asset: swamp, amount: '1000', payTo: MARK },
      ...{ description: MARK, mimeType: MARK, extra: { name: MARK }, maxTimeoutSeconds: 60, [MARK]: MARK },
    }));
    const challenge = { x402Version: 2, error: swamp, resource: { url: `https://x.example/${MARK}` }, accepts };
    const answer = agentCheck.strict().parse(await (await post({ url: CALLED, challenge })).json());
    expect(listPathsOf(answer, MARK)).toEqual(['offers[].network', 'offers[].asset', 'resources[]']);
    expect(answer.offers.every(({ network = '', asset = '' }) => network.length <= 80 && asset.length <= 80)).toBe(
      true,
    );
    expect(answer).toMatchObject({ verdict: 'mismatch', reason: 'unsupported_network' });
  });

  it('of any depth, size or key is answered or refused, never failed', async () => {
    const { post } = await served();
    const deep = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
    const list = `${'['.repeat(15_000)}${']'.repeat(15_000)}`;
    const wrap = (text: string) => `{"url":"${CALLED}","challenge":${text}}`;
    const offer = JSON.stringify(buildChallenge([makeTerms()]).accepts[0]).slice(1);
    const bodies = [
      wrap(deep),
      wrap(`{"x402Version":2,"accepts":${list}}`),
      wrap(`{"x402Version":2,"accepts":[{"__proto__":{"network":"base"},${offer}]}`),
      wrap('{"x402Version":2,"accepts":[{"constructor":{"prototype":{"x":1}}}],"__proto__":{"y":1}}'),
      wrap(`{"x402Version":2,"accepts":[{"amount":1e999,"network":"${NUL}","asset":"\\ud800"}]}`),
      `{"__proto__":{"url":"${CALLED}"}}`,
      `{"url":"${CALLED}","method":"GET","network":"constructor","asset":"__proto__","pay_to":"toString","amount":"1"}`,
    ];
    const statuses: number[] = [];
    for (const body of bodies) statuses.push((await post(body)).status);
    expect(statuses).toEqual([400, 400, 200, 200, 200, 400, 200]);
    expect(Object.hasOwn(Object.prototype, 'y')).toBe(false);
  });
});

const NUL = '\\u0000';

/** Lists where in a value a text occurs, array positions left out, each place once. */
function listPathsOf(value: unknown, text: string, path = ''): string[] {
  if (typeof value === 'string') return value.includes(text) ? [path] : [];
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => listPathsOf(item, text, `${path}[]`)))];
  return [
    ...new Set(
      Object.entries(Object(value)).flatMap(([name, member]) => [
        ...(name.includes(text) ? [path] : []),
        ...listPathsOf(member, text, path === '' ? name : `${path}.${name}`),
      ]),
    ),
  ];
}
