import { describe, expect, it } from 'vitest';
import { openSeller, probe, sendChallenge, sendStatus } from './market.ts';

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
