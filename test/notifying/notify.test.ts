import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProvidersPage } from '../../src/views/pages/providers-page.ts';
import { IDENTITY, NOW, recordReceiptFor } from '../builders.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { ASKED } from '../probing/probing.ts';
import { sendChallenge, sendStatus } from '../probing/sending.ts';
import { SITE } from '../site.ts';
import { makeChallenge, makeOffer } from '../x402/challenges.ts';
import { makeTold, takeAll } from './receiver.ts';

const DAY = 24;

/** Lists the names of all fields, in their order. */
function listKeys(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...listKeys(inner)]);
}

describe('a provider that asks to be told', () => {
  it('gets a challenge first, and hears of a route that fails by the probe that saw it', async () => {
    const { provider, probeAll, listEvents } = await makeTold();
    await probeAll(0);
    expect(await listEvents()).toMatchObject([
      { type: 'challenge', timestamp: NOW, data: { challenge: expect.stringMatching(/^\S{32}$/) } },
    ]);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    await probeAll(7);
    const [, ...events] = await listEvents();
    expect(events).toEqual([
      {
        id: expect.stringMatching(/^event_\S{43}$/),
        type: 'failing',
        timestamp: '2026-11-20T19:00:00.000Z',
        data: {
          listing: expect.any(String),
          slug: 'alpha',
          page: 'https://apis.example/api/alpha',
          json: 'https://apis.example/agent/listings/alpha',
          revision: expect.any(Number),
          what: {
            total: 1,
            routes: [{ route: 'GET /v1/a', since: '2026-11-20T19:00:00.000Z', outcome: 'server_error', status: 500 }],
          },
        },
      },
    ]);
    const { event } = buildProvidersPage(SITE).notify;
    expect(listKeys(events[0])).toEqual(['id', ...listKeys(JSON.parse(event))]);
    // The same failure is told once, and its end lets the next one be told.
    await probeAll(14);
    expect(await listEvents()).toHaveLength(2);
    provider.answerRoutes = (response) => sendChallenge(response);
    await probeAll(21);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    await probeAll(28);
    expect((await listEvents()).map(({ type }) => type)).toEqual(['challenge', 'failing', 'failing']);
  });

  it('hears of prices, cautions and removals, each with the revision that shows it', async () => {
    const { provider, probeAll, run, listEvents, runJson } = await makeTold();
    await probeAll(0);
    provider.answerRoutes = (response) =>
      sendChallenge(response, makeChallenge({ accepts: [makeOffer({ amount: '25000' })] }));
    await probeAll(7);
    const { revision } = (await runJson('show', 'alpha')).json.listing;
    const told = (await listEvents()).slice(1);
    expect(told.toSorted((a, b) => (a.type < b.type ? -1 : 1))).toMatchObject([
      { type: 'caution', data: { revision, what: { cautions: [{ code: 'price_above_record', route: 'GET /v1/a' }] } } },
      {
        type: 'price_changed',
        data: { revision, what: { prices: [{ from: { min: 10_000 }, to: { min: 25_000, max: 25_000 } }], total: 1 } },
      },
    ]);
    expect((await run(['delist', 'alpha', '--reason', 'harmful'])).code).toBe(0);
    await probeAll(8);
    expect((await listEvents()).at(-1)).toMatchObject({
      type: 'removed',
      data: { what: { state: 'delisted', by: 'operator', reason: 'harmful' } },
    });
  });

  it('hears once that a proof comes near its end', async () => {
    const { provider, probeAll, probeDue, listEvents, file } = await makeTold();
    await probeAll(0);
    const catalogue = await openNewCatalogue(file, { identity: IDENTITY, at: NOW });
    const { amount, pay_to } = ASKED;
    await recordReceiptFor(catalogue, 'alpha', {
      amount,
      pay_to: pay_to ?? '',
      settled_at: '2026-11-20T13:00:00.000Z',
    });
    await catalogue.close();
    for (let days = 6; days < 100; days += 6) await probeDue(days * DAY);
    const proofs = (await listEvents()).filter(({ type }) => type === 'proof_expires');
    expect(proofs).toMatchObject([
      { data: { what: { ending: [{ route: 'GET /v1/a', old_at: '2027-02-18T13:00:00.000Z' }] } } },
    ]);
    expect(provider.listHooked()).toHaveLength(2);
  });

  it('hears only what it asks for, and nothing once its file no longer asks', async () => {
    const { provider, probeAll, listEvents } = await makeTold();
    provider.notify = { webhook: '/events', on: ['removed', 'caution'] };
    await probeAll(0);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    await probeAll(7);
    expect(await listEvents()).toHaveLength(1);
    provider.notify = undefined;
    for (const hours of [14, 21]) await probeAll(hours);
    expect(await listEvents()).toHaveLength(1);
  });

  it('gets a test event whenever its file names another text', async () => {
    const { provider, probeAll, listEvents } = await makeTold();
    for (const [at, test] of ['one', 'one', 'two'].entries()) {
      provider.notify = { webhook: '/events', test };
      await probeAll(at);
    }
    const [, ...events] = await listEvents();
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['test', { revision: expect.any(Number), what: { test: 'one' } }],
      ['test', { revision: expect.any(Number), what: { test: 'two' } }],
    ]);
  });

  it('is told at most ten times a day: the tenth says so, and the next one how many were left out', async () => {
    const { provider, probeAll, listEvents } = await makeTold();
    await probeAll(12);
    for (let flap = 0; flap < 14; flap += 1) {
      provider.answerRoutes = (response) => (flap % 2 === 0 ? sendStatus(response, 500) : sendChallenge(response));
      await probeAll(12.1 + flap / 4);
    }
    for (let flap = 0; flap < 14; flap += 1) {
      const amount = String(11_000 + flap);
      provider.answerRoutes = (response) =>
        sendChallenge(response, makeChallenge({ accepts: [makeOffer({ amount })] }));
      await probeAll(16 + flap / 4);
    }
    const events = (await listEvents()).slice(1);
    expect(events).toHaveLength(10);
    expect(events.map(({ data }) => data.last_of_day)).toEqual([...Array(9).fill(undefined), true]);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    await probeAll(38);
    expect((await listEvents()).at(-1)?.data.left_out).toBeGreaterThan(5);
  });
});

it('probe --watch tells beside its probes, and ends when it is stopped', async () => {
  const { provider, run, setHours, listEvents } = await makeTold();
  setHours(0);
  const stopping = new AbortController();
  provider.notify = { webhook: '/events', test: 'one' };
  provider.answerHook = (response, asked) => {
    takeAll(response, asked);
    if (asked.body.includes('"type":"test"')) stopping.abort();
  };
  const { code } = await run(['probe', '--watch', '--pause', '0'], { signal: stopping.signal });
  expect(code).toBe(0);
  expect((await listEvents()).map(({ type }) => type)).toEqual(['challenge', 'test']);
});

describe('a webhook', () => {
  it.each<[string, typeof takeAll]>([
    ['does not repeat the challenge', (response) => sendStatus(response, 200)],
    ['repeats all it is sent', (response, { body }) => response.writeHead(200).end(body)],
    ['fails', (response) => sendStatus(response, 500)],
    ['redirects', (response) => sendStatus(response, 307, { location: 'http://169.254.169.254/' })],
  ])('that %s gets nothing but challenges, again with each reading of the file', async (_, answer) => {
    const { provider, probeAll, listEvents } = await makeTold();
    provider.answerHook = answer;
    await probeAll(0);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    for (const hours of [7, 14]) await probeAll(hours);
    expect((await listEvents()).map(({ type }) => type)).toEqual(['challenge', 'challenge', 'challenge']);
  });

  it('that is down gets an event again after growing pauses, with the same id, and is off after the sixth', async () => {
    const { provider, probeAll, probeDue, listEvents, askJson, readPage } = await makeTold();
    await probeAll(0);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    provider.answerHook = (response) => sendStatus(response, 503);
    await probeAll(7);
    const minutes = [1, 5, 30, 120, 480];
    let hours = 7;
    for (const [done, pause] of minutes.entries()) {
      await probeDue(hours + (pause - 0.5) / 60);
      expect(provider.listHooked()).toHaveLength(done + 2);
      hours += pause / 60;
      await probeDue(hours);
      expect(provider.listHooked()).toHaveLength(done + 3);
    }
    const failing = (await listEvents()).filter(({ type }) => type === 'failing');
    expect(failing).toHaveLength(6);
    expect(new Set(failing.map(({ id }) => id)).size).toBe(1);
    const findOff = async () => (await askJson('/agent/listings/alpha')).listing.webhook_off_since;
    expect(await findOff()).toBe('2026-11-21T05:36:00.000Z');
    const WORDS = 'Its webhook took no events, so none are sent since 2026-11-21 . What turns it on again';
    expect(await readPage('/api/alpha')).toContain(WORDS);
    await probeDue(30);
    // The caution of the third failure in a row is told nobody.
    expect((await listEvents()).filter(({ type }) => type !== 'challenge')).toHaveLength(6);
    provider.answerHook = takeAll;
    provider.notify = { webhook: '/events', test: 'again' };
    await probeAll(32);
    expect((await listEvents()).slice(-2).map(({ type }) => type)).toEqual(['challenge', 'test']);
    expect(await findOff()).toBeUndefined();
    expect(await readPage('/api/alpha')).not.toContain('webhook');
  });

  it('that answers 410 is off at once', async () => {
    const { provider, probeAll, listEvents, run, runJson } = await makeTold();
    await probeAll(0);
    const getWebhooks = async () => /^webhooks\t(.*)$/m.exec((await run(['status'])).stdout)?.[1];
    expect(await getWebhooks()).toMatch(/^1 on, 0 off, 0 without .*; 0 events waiting, 0 delivered/);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    provider.answerHook = (response) => sendStatus(response, 410);
    await probeAll(7);
    expect(await getWebhooks()).toMatch(/^0 on, 1 off, .* 0 delivered and 1 failed/);
    const { stdout: figures } = await run(['metrics']);
    expect(figures).toMatch(/^catalogue_webhooks\{state="off"\} 1$/m);
    expect(figures).toMatch(/^catalogue_webhook_events\{state="failed"\} 1$/m);
    await probeAll(14);
    expect(await listEvents()).toHaveLength(2);
    expect((await runJson('show', 'alpha')).json.listing.webhook_off_since).toBe('2026-11-20T19:00:00.000Z');
  });

  it('that never ends its answer, or never begins it, holds up nobody', async () => {
    const { provider, probeAll, probeDue, listEvents } = await makeTold();
    await probeAll(0);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    provider.answerHook = (response) => {
      const piece = 'x'.repeat(10_000);
      const write = () => !response.destroyed && response.write(piece, () => setImmediate(write));
      response.writeHead(200);
      write();
    };
    // All that matters of it is the status.
    await probeAll(7);
    await probeDue(8);
    expect(await listEvents()).toHaveLength(2);
    provider.answerRoutes = (response) => sendChallenge(response);
    await probeAll(14);
    provider.answerRoutes = (response) => sendStatus(response, 500);
    provider.answerHook = () => undefined;
    await probeAll(21);
    provider.answerHook = takeAll;
    await probeDue(21.1);
    const [, , slow, again] = await listEvents();
    expect(again?.id).toBe(slow?.id);
  });
});

describe('the key of webhooks', () => {
  it('is made for the first event, in a file of its owner alone, and is never in the catalogue', async () => {
    const { probeAll, folder, file, getKey, askJson } = await makeTold();
    expect(await askJson('/.well-known/webhook-keys.json')).toEqual({ keys: [] });
    await probeAll(0);
    const key = join(folder, 'notify-key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const secret = readFileSync(key, 'utf8').trim();
    expect(secret).toMatch(/^whsk_\S{44}$/);
    expect(await getKey()).toMatch(/^whpk_\S{44}$/);
    for (const name of [file, `${file}-wal`]) {
      expect(readFileSync(name, { flag: 'a+' }).includes(secret.slice(5))).toBe(false);
    }
  });

  it('of another machine than the published one signs nothing, and a new one takes its place', async () => {
    const { probe, setHours, run, probeAll, provider, folder, getKey, listEvents } = await makeTold();
    await probeAll(0);
    const before = await getKey();
    writeFileSync(join(folder, 'notify-key'), `whsk_${Buffer.alloc(32, 7).toString('base64')}`, { mode: 0o600 });
    provider.notify = { webhook: '/events', test: 'one' };
    setHours(2);
    expect((await run(['probe', 'alpha', '--pause', '0'])).stderr).toMatch(/is not the published one, whpk_/);
    expect([await getKey(), provider.listHooked().length]).toEqual([before, 1]);
    rmSync(join(folder, 'notify-key'));
    await probe(3, 'alpha');
    expect(await getKey()).not.toBe(before);
    provider.seller.asked.splice(
      0,
      provider.seller.asked.findIndex(({ body }) => body.includes('"test"')),
    );
    expect(await listEvents()).toMatchObject([{ type: 'test' }]);
  });
});
