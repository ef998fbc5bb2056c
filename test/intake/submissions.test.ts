import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openQueue, readQueue } from '../../src/submissions/queue.ts';
import { makeFolder } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { check, openIntake, openProvider } from './intake.ts';
import { askJson, FILE, openShop, serveWithIntake, writeShopFile } from './serving.ts';

describe('a submission', () => {
  it('waits for the file, says what is there instead, and is received once the file is there and good', async () => {
    const intake = await openIntake();
    const { origin, files } = await openShop();
    const submitted = await askJson(`${intake.url}/submit/list`, { url: origin });
    expect([submitted.status, submitted.json]).toMatchObject([
      201,
      { host: origin, state: 'problems', file: null, file_url: `${origin}${FILE}`, problems: [], checking: false },
    ]);
    const { pathname } = new URL(submitted.json.submission_url);
    expect(pathname).toMatch(/^\/submit\/list\/[\w-]{24}$/);
    const address = `${intake.url}${pathname}`;
    const isThere = () => askJson(address, {});
    expect((await isThere()).json).toMatchObject({
      state: 'problems',
      reason: `The file is not there. ${origin}${FILE} came as: 404, 0 bytes.`,
    });
    files[FILE] = writeShopFile(origin, 'free');
    const wrong = (await isThere()).json;
    expect(wrong).toMatchObject({
      state: 'problems',
      problems: [{ passed: false, place: expect.stringContaining('/facts') }],
    });
    files[FILE] = writeShopFile(origin);
    const good = await isThere();
    expect([good.status, good.json]).toMatchObject([200, { state: 'received', problems: [] }]);
    const seen = await askJson(`${address}.json`);
    expect([seen.headers.get('x-robots-tag'), seen.headers.get('referrer-policy')]).toEqual(['noindex', 'no-referrer']);
    expect(seen.json.history.map(({ state }: { state: string }) => state)).toEqual([
      ...['problems', 'problems', 'problems', 'received'],
    ]);
    expect(readQueue(intake.config.submissionsFile, (queue) => queue.listReceived('')) ?? []).toMatchObject([
      { origin },
    ]);
  });

  it('is the same to everybody who submits the host, and shows nothing that one of them typed', async () => {
    const intake = await openIntake();
    const { origin } = await openShop();
    const first = await askJson(`${intake.url}/submit/list`, { url: `${origin}/v1/quote?a=secret`, about: 'My words' });
    const second = await askJson(`${intake.url}/submit/list`, { url: origin });
    expect(second.json).toMatchObject({ submission_url: first.json.submission_url, file: null });
    expect(JSON.stringify([first.json, second.json])).not.toMatch(/My words|secret/);
  });

  it('of an older version is read in the words of today', async () => {
    const intake = await openIntake();
    const { origin } = await openShop();
    const { json } = await askJson(`${intake.url}/submit/list`, { url: origin });
    const sqlite = new Sqlite(intake.config.submissionsFile);
    onTestFinished(() => void sqlite.close());
    const rename = "state = 'waiting_for_file', document = replace(document, '\"problems\",', '\"waiting_for_file\",')";
    sqlite.exec(`UPDATE submissions SET ${rename}`);
    expect(readFileSync(intake.config.submissionsFile, 'latin1')).toContain('waiting_for_file');
    const { pathname } = new URL(json.submission_url);
    const seen = await askJson(`${intake.url}${pathname}`);
    expect(seen.json).toMatchObject({ state: 'problems', history: [{ state: 'problems' }] });
    expect(readQueue(intake.config.submissionsFile, (queue) => queue.count())?.submissions.problems).toBe(1);
  });

  it('has its file filled in by what the check found: the document, or the routes', async () => {
    const intake = await openIntake();
    const { origin, files } = await openShop();
    await check(intake, { url: `${origin}/v1/quote` });
    const ofRoute = await askJson(`${intake.url}/submit/list`, { url: origin });
    const [listing] = JSON.parse(ofRoute.json.file).listings;
    expect(listing).toMatchObject({
      base_url: origin,
      facts: { routes: [{ method: 'GET', path: '/v1/quote', price_usdc: '0.01' }] },
    });
    files['/.well-known/x402'] = JSON.stringify({ version: 1, resources: [`GET ${origin}/v1/quote`] });
    await check(intake, { url: origin });
    const ofDocument = await askJson(`${intake.url}/submit/list`, { url: origin });
    expect(JSON.parse(ofDocument.json.file).listings[0].openapi).toBe(`${origin}/.well-known/x402`);
    files[FILE] = ofDocument.json.file;
    const { pathname } = new URL(ofDocument.json.submission_url);
    expect((await askJson(`${intake.url}${pathname}`, {})).json).toMatchObject({ state: 'received' });
  });

  it('is filled in by a check before the intake ended, whose limits hold afterwards', async () => {
    const SUBMISSIONS = join(makeFolder(), 'submissions.sqlite');
    const { origin } = await openShop();
    let time = 0;
    const open = () => openIntake({ settings: { SUBMISSIONS }, now: () => (time += 30_000) });
    const first = await open();
    for (let number = 0; number < 10; number += 1)
      expect((await check(first, { url: `${origin}/v1/quote` })).status).toBe(200);
    await first.close();
    const second = await open();
    expect((await check(second, { url: origin })).json.code).toBe('domain_limit');
    const { json } = await askJson(`${second.url}/submit/list`, { url: origin });
    expect(json.file).toContain('"path": "/v1/quote"');
  });

  it('is not filled in by a check that ended with the intake, nor by one of a clock that was ahead', async () => {
    const SUBMISSIONS = join(makeFolder(), 'submissions.sqlite');
    const { origin } = await openShop();
    let time = Date.now() + 365 * 86_400_000;
    const open = () => openIntake({ settings: { SUBMISSIONS }, now: () => (time += 30_000) });
    const ahead = await open();
    expect((await check(ahead, { url: `${origin}/v1/quote` })).json).toMatchObject({ valid: true });
    await ahead.close();
    time = Date.now();
    const stopped = await open();
    const hanging = await openProvider(() => undefined);
    const asked = check(stopped, { url: hanging.origin });
    await expect.poll(() => hanging.asked.length).toBeGreaterThan(0);
    await stopped.close();
    expect((await asked).json.checks).toContainEqual(
      expect.objectContaining({ detail: 'The check ended because this service was stopped, before all was asked.' }),
    );
    const { reports, close } = openQueue(SUBMISSIONS);
    onTestFinished(close);
    expect([origin, hanging.origin].map((one) => reports.findLatest(one, time))).toEqual([undefined, undefined]);
    expect(reports.listChecks(new URL(origin).host, time)).toEqual([]);
  });

  it('keeps the intake until it is known what becomes of it, and nothing else does for longer than ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    let time = Date.now();
    const intake = await openIntake({ now: () => time });
    const wait = (minutes: number) => {
      time += minutes * 60_000;
      vi.advanceTimersByTime(10_000);
      return intake.idle.length > 0;
    };
    expect([wait(9.9), wait(0.2)]).toEqual([false, true]);
    const { origin, files } = await openShop();
    const { json } = await askJson(`${intake.url}/submit/list`, { url: origin });
    files[FILE] = writeShopFile(origin);
    const { pathname } = new URL(json.submission_url);
    expect((await askJson(`${intake.url}${pathname}`, {})).json).toMatchObject({ state: 'received' });
    intake.idle.length = 0;
    expect(wait(60)).toBe(false);
  });

  it('is refused for what nobody can call, to whom asks too often, and where there is none', async () => {
    const intake = await openIntake({ now: () => 0 });
    expect((await askJson(`${intake.url}/submit/list`, { url: 'x' })).json.code).toBe('bad_address');
    const gone = await askJson(`${intake.url}/submit/list/${'x'.repeat(24)}.json`, undefined, { Accept: '*/*' });
    expect([gone.status, gone.json.code]).toEqual([404, 'no_submission']);
    const { origin } = await openShop();
    await askJson(`${intake.url}/submit/list`, { url: origin });
    expect((await askJson(`${intake.url}/submit/list/${encodeURIComponent(origin)}`)).status).toBe(404);
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        askJson(`${intake.url}/submit/list`, { url: `http://127.0.0.1:${2000 + at}` }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 429, 429]);
    expect(existsSync(intake.config.submissionsFile)).toBe(true);
  });
});

describe('an empty host', () => {
  it('is live in four requests: check, list, it is there, look', async () => {
    const server = await serveWithIntake({ count: 0 });
    const { origin, files, asked } = await openShop();
    server.startProber();
    const report = await askJson(`${server.url}/providers/check`, { url: origin });
    expect(report.json).toMatchObject({ listings: [], valid: false });
    const submitted = await askJson(`${server.url}/submit/list`, { url: origin });
    files[FILE] = writeShopFile(origin);
    const there = await askJson(submitted.json.submission_url, {});
    expect(there.json).toMatchObject({ state: 'received' });
    const look = async () => (await askJson(submitted.json.submission_url)).json;
    await expect.poll(look).toMatchObject({ state: 'listed' });
    const { listings, next } = await look();
    expect(listings).toMatchObject([
      { title: new URL(origin).host, page_url: expect.stringContaining(`${server.url}/api/`) },
    ]);
    expect(next.map(({ what }: { what: string }) => what)).toEqual([
      ...['First probe', 'Score of reliability', 'Proof that a payment brings the product'],
    ]);
    const badge = /\((\S+\.svg)\)/.exec(listings[0].badge)?.[1] ?? '';
    expect((await fetch(badge)).headers.get('content-type')).toContain('image/svg+xml');
    expect((await fetch(listings[0].page_url)).status).toBe(200);
    await expect.poll(async () => (await look()).next[0]).toMatchObject({ done: true });
    expect(asked).toContain('GET /v1/quote');
  });

  it('whose listing the operator removed hears why, and is listed again once it is put back', async () => {
    const { url, settings } = await serveWithIntake({ count: 0 });
    const { run } = makeCommands(settings);
    const { origin, files } = await openShop();
    const { json } = await askJson(`${url}/submit/list`, { url: origin });
    files[FILE] = writeShopFile(origin);
    const operate = async (...args: string[]) => expect((await run(args)).code).toBe(0);
    const look = async () => (await askJson(json.submission_url)).json;
    const waitFor = (expected: object) => expect.poll(look).toMatchObject(expected);
    await askJson(json.submission_url, {});
    await operate('submissions', 'take', new URL(origin).origin);
    await waitFor({ state: 'listed' });
    const [, slug = ''] = /\/api\/([^/]+)/.exec((await look()).listings[0].page_url) ?? [];
    await operate('delist', slug, '--reason', 'It imitates another');
    await askJson(json.submission_url, {});
    await waitFor({ state: 'problems', reason: expect.stringMatching(/^The operator removed it on .*: It imitates/) });
    await operate('relist', slug);
    await waitFor({ state: 'listed' });
  });
});
