import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROBE_OUTCOMES, probeSample } from '../../src/model/probe.ts';
import { buildCertificate } from '../fetching/certificate.ts';
import { listen } from '../fetching/outside.ts';
import { makeTerms } from '../records.ts';
import { makeChallenge, makeChallengeV1, makeOffer, makeOfferV1, PAYEE } from '../x402/challenges.ts';
import { openSeller, probe, sendChallenge, sendChallengeV1, sendStatus } from './market.ts';

const KNOWN = makeTerms({ amount: 10_000, pay_to: PAYEE.toLowerCase() });
const OTHER = `0x${'9'.repeat(40)}`;
const seen = new Set<string>();

/** Checks the sample against its schema and notes its outcome. */
async function see(...parts: Parameters<typeof probe>) {
  const sample = probeSample.parse(await probe(...parts));
  seen.add(sample.outcome);
  return sample;
}

async function openTcp(answer: string | null) {
  const server = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => (answer === null ? socket.destroy() : socket.end(answer)));
  });
  const listening = await listen(server);
  onTestFinished(listening.close);
  return `http://127.0.0.1:${listening.port}`;
}

describe('a route that asks for payment', () => {
  it.each([
    ['2', sendChallenge],
    ['1', sendChallengeV1],
  ] as const)('with the known terms in x402 version %s is payable', async (version, send) => {
    const seller = await openSeller((response) => send(response));
    const sample = await see(seller.url, { route: { terms: [KNOWN] } });
    expect(sample).toMatchObject({ outcome: 'payable', cause: null, status: 402, differences: [] });
    expect(sample.x402_version).toBe(Number(version));
    expect(sample.terms).toMatchObject([{ network: 'base', amount: 10_000, pay_to: PAYEE.toLowerCase() }]);
    expect(seller.asked[0]?.headers).not.toHaveProperty('x-payment');
    expect(seller.asked[0]?.headers['user-agent']).toBe('catalogue-test/1');
  });

  it.each([
    ['2', () => makeOffer({ amount: '20000' }), sendChallenge, makeChallenge],
    ['1', () => makeOfferV1({ maxAmountRequired: '20000' }), sendChallengeV1, makeChallengeV1],
  ] as const)('with another price in version %s is payable with changed terms', async (_version, make, send, wrap) => {
    const seller = await openSeller((response) => send(response, wrap({ accepts: [make()] })));
    const sample = await see(seller.url, { route: { terms: [KNOWN] } });
    expect(sample).toMatchObject({ outcome: 'payable_with_changed_terms', cause: 'amount' });
    expect(sample.differences).toMatchObject([
      { kind: 'changed', fields: ['amount'], before: { amount: 10_000 }, after: { amount: 20_000 } },
    ]);
  });

  it('in two ways is payable with that as its cause, whatever else changed, and says where', async () => {
    const twice = makeChallenge({ accepts: [makeOffer({ recipient: OTHER, amount: '20000' })] });
    const seller = await openSeller((response) => sendChallenge(response, twice));
    expect(await see(seller.url, { route: { terms: [KNOWN] } })).toMatchObject({
      ...{ outcome: 'payable_with_changed_terms', cause: 'reads_differently' },
      detail: { reads_differently: [{ code: 'pay_to_differs', place: '/accepts/0/recipient' }] },
    });
  });

  it('in two ways, to a fresh payee each time, keeps that cause', async () => {
    let count = 0;
    const seller = await openSeller((response) => {
      const payTo = `0x${String(++count).repeat(40)}`;
      sendChallenge(response, makeChallenge({ accepts: [makeOffer({ payTo, recipient: OTHER })] }));
    });
    expect(await see(seller.url, { route: { terms: [KNOWN] } })).toMatchObject({
      ...{ outcome: 'payable', cause: 'reads_differently', payee_rotates: true },
    });
  });

  it('like every other address of its host is a wildcard', async () => {
    const seller = await openSeller((response) => sendChallenge(response));
    const sample = await see(seller.url, { checkWildcard: true });
    expect(sample).toMatchObject({ outcome: 'wildcard_402', terms: [{ amount: 10_000 }] });
    expect(seller.asked.map(({ url }) => url)).toEqual(['/v1/quote', '/v1/nnnnnnnnnnnnnnnn']);
  });

  it('and whose decoy does not is payable; the decoy is requested only when due', async () => {
    const seller = await openSeller((response, { url }) =>
      url === '/v1/quote' ? sendChallenge(response) : sendStatus(response, 404),
    );
    const sample = await see(seller.url, { checkWildcard: true });
    expect(sample).toMatchObject({
      outcome: 'payable',
      detail: { sibling: { outcome: 'no_402', cause: 'not_found' } },
    });
    await see(seller.url);
    expect(seller.asked).toHaveLength(3);
  });

  it.each([
    ['unsupported_network', null, [makeOffer({ network: 'eip155:137' })]],
    ['unsupported_network', 'test_network_mainnet_asset', [makeOffer({ network: 'eip155:84532' })]],
    [
      'not_usdc',
      null,
      [makeOffer({ asset: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb' }), makeOffer({ network: 'eip155:1' })],
    ],
    ['malformed', 'bad_amount', [makeOffer({ network: 'eip155:1' }), makeOffer({ amount: '0.01' })]],
    ['malformed', 'no_accepts', []],
  ])('in a way that cannot be paid here is %s (%s)', async (outcome, cause, accepts) => {
    const seller = await openSeller((response) => sendChallenge(response, makeChallenge({ accepts })));
    expect(await see(seller.url)).toMatchObject({ outcome, cause, status: 402, terms: [] });
  });

  it('with 10,000 offers or a megabyte of text is not read', async () => {
    const accepts = Array.from({ length: 10_000 }, () => ({}));
    const many = await openSeller((response) => sendChallengeV1(response, makeChallengeV1({ accepts })));
    expect(await see(many.url)).toMatchObject({ outcome: 'malformed', cause: 'too_many_offers' });
    const padding = 'x'.repeat(1_000_000);
    const long = await openSeller((response) => sendChallengeV1(response, makeChallengeV1({ padding })));
    expect(await see(long.url)).toMatchObject({ outcome: 'too_large', cause: 'body_too_large', status: 402 });
  });

  it('over Lightning is auth_required', async () => {
    const seller = await openSeller((response) =>
      sendStatus(response, 402, { 'www-authenticate': 'L402 macaroon="a"' }),
    );
    expect(await see(seller.url)).toMatchObject({
      outcome: 'auth_required',
      cause: 'other_payment_scheme',
      detail: { schemes: ['l402'] },
    });
  });
});

describe('a route that answers otherwise', () => {
  it.each([
    [200, 'no_402', 'answered_unpaid'],
    [204, 'no_402', 'answered_unpaid'],
    [404, 'no_402', 'not_found'],
    [410, 'no_402', 'gone'],
    [451, 'no_402', 'status_451'],
    [400, 'input_rejected', 'status_400'],
    [415, 'input_rejected', 'status_415'],
    [422, 'input_rejected', 'status_422'],
    [401, 'auth_required', 'status_401'],
    [403, 'auth_required', 'status_403'],
    [408, 'timeout', 'status_408'],
    [500, 'server_error', 'status_500'],
    [503, 'server_error', 'status_503'],
  ])('with %i is %s (%s)', async (status, outcome, cause) => {
    const seller = await openSeller((response) => sendStatus(response, status));
    expect(await see(seller.url)).toMatchObject({ outcome, cause, status, terms: [], x402_version: null });
  });

  it('with 405 names the methods it would take', async () => {
    const seller = await openSeller((response) => sendStatus(response, 405, { allow: 'post, OPTIONS, <b>' }));
    expect(await see(seller.url)).toMatchObject({ outcome: 'wrong_method', detail: { allow: ['POST', 'OPTIONS'] } });
  });

  it.each([
    [429, 'rate_limited', '120', 120],
    [429, 'rate_limited', 'Fri, 20 Nov 2026 12:00:30 GMT', 30],
    [429, 'rate_limited', 'soon', null],
    [503, 'server_error', '9999999999', 604_800],
  ])('with %i is %s, with the wait that it asks for: %s', async (status, outcome, wait, retry_after_seconds) => {
    const seller = await openSeller((response) => sendStatus(response, status, { 'retry-after': wait }));
    expect(await see(seller.url)).toMatchObject({ outcome, status, retry_after_seconds });
  });

  it('with 404 for a made-up parameter says nothing about the route', async () => {
    const seller = await openSeller((response) => sendStatus(response, 404));
    expect(await see(seller.url, { route: { path: '/v1/users/{id}' } })).toMatchObject({
      outcome: 'input_rejected',
      cause: 'made_up_parameter',
      detail: { invented: ['id'] },
    });
  });
});

describe('a host that gives no answer', () => {
  it('whose name has no address is name_not_resolved', async () => {
    const resolve = async () => {
      throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
    };
    const sample = await see('https://gone.seller.example', { client: { network: { resolve } } });
    expect(sample).toMatchObject({ outcome: 'name_not_resolved', cause: 'enotfound', status: null });
  });

  it('without a listener is refused', async () => {
    const closed = await listen(createTcpServer());
    await closed.close();
    const sample = await see(`http://127.0.0.1:${closed.port}`);
    expect(sample).toMatchObject({ outcome: 'refused', cause: 'econnrefused', status: null });
  });

  it('without a trustworthy certificate is tls', async () => {
    const server = createHttpsServer(buildCertificate({ names: ['localhost'] }), (_request, response) =>
      response.end(),
    );
    const listening = await listen(server);
    onTestFinished(listening.close);
    const sample = await see(`https://127.0.0.1:${listening.port}`);
    expect(sample.outcome).toBe('tls');
    expect(sample.cause).toMatch(/^[a-z_]+$/);
  });

  it('that stays silent is timeout, but endless redirects are not', async () => {
    const silent = await openSeller(() => undefined);
    expect(await see(silent.url, { timeoutMs: 150 })).toMatchObject({ outcome: 'timeout', status: null });
    const slow = await openSeller((response, { url }) =>
      setTimeout(() => sendStatus(response, 307, { location: `${url}x` }), 80),
    );
    expect(await see(slow.url, { timeoutMs: 150 })).toMatchObject({ outcome: 'no_402', cause: 'too_many_redirects' });
  });

  it('that sends without end is too_large', async () => {
    const endless = await openSeller((response) => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const pump = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.writeHead(402).on('drain', pump);
      pump();
    });
    expect(await see(endless.url)).toMatchObject({ outcome: 'too_large', cause: null });
    const headers = await openSeller((response) =>
      sendStatus(response, 402, { 'payment-required': 'A'.repeat(200_000) }),
    );
    expect(await see(headers.url)).toMatchObject({ outcome: 'too_large' });
  });

  it('that hangs up differs from one that sends nonsense', async () => {
    expect(await see(await openTcp(null))).toMatchObject({ outcome: 'server_error', cause: 'disconnected' });
    expect(await see(await openTcp('hello\r\n\r\n'))).toMatchObject({ outcome: 'malformed', cause: 'bad_http' });
  });

  it('with a forbidden address is blocked_address', async () => {
    const client = { allowPrivateNetworks: false };
    expect(await see('https://127.0.0.1', { client })).toMatchObject({ outcome: 'blocked_address', cause: null });
    expect(await see('http://seller.example', { client })).toMatchObject({
      outcome: 'blocked_address',
      cause: 'not_https',
    });
    expect(await see('nonsense')).toMatchObject({ outcome: 'blocked_address', cause: 'bad_url' });
  });

  it('for a fault of our own is internal', async () => {
    const seller = await openSeller((response) => sendChallenge(response));
    expect(await see(seller.url, { signal: AbortSignal.abort() })).toMatchObject({
      outcome: 'internal',
      cause: 'aborted',
    });
    const example = { headers: { 'transfer-encoding': 'chunked' } };
    expect(await see(seller.url, { route: { example } })).toMatchObject({ outcome: 'internal', cause: 'bad_request' });
    expect(seller.asked).toHaveLength(0);
  });
});

it('covers every outcome', () => {
  expect(PROBE_OUTCOMES.filter((outcome) => !seen.has(outcome))).toEqual([]);
});
