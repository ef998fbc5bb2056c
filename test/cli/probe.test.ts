import { describe, expect, it } from 'vitest';
import { PROVIDER_FILE_PATH } from '../../src/model/source.ts';
import { inTurn } from '../in-turn.ts';
import { type openSeller, sendChallenge, sendStatus } from '../probing/market.ts';
import { isRoute, makeMarketCommands } from '../probing/probing.ts';
import { makeChallenge, makeOffer } from '../x402/challenges.ts';
import { makeCommands } from './running.ts';

type Sending = Parameters<Parameters<typeof openSeller>[0]>[0];
const QUICK = ['--pause', '0'];
const sell = (response: Sending, url: string) => (isRoute(url) ? sendChallenge(response) : sendStatus(response, 404));
const sellFor = (amount: string) => (response: Sending, url: string) =>
  isRoute(url)
    ? sendChallenge(response, makeChallenge({ accepts: [makeOffer({ amount })] }))
    : sendStatus(response, 404);

describe('probe', () => {
  it('of chosen listings probes each of their routes, and nothing else', async () => {
    const { list, listAsked, runJson, run } = makeMarketCommands();
    const [alpha, beta] = [await list('alpha', sellFor('20000')), await list('beta', sell)];
    const { code, json, stderr } = await runJson('probe', 'alpha', ...QUICK);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Probing: 3 of 3 routes/m);
    expect(json).toEqual({
      ...{ scope: 'chosen', complete: true, hosts: 1, fault_is_ours: false, took_ms: 0 },
      routes: { planned: 3, done_before: 0, probed: 3, put_off: 0 },
      outcomes: { payable_with_changed_terms: 3 },
      listings: { changed: 1, unchanged: 0, delisted: 0, relisted: 0 },
      statements: { stated: 0, changed: 0 },
      revision: { before: 2, after: 3 },
    });
    expect(listAsked(alpha).filter(isRoute).toSorted()).toEqual(['/v1/a', '/v1/b', '/v1/c']);
    expect(beta.asked).toEqual([]);
    expect(alpha.asked[0]?.headers['user-agent']).toMatch(/^agent-payable-apis \(\+https:\/\/apis\.example\/\S+\)$/);
    expect((await runJson('show', 'alpha')).json).toMatchObject({ listing: { price_min: 20_000 } });
    const { stdout } = await run(['probe', 'alpha', 'beta', ...QUICK]);
    expect(stdout).toContain('probed\t6 routes on 2 hosts');
    expect(stdout).toMatch(/^6\tpayable\ta valid 402$/m);
  });

  it('of what is due probes one route of each listing, in turn, and none too early', async () => {
    const { list, listAsked, runJson, setHours } = makeMarketCommands();
    const [alpha, beta] = [await list('alpha', sell), await list('beta', sell)];
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({ scope: 'due', hosts: 2, routes: { probed: 2 } });
    expect((await runJson('probe', '--due', ...QUICK)).json).toMatchObject({
      hosts: 0,
      routes: { planned: 0, probed: 0 },
    });
    setHours(7);
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({ routes: { probed: 2 } });
    setHours(14);
    await runJson('probe', ...QUICK);
    for (const seller of [alpha, beta]) {
      expect(listAsked(seller).filter(isRoute).toSorted()).toEqual(['/v1/a', '/v1/b', '/v1/c']);
    }
  });

  it('requests robots.txt and a decoy path once a day', async () => {
    const { list, runJson, setHours } = makeMarketCommands();
    const alpha = await list('alpha', sell);
    for (const hours of [0, 7, 14, 21]) {
      setHours(hours);
      await runJson('probe', ...QUICK);
    }
    const count = () => [
      alpha.asked.filter(({ url }) => url === '/robots.txt').length,
      alpha.asked.filter(({ url }) => url !== '/robots.txt' && url !== PROVIDER_FILE_PATH && !isRoute(url)).length,
    ];
    expect(count()).toEqual([1, 1]);
    setHours(28);
    await runJson('probe', ...QUICK);
    expect(count()).toEqual([2, 2]);
  });

  it('remembers hosts that ask for a wait, reports them, and ends with 1 if they were chosen', async () => {
    const { list, run, runJson, listAsked, setHours } = makeMarketCommands();
    const alpha = await list('alpha', (response) => sendStatus(response, 429, { 'retry-after': '36000' }));
    const chosen = await run(['probe', 'alpha', ...QUICK]);
    expect(chosen.code).toBe(1);
    expect(chosen.stdout).toContain('put off\t2 routes, because their hosts asked for a wait');
    setHours(9.9);
    expect((await runJson('probe', 'alpha', ...QUICK)).json).toMatchObject({ routes: { probed: 0, put_off: 3 } });
    expect((await run(['probe', ...QUICK])).code).toBe(0);
    expect(listAsked(alpha).filter(isRoute)).toHaveLength(1);
    setHours(10.1);
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({ routes: { probed: 1 } });
  });

  it('skips listings that the operator removed, unless chosen, and those without routes', async () => {
    const { list, runJson, run } = makeMarketCommands();
    await list('alpha', sell);
    await list('empty', sell, []);
    await run(['delist', 'alpha', '--reason', 'as wished']);
    expect((await runJson('probe', '--all', ...QUICK)).json).toMatchObject({ routes: { planned: 0 } });
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({ routes: { planned: 0 } });
    expect((await runJson('probe', 'alpha', 'empty', ...QUICK)).json).toMatchObject({ routes: { probed: 3 } });
    expect((await runJson('show', 'alpha')).json.listing).toMatchObject({ state: 'delisted', state_by: 'operator' });
  });

  it('also reports its own fault if hosts fail that never answered, and records nothing against them', async () => {
    const { list, run } = makeMarketCommands();
    for (let index = 0; index < 5; index += 1) await list(`dead-${index}`, (response) => response.destroy());
    const { stdout } = await run(['probe', ...QUICK]);
    expect(stdout).toContain('the fault is probably ours');
    expect(stdout).not.toContain('used to');
  });

  it('reports that the fault is probably ours', async () => {
    const { list, run, runJson, setHours } = makeMarketCommands();
    let isDown = false;
    for (let index = 0; index < 5; index += 1) {
      await list(`seller-${index}`, (response, url) => (isDown ? response.destroy() : sell(response, url)));
    }
    await run(['probe', ...QUICK]);
    isDown = true;
    setHours(7);
    const { stdout } = await run(['probe', ...QUICK]);
    expect(stdout).toContain('So many hosts failed together that the fault is probably ours');
    setHours(14);
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({
      ...{ fault_is_ours: true, outcomes: { server_error: 5 } },
      listings: { changed: 0, unchanged: 5 },
    });
  });
});

describe('probe --all', () => {
  it('probes every route once in a pass, and continues after a stop', async () => {
    const { list, listAsked, run, runJson, setHours } = makeMarketCommands();
    const stopping = new AbortController();
    let count = 0;
    const sellers = await inTurn(['alpha', 'beta', 'gamma'], (slug) =>
      list(slug, (response, url) => {
        if (isRoute(url)) count += 1;
        if (count === 5) stopping.abort();
        sell(response, url);
      }),
    );
    const stopped = await run(['probe', '--all', '--at-once', '1', ...QUICK], { signal: stopping.signal });
    expect(stopped.code).toBe(1);
    expect(stopped.stdout).toContain('Stopped before the end. The same command continues where it was.');
    const { json, code } = await runJson('probe', '--all', ...QUICK);
    expect(code).toBe(0);
    expect(json).toMatchObject({ complete: true, routes: { planned: 9, done_before: 4, probed: 5 } });
    const asked = sellers.map((seller) => listAsked(seller).filter(isRoute).length);
    // The one that was under way when it was stopped is asked again.
    expect(asked.reduce((sum, one) => sum + one)).toBe(10);
    // A pass that is through is followed by a new one.
    setHours(0.01);
    expect((await runJson('probe', '--all', ...QUICK)).json).toMatchObject({ routes: { done_before: 0, probed: 9 } });
  });

  it('starts again with --again, or after a day', async () => {
    const { list, run, runJson, setHours } = makeMarketCommands();
    const stopping = new AbortController();
    await list('alpha', (response, url) => {
      if (url === '/v1/b') stopping.abort();
      sell(response, url);
    });
    await run(['probe', '--all', ...QUICK], { signal: stopping.signal });
    setHours(1);
    expect((await runJson('probe', '--all', '--again', ...QUICK)).json).toMatchObject({
      routes: { done_before: 0, probed: 3 },
    });
    await run(['probe', '--all', ...QUICK], { signal: AbortSignal.abort() });
    setHours(26);
    expect((await runJson('probe', '--all', ...QUICK)).json).toMatchObject({ routes: { done_before: 0, probed: 3 } });
  });
});

describe('wrong usage of probe', () => {
  it.each([
    [['alpha', '--all'], 'Give slugs, or --all, or --due: one of them.'],
    [['--all', '--due'], 'Give slugs, or --all, or --due: one of them.'],
    [['--watch', '--all'], '--watch probes what is due, and nothing else.'],
    [['--watch', 'alpha'], '--watch probes what is due, and nothing else.'],
    [['--again'], '--again starts a new pass, so it goes with --all.'],
    [['--all', '--at-once', '0'], 'The option --at-once cannot be "0"; it takes at least 1.'],
    [['--all', '--at-once', '257'], 'The option --at-once cannot be "257"; it takes at most 256.'],
    [['--pause', 'soon'], 'The option --pause cannot be "soon"; it takes a number from 0 to 60000.'],
    [['--timeout', '1'], 'The option --timeout cannot be "1"; it takes at least 100.'],
    [['--slow'], "Unknown option '--slow'."],
  ])('%j ends with 2 and one sentence', async (args, sentence) => {
    const { run, runJson } = makeCommands();
    const { code, stdout, stderr } = await run(['probe', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.split('\n')).toEqual([`error: ${sentence}`, expect.stringMatching(/^hint: /), '']);
    expect((await runJson('probe', ...args)).json).toMatchObject({ error: { reason: 'usage', message: sentence } });
  });

  it('does not include an unknown slug, which ends with 1 and the nearest one', async () => {
    const { list, run, listAsked } = makeMarketCommands();
    const alpha = await list('alpha', sell);
    const { code, stderr } = await run(['probe', 'alpha', 'alpa']);
    expect([code, stderr]).toEqual([1, 'error: There is no listing "alpa".\nhint: Did you mean alpha?\n']);
    expect(listAsked(alpha)).toEqual([]);
  });

  it('does not include a missing catalogue, which is not created', async () => {
    const { run } = makeCommands();
    expect(await run(['probe'])).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no catalogue') });
    expect(await run(['status'])).toMatchObject({ code: 1 });
  });
});

describe('after a probe', () => {
  it('the check of the catalogue finds nothing stale', async () => {
    const { list, runJson, setHours } = makeMarketCommands();
    let amount = 10_000;
    await list('alpha', (response, url) => sellFor(String(amount))(response, url));
    await list('beta', (response) => sendStatus(response, 500));
    for (const hours of [0, 7, 14, 21, 28]) {
      setHours(hours);
      amount += hours === 14 ? 500 : 0;
      await runJson('probe', ...QUICK);
      const { json } = await runJson('check');
      expect(
        json.checks.filter(
          ({ name, ok }: { name: string; ok: boolean }) => !ok && !['published', 'pages'].includes(name),
        ),
      ).toEqual([]);
    }
  });

  it('why explains each decision with its evidence', async () => {
    const { list, run, runJson, setHours } = makeMarketCommands();
    let answer = sell;
    await list('alpha', (response, url) => answer(response, url), ['/v1/a']);
    const probeAt = async (hours: number) => {
      setHours(hours);
      await run(['probe', 'alpha', ...QUICK]);
    };
    for (let hours = 0; hours <= 84; hours += 6) await probeAt(hours);
    answer = sellFor('30000');
    await probeAt(90);
    answer = (response) => sendStatus(response, 503);
    for (let hours = 96; hours <= 96 + 14 * 24; hours += 24) await probeAt(hours);
    answer = sell;
    await probeAt(600);
    const { json } = await runJson('why', 'alpha');
    const decisions: { what: string; why: string; evidence: string[] }[] = json.decisions;
    expect(json).toMatchObject({ state: 'live' });
    const find = (what: RegExp) => decisions.filter((decision) => what.test(decision.what));
    expect(find(/^New listing/)).toHaveLength(1);
    expect(find(/^Price 0\.03 USDC, before 0\.01 USDC/)).toMatchObject([
      { why: 'a probe saw it so', evidence: [expect.stringContaining('probe of GET /v1/a')] },
    ]);
    expect(find(/^Reliability .*thin/).length).toBeGreaterThan(0);
    expect(find(/^Networks/).map(({ evidence }) => evidence[0])).toEqual([
      expect.stringContaining('base'),
      expect.stringContaining('base'),
    ]);
    expect(find(/^Delisted by a rule/)).toMatchObject([
      {
        why: 'no valid 402 for 14 days, and at least 10 conclusive failures',
        evidence: [expect.stringMatching(/503/), expect.stringMatching(/^15 conclusive failures since/)],
      },
    ]);
    expect(find(/^Put back/)).toMatchObject([{ why: 'it gives valid 402 answers again' }]);
    // Each is in words, with a reason that has words; that only points of the score moved is none.
    expect(find(/^Looked at again/)).toEqual([]);
    expect(find(/^Reliability .* of 100, thin .* before .* of 100, thin/)).toEqual([]);
    for (const { why, evidence } of decisions)
      expect([why.includes('_'), evidence.some((line) => line.startsWith('{'))]).toEqual([false, false]);
  });
});

describe("a provider's file", () => {
  it('is read at once by a probe of chosen listings, even of one without routes', async () => {
    const { list, runJson, setHours } = makeMarketCommands();
    let statement: unknown = { listed: true };
    const answer = (response: Sending, url: string) => {
      if (url !== PROVIDER_FILE_PATH) return sell(response, url);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ version: 1, listings: [statement] }));
    };
    const [alpha, empty] = [await list('alpha', answer), await list('empty', answer, [])];
    const countReadings = ({ asked }: typeof alpha) => asked.filter(({ url }) => url === PROVIDER_FILE_PATH).length;
    const getState = async (slug: string) => (await runJson('show', slug)).json.listing.state;
    await runJson('probe', ...QUICK);
    expect([countReadings(alpha), await getState('alpha')]).toEqual([1, 'live']);
    statement = { listed: false };
    setHours(0.01);
    await runJson('probe', '--due', ...QUICK);
    await runJson('probe', '--all', ...QUICK);
    expect([countReadings(alpha), await getState('alpha')]).toEqual([1, 'live']);
    expect((await runJson('probe', 'alpha', ...QUICK)).json).toMatchObject({ statements: { stated: 1, changed: 1 } });
    expect([countReadings(alpha), await getState('alpha')]).toEqual([2, 'delisted']);
    statement = { listed: true };
    const before = countReadings(empty);
    await runJson('probe', 'alpha', 'empty', ...QUICK);
    expect([countReadings(alpha), await getState('alpha'), countReadings(empty)]).toEqual([3, 'live', before + 1]);
  });

  it('is read by a scheduled probe after an hour, and can remove a listing and put it back', async () => {
    const { list, runJson, setHours } = makeMarketCommands();
    let listed = false;
    const alpha = await list('alpha', (response, url) => {
      if (url !== PROVIDER_FILE_PATH) return sell(response, url);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ version: 1, listings: [{ listed, reason: 'we are moving' }] }));
    });
    const getListing = async () => (await runJson('show', 'alpha')).json.listing;
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({
      routes: { probed: 0 },
      statements: { stated: 1, changed: 1 },
    });
    expect(await getListing()).toMatchObject({ state: 'delisted', state_by: 'provider' });
    setHours(1);
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({ hosts: 0 });
    listed = true;
    setHours(1.01);
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({ hosts: 1, statements: { changed: 1 } });
    expect(await getListing()).toMatchObject({ state: 'live' });
    expect(alpha.asked.filter(({ url }) => url === PROVIDER_FILE_PATH)).toHaveLength(2);
    setHours(7);
    expect((await runJson('probe', ...QUICK)).json).toMatchObject({ routes: { probed: 1 } });
  });
});

it('needs no key: a wallet in the settings stops the run before any request', async () => {
  const { run } = makeCommands({ PAYER_SOLANA_KEY_FILE: '/run/keys/solana' });
  const { code, stderr } = await run(['probe']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: PAYER_SOLANA_KEY_FILE is set in the environment, /),
  ]);
  expect(stderr).toContain('.env.payer');
});
