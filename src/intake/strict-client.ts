import { isLoopback } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { getDomain } from '../evidence/domains.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { buildFetchFailure } from '../fetching/failure.ts';
import { openPace } from '../fetching/pacing.ts';
import type { FetchInit } from '../fetching/request.ts';
import { fetchFromOrigin } from '../fetching/same-origin.ts';
import { ROBOTS_DISALLOWED } from '../probing/probe-route.ts';
import { fetchRobots, parseRobots, type Robots } from '../probing/robots.ts';

/** Most that one check may cost: time in milliseconds, bytes of all answers, requests; and the pause between two of these. */
export const CHECK_MS = 30_000;
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REQUESTS = 64;
const PAUSE_MS = 50;

/** Largest answer, in bytes; of what is no JSON less, since YAML takes seconds and a gigabyte to read where it is large. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const MAX_OTHER_BYTES = 128 * 1024;
const JSON_START = /^(?:\xef\xbb\xbf)?\s*[[{]/;

/** Longest wait for one answer, in milliseconds. */
const ANSWER_MS = 10_000;

type Client = Pick<GuardedClient, 'fetch'>;

/**
 * Builds the client of a check that a stranger asked for. It makes requests only to the party of `url`, never to ourselves;
 * follows redirects only within an origin, obeys robots.txt, pauses between requests, and ends at its limits. Throws `refused`
 * for a request that it does not make.
 */
export function buildStrictClient(
  client: Client,
  { url: checked, baseUrl, signal }: { url: string; baseUrl: string; signal: AbortSignal },
): Client {
  const domain = getDomain(checked);
  const { port } = new URL(checked);
  const pace = openPace(PAUSE_MS, signal);
  const robots = new Map<string, Promise<Robots>>();
  const left = { requests: MAX_REQUESTS, bytes: MAX_BYTES };

  const ask = async (url: URL, init: FetchInit, delayMs: number) => {
    if (isOurs(url, new URL(baseUrl))) throw refuse('ourselves', 'This service does not check itself.');
    if (getDomain(url.href) !== domain || !['', port].includes(url.port))
      throw refuse('other_host', `${url.hostname} is not the host that is checked.`);
    if (left.requests <= 0 || left.bytes <= 0) throw refuse('check_limits', 'The limits of one check are reached.');
    await pace.wait();
    left.requests -= 1;
    const most = Math.min(init.limits?.bodyBytes ?? MAX_ANSWER_BYTES, MAX_ANSWER_BYTES, left.bytes);
    const totalMs = Math.min(init.limits?.totalMs ?? ANSWER_MS, ANSWER_MS);
    const limits = {
      ...init.limits,
      totalMs,
      bodyBytes: most,
      decodedBytes: Math.min(init.limits?.decodedBytes ?? most, most),
    };
    let received = most;
    try {
      const answer = await client.fetch(url, { ...init, redirect: 'manual', signal, limits });
      received = answer.receivedBytes;
      const start = Buffer.from(answer.body.subarray(0, 1024)).toString('latin1');
      if (answer.body.byteLength > MAX_OTHER_BYTES && !JSON_START.test(start))
        throw buildFetchFailure('malformed', `The host ${url.hostname} sent a long text that is not JSON.`);
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // An answer that is too large has already cost the maximum.
      if (error.reason !== 'too_large') received = Number(error.details.received ?? 0);
      // Only our own name servers may know such a name.
      if (error.reason !== 'blocked_address') throw error;
      throw buildFetchFailure('blocked_address', `The host ${url.hostname} has no public address.`);
    } finally {
      left.bytes -= received;
      pace.end(delayMs);
    }
  };

  const follow = async (url: URL, init: FetchInit, delayMs: number) => {
    const answer = await fetchFromOrigin({ fetch: (to, own) => ask(new URL(to), own ?? {}, delayMs) }, url, init);
    if ('reason' in answer) throw buildFetchFailure('redirected', `The host ${url.hostname} redirects elsewhere.`);
    return answer;
  };

  const readRobots = async (origin: string): Promise<Robots> => {
    const plain: Client = { fetch: (to, init) => follow(new URL(to), init ?? {}, 0) };
    return parseRobots((await fetchRobots(plain, origin, { timeoutMs: ANSWER_MS, signal })) ?? '');
  };

  return {
    fetch: async (address, init = {}) => {
      const url = URL.parse(String(address));
      if (!url) throw buildFetchFailure('bad_url', 'The address is not a valid URL.');
      const rules = robots.get(url.origin) ?? readRobots(url.origin);
      robots.set(url.origin, rules);
      const { delayMs, findForbidding } = await rules;
      if (findForbidding(url.href) !== undefined)
        throw refuse(ROBOTS_DISALLOWED, `The robots.txt of ${url.hostname} asks us not to.`);
      return init.redirect === 'manual' ? ask(url, init, delayMs) : follow(url, init, delayMs);
    },
  };
}

/** Returns true if an address is of this service, at any port. On this machine each port is a separate service. */
function isOurs(url: URL, own: URL): boolean {
  return isLoopback(own.hostname) ? url.host === own.host : url.hostname === own.hostname;
}

function refuse(reason: string, message: string): ServiceError {
  return new ServiceError('refused', message, { reason });
}
