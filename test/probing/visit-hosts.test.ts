import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { openNetwork } from '../../src/fetching/network.ts';
import { fetchFromOrigin } from '../../src/fetching/same-origin.ts';
import { openNameServer } from '../fetching/name-server.ts';
import { makeTerms, NOW } from '../records.ts';
import { makeChallenge, makeOffer, PAYEE } from '../x402/challenges.ts';
import { sendChallenge, sendStatus } from './market.ts';
import { makeStore, openFakeHosts, run } from './runs.ts';

const PATHS = ['/v1/a', '/v1/b', '/v1/c'];
/** Timers may fire a moment early, and two clocks never agree exactly. */
const SLACK_MS = 5;
const MANNERS = { robots: null, robots_due: false, wait_until: null, decoy_due: false, provider_file_due: false };

describe('a run over many hosts', () => {
  it('sends as many concurrent requests as allowed, one at a time to each host, with the pause between', async () => {
    const fakeHosts = await openFakeHosts(8, (response) => sendChallenge(response), { delayMs: 20 });
    const store = makeStore(PATHS);
    const ended = await run(fakeHosts, store, { atOnce: 3, pauseMs: 60 });
    expect(ended).toEqual({ stopped: false, done: 24, putOff: 0 });
    expect(fakeHosts.passed).toHaveLength(8 * (PATHS.length + 1));
    expect(fakeHosts.getMost()).toEqual({ overall: 3, perHost: 1 });
    expect(fakeHosts.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
  });

  it('also keeps the pause before further requests for one route', async () => {
    let count = 0;
    const fakeHosts = await openFakeHosts(2, (response) => {
      count += 1;
      sendChallenge(
        response,
        makeChallenge({ accepts: [makeOffer({ payTo: `0x${String(count).padStart(40, '0')}` })] }),
      );
    });
    const store = { ...makeStore(['/v1/a'], { terms: [makeTerms({ amount: 10_000 })] }) };
    store.getHostPolicy = async () => ({ ...MANNERS, decoy_due: true });
    await run(fakeHosts, store, { pauseMs: 60 });
    expect(fakeHosts.listAsked(fakeHosts.hosts[0])).toEqual([
      '/robots.txt',
      '/v1/a',
      '/v1/a',
      expect.stringMatching(/^\/v1\/n+$/),
    ]);
    expect(store.samples).toMatchObject([{ payee_rotates: true }, { payee_rotates: true }]);
    expect(fakeHosts.getMost().perHost).toBe(1);
    expect(fakeHosts.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
  });

  it('visits each host once before its routes', async () => {
    const fakeHosts = await openFakeHosts(3, (response) => sendChallenge(response));
    const visited: string[] = [];
    const store = makeStore(PATHS);
    store.getHostPolicy = async () => ({ ...MANNERS, provider_file_due: true });
    store.readProviderFile = async (host) => {
      expect(fakeHosts.listAsked(host)).toEqual(['/robots.txt']);
      visited.push(host);
    };
    await run(fakeHosts, store);
    expect(visited.toSorted()).toEqual(fakeHosts.hosts.toSorted());
  });

  it('keeps the pace for the provider’s file, its redirects and its documents', async () => {
    const fakeHosts = await openFakeHosts(3, (response, url) => {
      if (url === '/file') sendStatus(response, 307, { location: '/file-2' });
      else sendChallenge(response);
    });
    const store = makeStore(PATHS.slice(0, 1));
    store.readProviderFile = async (host, client) => {
      await fetchFromOrigin(client, new URL('/file', host), {});
      await client.fetch(`${host}/document`);
    };
    await run(fakeHosts, store, { pauseMs: 60 });
    for (const host of fakeHosts.hosts) {
      expect(fakeHosts.listAsked(host)).toEqual(['/robots.txt', '/file', '/file-2', '/document', '/v1/a']);
    }
    expect(fakeHosts.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
  });

  it('gets true outcomes beside many hosts whose name servers never answer', async () => {
    const fakeHosts = await openFakeHosts(4, (response) => sendChallenge(response));
    const nameServer = await openNameServer((name) => (name.startsWith('silent') ? undefined : ['127.0.0.1']));
    const network = openNetwork({ servers: [nameServer.server] });
    const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1', network });
    onTestFinished(client.close);
    const honest = fakeHosts.hosts.map((host, index) => host.replace('127.0.0.1', `honest-${index}.example`));
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

  it('is obeyed: what it forbids to our name is not requested, and says nothing about the route', async () => {
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response), { robots: RULES });
    const store = makeStore(PATHS);
    expect(await run(fakeHosts, store)).toEqual({ stopped: false, done: 3, putOff: 0 });
    expect(fakeHosts.listAsked()).toEqual(['/robots.txt', '/v1/a', '/v1/c']);
    expect(store.samples.map(({ outcome, cause, duration_ms }) => [outcome, cause, duration_ms === 0])).toEqual([
      ['payable', null, true],
      ['internal', 'robots_disallowed', true],
      ['payable', null, true],
    ]);
    expect(store.robots.get(fakeHosts.hosts[0] ?? '')).toBe(RULES);
  });

  it('can make the pause longer', async () => {
    const robots = 'User-agent: *\nCrawl-delay: 0.15\n';
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response), { robots });
    await run(fakeHosts, makeStore(PATHS));
    const [, first, second, third] = fakeHosts.passed;
    expect((second?.began ?? 0) - (first?.ended ?? 0)).toBeGreaterThanOrEqual(150 - SLACK_MS);
    expect((third?.began ?? 0) - (second?.ended ?? 0)).toBeGreaterThanOrEqual(150 - SLACK_MS);
  });

  it('is not read again while it is fresh', async () => {
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response), { robots: RULES });
    const store = makeStore(['/v1/b']);
    await run(fakeHosts, store);
    await run(fakeHosts, { ...store, listTasks: makeStore(['/v1/b', '/v1/d']).listTasks });
    expect(fakeHosts.listAsked()).toEqual(['/robots.txt', '/v1/d']);
  });

  it('also applies to decoy paths', async () => {
    const robots = 'User-agent: *\nAllow: /v1/a\nDisallow: /\n';
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response), { robots });
    const store = makeStore(['/v1/a']);
    store.getHostPolicy = async () => ({ ...MANNERS, decoy_due: true });
    await run(fakeHosts, store);
    expect(fakeHosts.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    expect([store.samples[0]?.outcome, store.decoys]).toEqual(['payable', []]);
  });

  it('and the pause also apply to redirects', async () => {
    const robots = 'User-agent: *\nDisallow: /private\n';
    const fakeHosts = await openFakeHosts(
      1,
      (response, url) => {
        const next: Record<string, string> = { '/v1/a': '/v1/a2', '/v1/a2': '/v1/b2', '/v1/c': '/private/c' };
        if (next[url]) sendStatus(response, 307, { location: next[url] });
        else sendChallenge(response);
      },
      { robots },
    );
    const store = makeStore(['/v1/a', '/v1/c', '/v1/d']);
    await run(fakeHosts, store, { pauseMs: 60 });
    expect(fakeHosts.listAsked()).toEqual(['/robots.txt', '/v1/a', '/v1/a2', '/v1/b2', '/v1/c', '/v1/d']);
    expect(fakeHosts.getShortestPause()).toBeGreaterThanOrEqual(60 - SLACK_MS);
    expect(store.samples).toMatchObject([
      { outcome: 'payable' },
      { outcome: 'internal', cause: 'robots_disallowed', status: 307, detail: { target: '/private/c' } },
      { outcome: 'payable' },
    ]);
  });

  it('with a pause delays no other host', async () => {
    const fakeHosts = await openFakeHosts(3, (response, url, host) => {
      if (host === fakeHosts.hosts[0] && !url.endsWith('2')) sendStatus(response, 307, { location: `${url}2` });
      else sendChallenge(response);
    });
    const store = makeStore(['/v1/a']);
    const [slow = ''] = fakeHosts.hosts;
    store.robots.set(slow, 'User-agent: *\nCrawl-delay: 1\n');
    await run(fakeHosts, store, { atOnce: 1 });
    expect(store.samples.map(({ key }) => key).at(-1)).toBe(`${slow}/v1/a`);
    expect(store.samples).toHaveLength(3);
  });

  it('that is read in part is obeyed in part, and the sample says so', async () => {
    const robots = `User-agent: *\nDisallow: /v1/b\n${'Disallow: /x\n'.repeat(2_000)}Disallow: /v1/a\n`;
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response), { robots });
    const store = makeStore(['/v1/a', '/v1/b']);
    await run(fakeHosts, store);
    expect(store.samples).toMatchObject([
      { outcome: 'payable', detail: { robots_unread: ['beyond_2000_rules'] } },
      { cause: 'robots_disallowed', detail: { robots_rule: '/v1/b', robots_unread: ['beyond_2000_rules'] } },
    ]);
  });

  it('that does not exist allows everything', async () => {
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response));
    const store = makeStore(['/v1/a']);
    expect(await run(fakeHosts, store)).toMatchObject({ done: 1 });
    expect([...store.robots.values()]).toEqual(['']);
  });

  it('that cannot be fetched any more still applies', async () => {
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response), { delayMs: 10_000 });
    const store = makeStore(['/v1/a', '/v1/b']);
    store.getHostPolicy = async () => ({ ...MANNERS, robots: 'User-agent: *\nDisallow: /v1/b\n', robots_due: true });
    await run(fakeHosts, store, { timeoutMs: 300 });
    expect(fakeHosts.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    expect(store.samples.map(({ cause }) => cause)).toEqual([null, 'robots_disallowed']);
  });

  it('that cannot be fetched allows everything, is given up like another request, and is requested again', async () => {
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response), { delayMs: 10_000 });
    const store = makeStore(['/v1/a']);
    await run(fakeHosts, store, { timeoutMs: 300 });
    expect(fakeHosts.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    expect([store.samples[0]?.outcome, store.robots.size]).toEqual(['timeout', 0]);
  });
});

describe('a host that asks for a wait', () => {
  const later = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString();

  it('of a moment is waited for', async () => {
    let count = 0;
    const fakeHosts = await openFakeHosts(1, (response) => {
      count += 1;
      if (count === 1) sendStatus(response, 429, { 'retry-after': '1' });
      else sendChallenge(response);
    });
    const store = makeStore(PATHS);
    expect(await run(fakeHosts, store)).toMatchObject({ done: 3, putOff: 0 });
    expect(store.samples.map(({ outcome }) => outcome)).toEqual(['rate_limited', 'payable', 'payable']);
    const [, first, second] = fakeHosts.passed;
    expect((second?.began ?? 0) - (first?.ended ?? 0)).toBeGreaterThanOrEqual(1_000 - SLACK_MS);
    expect(store.waits.size).toBe(0);
  });

  it.each([
    ['429 for two minutes', 429, { 'retry-after': '120' }, 120_000],
    ['503 until a date', 503, { 'retry-after': 'Fri, 20 Nov 2026 13:00:00 GMT' }, 3_600_000],
    ['429 for it does not say how long', 429, {}, 3_600_000],
  ] as const)('by %s gets no request, in this run and the next', async (_how, status, headers, ms) => {
    const fakeHosts = await openFakeHosts(1, (response) => sendStatus(response, status, headers));
    const store = makeStore(PATHS);
    expect(await run(fakeHosts, store)).toEqual({ stopped: false, done: 1, putOff: 2 });
    expect([...store.waits.values()]).toEqual([later(ms)]);
    expect(await run(fakeHosts, store, { now: () => new Date(later(ms - 1)) })).toEqual({
      stopped: false,
      done: 0,
      putOff: 2,
    });
    expect(fakeHosts.listAsked()).toEqual(['/robots.txt', '/v1/a']);
    await run(fakeHosts, store, { now: () => new Date(later(ms)) });
    expect(fakeHosts.listAsked()[2]).toBe('/v1/b');
  });

  it('in its answer to a decoy path gets no further request', async () => {
    const fakeHosts = await openFakeHosts(1, (response, url) =>
      url === '/v1/a' ? sendChallenge(response) : sendStatus(response, 429, { 'retry-after': '120' }),
    );
    const store = makeStore(PATHS);
    store.getHostPolicy = async () => ({ ...MANNERS, robots: '', decoy_due: true });
    expect(await run(fakeHosts, store)).toMatchObject({ done: 1, putOff: 2 });
    expect(store.samples).toMatchObject([{ outcome: 'payable', retry_after_seconds: 120 }]);
    expect([...store.waits.values()]).toEqual([later(120_000)]);
  });

  it('does not delay the others', async () => {
    const fakeHosts = await openFakeHosts(3, (response, _url, host) =>
      host === fakeHosts.hosts[0] ? sendStatus(response, 429, { 'retry-after': '600' }) : sendChallenge(response),
    );
    expect(await run(fakeHosts, makeStore(PATHS), { atOnce: 1 })).toMatchObject({ done: 7, putOff: 2 });
  });
});

describe('a host that answers 402 to every address', () => {
  it('is found as one for each of its routes', async () => {
    const fakeHosts = await openFakeHosts(1, (response) => sendChallenge(response));
    const store = makeStore(PATHS);
    store.getHostPolicy = async () => ({ ...MANNERS, robots: '', decoy_due: true });
    await run(fakeHosts, store);
    expect(store.samples.map(({ outcome }) => outcome)).toEqual(['wildcard_402', 'wildcard_402', 'wildcard_402']);
    expect(store.decoys).toEqual([]);
  });

  it('is not assumed if the first decoy shows otherwise, and no further decoy is requested', async () => {
    const fakeHosts = await openFakeHosts(1, (response, url) =>
      PATHS.includes(url) ? sendChallenge(response) : sendStatus(response, 404),
    );
    const store = makeStore(PATHS);
    store.getHostPolicy = async () => ({ ...MANNERS, robots: '', decoy_due: true });
    await run(fakeHosts, store);
    expect(store.samples.map(({ outcome }) => outcome)).toEqual(['payable', 'payable', 'payable']);
    expect(fakeHosts.listAsked()).toHaveLength(4);
    expect(store.decoys).toEqual(fakeHosts.hosts);
  });
});

describe('a run that is stopped', () => {
  it('leaves no sample of interrupted probes, and the next run repeats no finished one', async () => {
    const fakeHosts = await openFakeHosts(6, (response) => sendChallenge(response), { delayMs: 15 });
    const store = makeStore(PATHS);
    const stopping = new AbortController();
    const record = store.recordSample;
    store.recordSample = async (task, sample) => {
      await record(task, sample);
      if (store.samples.length === 7) stopping.abort();
    };
    const first = await run(fakeHosts, store, { atOnce: 4, signal: stopping.signal });
    expect(first).toEqual({ stopped: true, done: 7, putOff: 0 });
    expect(new Set(store.samples.map(({ outcome }) => outcome))).toEqual(new Set(['payable']));
    const done = new Set(store.samples.map(({ key }) => key));
    const before = fakeHosts.passed.length;
    await sleep(50);
    expect(fakeHosts.passed).toHaveLength(before);
    expect(await run(fakeHosts, store, { atOnce: 4 })).toEqual({ stopped: false, done: 11, putOff: 0 });
    const again = fakeHosts.passed.slice(before).map(({ host, url }) => `${host}${url}`);
    expect(again.filter((asked) => done.has(asked))).toEqual([]);
    expect(store.samples.map(({ key }) => key).toSorted()).toEqual(
      fakeHosts.hosts.flatMap((host) => PATHS.map((path) => `${host}${path}`)).toSorted(),
    );
  });

  it.each([
    ['a second challenge', false],
    ['a made-up address', true],
  ])('while it waits for %s records nothing about the first', async (_what, decoy_due) => {
    const stopping = new AbortController();
    let count = 0;
    const fakeHosts = await openFakeHosts(1, (response) => {
      count += 1;
      if (count === 1) sendChallenge(response);
      else stopping.abort();
    });
    const terms = decoy_due ? [] : [makeTerms({ amount: 10_000, pay_to: `0x${'9'.repeat(40)}` })];
    const store = makeStore(['/v1/a'], { terms });
    store.getHostPolicy = async () => ({ ...MANNERS, robots: '', decoy_due });
    expect(await run(fakeHosts, store, { signal: stopping.signal })).toEqual({ stopped: true, done: 0, putOff: 0 });
    expect(count).toBe(2);
    expect([store.samples, store.decoys]).toEqual([[], []]);
    // Without the stop the same probe is recorded.
    count = 0;
    const answering = await openFakeHosts(1, (response, url) =>
      url === '/v1/a' ? sendChallenge(response) : sendStatus(response, 404),
    );
    await run(answering, store);
    expect(store.samples).toMatchObject([
      { terms: [{ pay_to: PAYEE.toLowerCase() }], payee_rotates: decoy_due ? null : false },
    ]);
  });

  it('before it began sends nothing', async () => {
    const fakeHosts = await openFakeHosts(2, (response) => sendChallenge(response));
    expect(await run(fakeHosts, makeStore(PATHS), { signal: AbortSignal.abort() })).toMatchObject({
      stopped: true,
      done: 0,
    });
    expect(fakeHosts.passed).toEqual([]);
  });
});

describe('a store that fails', () => {
  it.each(['recordSample', 'recordRobots', 'recordWait', 'getHostPolicy', 'listTasks', 'readProviderFile'] as const)(
    'in %s ends the run with its error, and no probe goes on',
    async (name) => {
      const fakeHosts = await openFakeHosts(
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
      store.getHostPolicy = async () => ({ ...MANNERS, provider_file_due: true });
      await expect(run(fakeHosts, { ...store, [name]: fail }, { atOnce: 3 })).rejects.toBe(full);
      const before = fakeHosts.passed.length;
      await sleep(60);
      expect(fakeHosts.passed).toHaveLength(before);
      expect(before).toBeLessThan(3 * 6);
      expect(count).toBeLessThanOrEqual(6);
    },
  );
});
