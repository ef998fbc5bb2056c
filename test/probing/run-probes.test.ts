import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { openNetwork } from '../../src/fetching/network.ts';
import { fetchFromOrigin } from '../../src/fetching/same-origin.ts';
import { openNameServer } from '../fetching/name-server.ts';
import { makeTerms, NOW } from '../records.ts';
import { makeChallenge, makeOffer, PAYEE } from '../x402/challenges.ts';
import { sendChallenge, sendStatus } from './market.ts';
import { makeStore, openStreet, run } from './runs.ts';

const PATHS = ['/v1/a', '/v1/b', '/v1/c'];
/** Timers may fire a moment early, and two clocks are never quite one. */
const SLACK_MS = 5;
const MANNERS = { robots: null, robots_due: false, wait_until: null, decoy_due: false, provider_file_due: false };

describe('a run over many hosts', () => {
  it('asks as many as it may at once, one at a time of each host, with the pause between', async () => {
    const street = await openStreet(8, (response) => sendChallenge(response), { delayMs: 20 });
    const store = makeStore(PATHS);
    const ended = await run(street, store, { atOnce: 3, pauseMs: 60 });
    expect(ended).toEqual({ stopped: false, done: 24, putOff: 0 });
    expect(street.passed).toHaveLength(8 * (PATHS.length + 1));
    expect(street.getMost()).toEqual({ overall: 3, perHost: 1 });
    expect(street.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
  });

  it('keeps the pause before further requests for one route, too', async () => {
    let count = 0;
    const street = await openStreet(2, (response) => {
      count += 1;
      sendChallenge(
        response,
        makeChallenge({ accepts: [makeOffer({ payTo: `0x${String(count).padStart(40, '0')}` })] }),
      );
    });
    const store = { ...makeStore(['/v1/a'], { terms: [makeTerms({ amount: 10_000 })] }) };
    store.getHostPolicy = () => ({ ...MANNERS, decoy_due: true });
    await run(street, store, { pauseMs: 60 });
    expect(street.listAsked(street.hosts[0])).toEqual([
      '/robots.txt',
      '/v1/a',
      '/v1/a',
      expect.stringMatching(/^\/v1\/n+$/),
    ]);
    expect(store.samples).toMatchObject([{ payee_rotates: true }, { payee_rotates: true }]);
    expect(street.getMost().perHost).toBe(1);
    expect(street.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
  });

  it('calls at each host once before its routes', async () => {
    const street = await openStreet(3, (response) => sendChallenge(response));
    const visited: string[] = [];
    const store = makeStore(PATHS);
    store.getHostPolicy = () => ({ ...MANNERS, provider_file_due: true });
    store.visitHost = async (host) => {
      expect(street.listAsked(host)).toEqual(['/robots.txt']);
      visited.push(host);
    };
    await run(street, store);
    expect(visited.toSorted()).toEqual(street.hosts.toSorted());
  });

  it('is asked at its pace for its file, for where that leads and for what it names', async () => {
    const street = await openStreet(3, (response, url) => {
      if (url === '/file') sendStatus(response, 307, { location: '/file-2' });
      else sendChallenge(response);
    });
    const store = makeStore(PATHS.slice(0, 1));
    store.visitHost = async (host, client) => {
      await fetchFromOrigin(client, new URL('/file', host), {});
      await client.fetch(`${host}/document`);
    };
    await run(street, store, { pauseMs: 60 });
    for (const host of street.hosts) {
      expect(street.listAsked(host)).toEqual(['/robots.txt', '/file', '/file-2', '/document', '/v1/a']);
    }
    expect(street.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
  });

  it('is found as it is beside many whose name servers never answer', async () => {
    const street = await openStreet(4, (response) => sendChallenge(response));
    const nameServer = await openNameServer((name) => (name.startsWith('silent') ? undefined : ['127.0.0.1']));
    const network = openNetwork({ servers: [nameServer.server] });
    const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1', network });
    onTestFinished(client.close);
    const honest = street.hosts.map((host, index) => host.replace('127.0.0.1', `honest-${index}.example`));
    const silent = Array.from({ length: 24 }, (_, index) => `http://silent-${index}.example`);
    const store = makeStore(PATHS);
    await run({ hosts: [...silent, ...honest] }, store, { client, atOnce: 32, timeoutMs: 1_000 });
    const outcomes = (hosts: string[]) =>
      new Set(store.samples.filter(({ key }) => hosts.includes(new URL(key).origin)).map(({ outcome }) => outcome));
    expect([outcomes(honest), outcomes(silent)]).toEqual([new Set(['payable']), new Set(['timeout'])]);
    expect(store.samples).toHaveLength((honest.length + silent.length) * PATHS.length);
  });
});

describe('robots.txt', () => {
  const RULES = 'User-agent: *\nDisallow: /\n\nUser-agent: agent-payable-apis\nDisallow: /v1/b\nCrawl-delay: 0.1\n';

  it('is heeded: what it forbids to us by name is not asked, and tells nothing of the route', async () => {
    const street = await openStreet(1, (response) => sendChallenge(response), { robots: RULES });
    const store = makeStore(PATHS);
    expect(await run(street, store)).toEqual({ stopped: false, done: 3, putOff: 0 });
    expect(street.listAsked()).toEqual(['/robots.txt', '/v1/a', '/v1/c']);
    expect(store.samples.map(({ outcome, cause, duration_ms }) => [outcome, cause, duration_ms === 0])).toEqual([
      ['payable', null, true],
      ['internal', 'robots_disallowed', true],
      ['payable', null, true],
    ]);
    expect(store.robots.get(street.hosts[0] ?? '')).toBe(RULES);
  });

  it('sets the pause where it asks for a longer one', async () => {
    const robots = 'User-agent: *\nCrawl-delay: 0.15\n';
    const street = await openStreet(1, (response) => sendChallenge(response), { robots });
    await run(street, makeStore(PATHS));
    const [, first, second, third] = street.passed;
    expect((second?.began ?? 0) - (first?.ended ?? 0)).toBeGreaterThanOrEqual(150 - SLACK_MS);
    expect((third?.began ?? 0) - (second?.ended ?? 0)).toBeGreaterThanOrEqual(150 - SLACK_MS);
  });

  it('is not read again while it is known', async () => {
    const street = await openStreet(1, (response) => sendChallenge(response), { robots: RULES });
    const store = makeStore(['/v1/b']);
    await run(street, store);
    await run(street, { ...store, listTasks: makeStore(['/v1/b', '/v1/d']).listTasks });
    expect(street.listAsked()).toEqual(['/robots.txt', '/v1/d']);
  });

  it('keeps us from made-up addresses as well', async () => {
    const robots = 'User-agent: *\nAllow: /v1/a\nDisallow: /\n';
    const street = await openStreet(1, (response) => sendChallenge(response), { robots });
    const store = makeStore(['/v1/a']);
    store.getHostPolicy = () => ({ ...MANNERS, decoy_due: true });
    await run(street, store);
    expect(street.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    expect([store.samples[0]?.outcome, store.decoys]).toEqual(['payable', []]);
  });

  it('and the pause hold for where redirects lead as well', async () => {
    const robots = 'User-agent: *\nDisallow: /private\n';
    const street = await openStreet(
      1,
      (response, url) => {
        const next: Record<string, string> = { '/v1/a': '/v1/a2', '/v1/a2': '/v1/b2', '/v1/c': '/private/c' };
        if (next[url]) sendStatus(response, 307, { location: next[url] });
        else sendChallenge(response);
      },
      { robots },
    );
    const store = makeStore(['/v1/a', '/v1/c', '/v1/d']);
    await run(street, store, { pauseMs: 60 });
    expect(street.listAsked()).toEqual(['/robots.txt', '/v1/a', '/v1/a2', '/v1/b2', '/v1/c', '/v1/d']);
    expect(street.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
    expect(store.samples).toMatchObject([
      { outcome: 'payable' },
      { outcome: 'internal', cause: 'robots_disallowed', status: 307, detail: { target: '/private/c' } },
      { outcome: 'payable' },
    ]);
  });

  it('that makes us pause holds up nobody else', async () => {
    const street = await openStreet(3, (response, url, host) => {
      if (host === street.hosts[0] && !url.endsWith('2')) sendStatus(response, 307, { location: `${url}2` });
      else sendChallenge(response);
    });
    const store = makeStore(['/v1/a']);
    const [slow = ''] = street.hosts;
    store.robots.set(slow, 'User-agent: *\nCrawl-delay: 1\n');
    await run(street, store, { atOnce: 1 });
    expect(store.samples.map(({ key }) => key).at(-1)).toBe(`${slow}/v1/a`);
    expect(store.samples).toHaveLength(3);
  });

  it('that cannot be read whole is heeded as far as it was, and the sample says so', async () => {
    const robots = `User-agent: *\nDisallow: /v1/b\n${'Disallow: /x\n'.repeat(2_000)}Disallow: /v1/a\n`;
    const street = await openStreet(1, (response) => sendChallenge(response), { robots });
    const store = makeStore(['/v1/a', '/v1/b']);
    await run(street, store);
    expect(store.samples).toMatchObject([
      { outcome: 'payable', detail: { robots_unread: ['beyond_2000_rules'] } },
      { cause: 'robots_disallowed', detail: { robots_rule: '/v1/b', robots_unread: ['beyond_2000_rules'] } },
    ]);
  });

  it('that is not there allows everything', async () => {
    const street = await openStreet(1, (response) => sendChallenge(response));
    const store = makeStore(['/v1/a']);
    expect(await run(street, store)).toMatchObject({ done: 1 });
    expect([...store.robots.values()]).toEqual(['']);
  });

  it('that does not come any more holds as it was', async () => {
    const street = await openStreet(1, (response) => sendChallenge(response), { delayMs: 400 });
    const store = makeStore(['/v1/a', '/v1/b']);
    store.getHostPolicy = () => ({ ...MANNERS, robots: 'User-agent: *\nDisallow: /v1/b\n', robots_due: true });
    await run(street, store, { timeoutMs: 100 });
    expect(street.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    expect(store.samples.map(({ cause }) => cause)).toEqual([null, 'robots_disallowed']);
  });

  it('that does not come allows everything, costs no more than another request, and is asked for again', async () => {
    const street = await openStreet(1, (response) => sendChallenge(response), { delayMs: 400 });
    const store = makeStore(['/v1/a']);
    const began = performance.now();
    await run(street, store, { timeoutMs: 100 });
    expect(performance.now() - began).toBeLessThan(390);
    expect(street.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    expect([store.samples[0]?.outcome, store.robots.size]).toEqual(['timeout', 0]);
  });
});

describe('a host that asks to be left alone', () => {
  const later = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString();

  it('for a moment is waited for', async () => {
    let count = 0;
    const street = await openStreet(1, (response) => {
      count += 1;
      if (count === 1) sendStatus(response, 429, { 'retry-after': '1' });
      else sendChallenge(response);
    });
    const store = makeStore(PATHS);
    expect(await run(street, store)).toMatchObject({ done: 3, putOff: 0 });
    expect(store.samples.map(({ outcome }) => outcome)).toEqual(['rate_limited', 'payable', 'payable']);
    const [, first, second] = street.passed;
    expect((second?.began ?? 0) - (first?.ended ?? 0)).toBeGreaterThanOrEqual(1_000 - SLACK_MS);
    expect(store.waits.size).toBe(0);
  });

  it.each([
    ['429 for two minutes', 429, { 'retry-after': '120' }, 120_000],
    ['503 until a date', 503, { 'retry-after': 'Fri, 20 Nov 2026 13:00:00 GMT' }, 3_600_000],
    ['429 for it does not say how long', 429, {}, 3_600_000],
  ] as const)('by %s is left alone, now and in the next run', async (_how, status, headers, ms) => {
    const street = await openStreet(1, (response) => sendStatus(response, status, headers));
    const store = makeStore(PATHS);
    expect(await run(street, store)).toEqual({ stopped: false, done: 1, putOff: 2 });
    expect([...store.waits.values()]).toEqual([later(ms)]);
    expect(await run(street, store, { now: () => new Date(later(ms - 1)) })).toEqual({
      stopped: false,
      done: 0,
      putOff: 2,
    });
    expect(street.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    await run(street, store, { now: () => new Date(later(ms)) });
    expect(street.listAsked()[2]).toBe('/v1/b');
  });

  it('by its answer to a made-up address is left alone as well', async () => {
    const street = await openStreet(1, (response, url) =>
      url === '/v1/a' ? sendChallenge(response) : sendStatus(response, 429, { 'retry-after': '120' }),
    );
    const store = makeStore(PATHS);
    store.getHostPolicy = () => ({ ...MANNERS, robots: '', decoy_due: true });
    expect(await run(street, store)).toMatchObject({ done: 1, putOff: 2 });
    expect(store.samples).toMatchObject([{ outcome: 'payable', retry_after_seconds: 120 }]);
    expect([...store.waits.values()]).toEqual([later(120_000)]);
  });

  it('does not hold up the others', async () => {
    const street = await openStreet(3, (response, _url, host) =>
      host === street.hosts[0] ? sendStatus(response, 429, { 'retry-after': '600' }) : sendChallenge(response),
    );
    expect(await run(street, makeStore(PATHS), { atOnce: 1 })).toMatchObject({ done: 7, putOff: 2 });
  });
});

describe('a host where every address asks to be paid', () => {
  it('is one for each of its routes', async () => {
    const street = await openStreet(1, (response) => sendChallenge(response));
    const store = makeStore(PATHS);
    store.getHostPolicy = () => ({ ...MANNERS, robots: '', decoy_due: true });
    await run(street, store);
    expect(store.samples.map(({ outcome }) => outcome)).toEqual(['wildcard_402', 'wildcard_402', 'wildcard_402']);
    expect(store.decoys).toEqual([]);
  });

  it('is not one where the first neighbour says so, and no further one is asked', async () => {
    const street = await openStreet(1, (response, url) =>
      PATHS.includes(url) ? sendChallenge(response) : sendStatus(response, 404),
    );
    const store = makeStore(PATHS);
    store.getHostPolicy = () => ({ ...MANNERS, robots: '', decoy_due: true });
    await run(street, store);
    expect(store.samples.map(({ outcome }) => outcome)).toEqual(['payable', 'payable', 'payable']);
    expect(street.listAsked()).toHaveLength(4);
    expect(store.decoys).toEqual(street.hosts);
  });
});

describe('a run that is stopped', () => {
  it('leaves no sample of what was under way, and the next one asks for nothing again', async () => {
    const street = await openStreet(6, (response) => sendChallenge(response), { delayMs: 15 });
    const store = makeStore(PATHS);
    const stopping = new AbortController();
    const record = store.recordSample;
    store.recordSample = (task, sample) => {
      record(task, sample);
      if (store.samples.length === 7) stopping.abort();
    };
    const first = await run(street, store, { atOnce: 4, signal: stopping.signal });
    expect(first).toEqual({ stopped: true, done: 7, putOff: 0 });
    expect(new Set(store.samples.map(({ outcome }) => outcome))).toEqual(new Set(['payable']));
    const done = new Set(store.samples.map(({ key }) => key));
    const before = street.passed.length;
    await sleep(50);
    expect(street.passed).toHaveLength(before);
    expect(await run(street, store, { atOnce: 4 })).toEqual({ stopped: false, done: 11, putOff: 0 });
    const again = street.passed.slice(before).map(({ host, url }) => `${host}${url}`);
    expect(again.filter((asked) => done.has(asked))).toEqual([]);
    expect(store.samples.map(({ key }) => key).toSorted()).toEqual(
      street.hosts.flatMap((host) => PATHS.map((path) => `${host}${path}`)).toSorted(),
    );
  });

  it.each([
    ['a second challenge', false],
    ['a made-up address', true],
  ])('while it waits for %s tells nothing of the first', async (_what, decoy_due) => {
    const stopping = new AbortController();
    let count = 0;
    const street = await openStreet(1, (response) => {
      count += 1;
      if (count === 1) sendChallenge(response);
      else stopping.abort();
    });
    const terms = decoy_due ? [] : [makeTerms({ amount: 10_000, pay_to: `0x${'9'.repeat(40)}` })];
    const store = makeStore(['/v1/a'], { terms });
    store.getHostPolicy = () => ({ ...MANNERS, robots: '', decoy_due });
    expect(await run(street, store, { signal: stopping.signal })).toEqual({ stopped: true, done: 0, putOff: 0 });
    expect(count).toBe(2);
    expect([store.samples, store.decoys]).toEqual([[], []]);
    // Left alone the same probe does tell.
    count = 0;
    const answering = await openStreet(1, (response, url) =>
      url === '/v1/a' ? sendChallenge(response) : sendStatus(response, 404),
    );
    await run(answering, store);
    expect(store.samples).toMatchObject([
      { terms: [{ pay_to: PAYEE.toLowerCase() }], payee_rotates: decoy_due ? null : false },
    ]);
  });

  it('before it began asks nothing', async () => {
    const street = await openStreet(2, (response) => sendChallenge(response));
    expect(await run(street, makeStore(PATHS), { signal: AbortSignal.abort() })).toMatchObject({
      stopped: true,
      done: 0,
    });
    expect(street.passed).toEqual([]);
  });
});

describe('a store that fails', () => {
  it.each(['recordSample', 'recordRobots', 'recordWait', 'getHostPolicy', 'listTasks', 'visitHost'] as const)(
    'in %s ends the run with its error, and no probe goes on',
    async (name) => {
      const street = await openStreet(
        6,
        (response) => (name === 'recordWait' ? sendStatus(response, 429) : sendChallenge(response)),
        { delayMs: 10 },
      );
      const full = new Error('the disk is full');
      const store = makeStore(PATHS);
      let count = 0;
      const fail = () => {
        count += 1;
        throw full;
      };
      store.getHostPolicy = () => ({ ...MANNERS, provider_file_due: true });
      await expect(run(street, { ...store, [name]: fail }, { atOnce: 3 })).rejects.toBe(full);
      const before = street.passed.length;
      await sleep(60);
      expect(street.passed).toHaveLength(before);
      expect(before).toBeLessThan(3 * 6);
      expect(count).toBeLessThanOrEqual(6);
    },
  );
});
