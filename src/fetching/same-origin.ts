import type { FetchResponse, GuardedClient } from './client.ts';
import type { FetchInit } from './request.ts';
import { isRedirect } from './request.ts';

/** Redirects followed. */
const MAX_REDIRECTS = 3;

/** An answer that leads away: to another origin, to no address, or round and round. */
export interface LedAway {
  reason: 'redirected_elsewhere' | 'bad_redirect' | 'too_many_redirects';
}

/**
 * Fetches by GET and follows redirects within one origin alone, so that whatever comes back was said by that origin.
 * The time limit holds for each request. Throws what the guarded client throws.
 */
export async function fetchFromOrigin(
  client: Pick<GuardedClient, 'fetch'>,
  address: URL,
  init: Pick<FetchInit, 'headers' | 'limits' | 'signal'>,
): Promise<FetchResponse | LedAway> {
  let url = address;
  for (let followed = 0; followed <= MAX_REDIRECTS; followed += 1) {
    const response = await client.fetch(url, { ...init, redirect: 'manual' });
    if (!isRedirect(response.status, response.headers)) return response;
    const target = URL.parse(response.headers.get('location') ?? '', url);
    if (!target) return { reason: 'bad_redirect' };
    if (target.origin !== address.origin) return { reason: 'redirected_elsewhere' };
    url = target;
  }
  return { reason: 'too_many_redirects' };
}
