import type { FetchResponse, GuardedClient } from './client.ts';
import { type FetchInit, isRedirect } from './request.ts';

/** Most redirects that are followed. */
const MAX_REDIRECTS = 3;

/** A redirect that is not followed: to another origin, to no valid address, or one too many. */
export interface RefusedRedirect {
  reason: 'redirected_elsewhere' | 'bad_redirect' | 'too_many_redirects';
}

/**
 * Fetches an address and follows redirects only within one origin, so that the answer certainly comes from that origin. The
 * time limit holds for each request. Throws what the guarded client throws.
 */
export async function fetchFromOrigin(
  client: Pick<GuardedClient, 'fetch'>,
  address: URL,
  init: Omit<FetchInit, 'redirect'>,
): Promise<FetchResponse | RefusedRedirect> {
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
