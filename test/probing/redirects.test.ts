import { describe, expect, it } from 'vitest';
import { probeRoute } from '../../src/probing/probe-route.ts';
import { NOW } from '../records.ts';
import { makeChallenge } from '../x402/challenges.ts';
import { makeProbed, openSeller, probe, sendChallenge, sendStatus } from './market.ts';

describe('a redirect', () => {
  it('within the origin that keeps the method is followed, with body and headers', async () => {
    const seller = await openSeller((response, { url }) =>
      url === '/v1/quote' ? sendStatus(response, 307, { location: '/v1/quote/' }) : sendChallenge(response),
    );
    const example = { body: { q: 'x' }, headers: { 'x-tone': 'plain' } };
    expect(await probe(seller.url, { route: { method: 'POST', example } })).toMatchObject({ outcome: 'payable' });
    expect(seller.asked[1]).toMatchObject({ method: 'POST', url: '/v1/quote/', body: '{"q":"x"}' });
    expect(seller.asked[1]?.headers['x-tone']).toBe('plain');
  });

  it('to another origin is not followed, and a 402 there is not this route’s', async () => {
    const other = await openSeller((response) => sendChallenge(response));
    const seller = await openSeller((response) => sendStatus(response, 302, { location: `${other.url}/v1/quote` }));
    expect(await probe(seller.url)).toMatchObject({
      outcome: 'no_402',
      cause: 'redirected_elsewhere',
      status: 302,
      detail: { target: other.url },
    });
    expect(other.asked).toHaveLength(0);
  });

  it.each([
    [302, '/login', 'redirect_changes_method', 1],
    [303, '/done', 'redirect_changes_method', 1],
    [308, '/v1/quote', 'too_many_redirects', 4],
    [308, 'http://[', 'bad_redirect', 1],
  ])('of a POST with %i to %s is no_402 (%s)', async (status, location, cause, requests) => {
    const seller = await openSeller((response) => sendStatus(response, status, { location }));
    expect(await probe(seller.url, { route: { method: 'POST' } })).toMatchObject({ outcome: 'no_402', cause, status });
    expect(seller.asked).toHaveLength(requests);
  });
});

describe('the latency of a probe', () => {
  /** Probes a route whose answers come from a list, each with its status and how long it took. */
  async function timeAnswers(...answers: { status: number; elapsedMs: number }[]) {
    const body = Buffer.from(JSON.stringify(makeChallenge()));
    const header = body.toString('base64');
    const sample = await probeRoute({
      client: {
        fetch: async (address) => {
          const answer = answers.shift();
          if (!answer) throw new Error('nobody answers');
          const headers = new Headers(answer.status === 402 ? { 'payment-required': header } : { location: '/next' });
          return { ...answer, headers, body, receivedBytes: body.length, url: String(address), redirects: [] };
        },
      },
      baseUrl: 'https://seller.example',
      route: makeProbed(),
      timeoutMs: 1000,
      now: () => new Date(NOW),
      random: () => 0.5,
      checkWildcard: true,
    });
    return [sample.status, sample.latency_ms];
  }

  it('is that of the answer, with the redirects before it and without further requests', async () => {
    expect(await timeAnswers({ status: 402, elapsedMs: 40 }, { status: 404, elapsedMs: 900 })).toEqual([402, 40]);
    const redirected = [307, 402, 404].map((status) => ({ status, elapsedMs: status }));
    expect(await timeAnswers(...redirected)).toEqual([402, 307 + 402]);
  });

  it('is that of any answer, and unknown where none came', async () => {
    expect(await timeAnswers({ status: 500, elapsedMs: 7 })).toEqual([500, 7]);
    const closed = await openSeller((response) => response.destroy());
    expect(await probe(closed.url)).toMatchObject({ status: null, latency_ms: null });
  });
});
