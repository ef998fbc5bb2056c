import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLimits, openPseudonyms } from '../../src/intake/limits.ts';
import { openQueue } from '../../src/submissions/queue.ts';
import { makeFolder } from '../builders.ts';
import { FORBIDDEN_ADDRESSES, FORBIDDEN_HOSTS } from '../fetching/forbidden-spellings.ts';
import { openCounter, openOutside, PUBLIC_ADDRESS } from '../fetching/outside.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { encodeHeader, makeChallenge } from '../x402/challenges.ts';
import { check, openIntake, openProvider } from './intake.ts';

const PUBLIC = { ALLOW_PRIVATE_NETWORKS: 'off' };

/** An intake with the real checks, for which every public address is the server of `answer`. */
async function openTarget(
  answer: Parameters<typeof openOutside>[0],
  resolve: (name: string) => readonly string[] = () => [PUBLIC_ADDRESS],
) {
  const outside = await openOutside(answer);
  onTestFinished(() => outside.close());
  const network = { ...outside.network, resolve: async (name: string) => resolve(name) };
  const intake = await openIntake({ settings: PUBLIC, network, isDaily: true });
  return { outside, intake };
}

function openTestLimits(now: () => number) {
  const queue = openQueue(join(makeFolder(), 'submissions.sqlite'));
  onTestFinished(queue.close);
  return openLimits({ now, pseudonymise: openPseudonyms('a key'), kept: queue.reports, isLocalAllowed: false });
}

async function submit({ url }: { url: string }, address: string): Promise<number> {
  const body = new URLSearchParams({ url: address });
  return (await fetch(`${url}/submit`, { method: 'POST', body, redirect: 'manual' })).status;
}

describe('an address that nobody may ask', () => {
  it('is refused in every spelling, as JSON and in the form, without a connection', async () => {
    const counter = await openCounter();
    onTestFinished(() => counter.close());
    const network = { resolve: async () => [PUBLIC_ADDRESS], reroute: () => '127.0.0.1' };
    const intake = await openIntake({ settings: PUBLIC, network, isDaily: true });
    const addresses = [
      ...FORBIDDEN_HOSTS.flatMap(([, hosts]) =>
        hosts.flatMap((host) => [`https://${host}:{port}/`, `${host}:{port}/`]),
      ),
      // What is written with http:// is asked over TLS.
      ...FORBIDDEN_ADDRESSES.filter(([reason]) => reason !== 'not_https').map(([, address]) => address),
    ].map((address) => address.replaceAll('{port}', String(counter.port)));
    for (const url of addresses) {
      expect([url, (await check(intake, { url })).status]).toEqual([url, 400]);
      expect([url, await submit(intake, url)]).not.toEqual([url, 303]);
    }
    expect(counter.getConnectionCount()).toBe(0);
  });

  it('is not asked where a name leads to it, at once or later, and is not named', async () => {
    const answers = [['10.11.12.13'], [PUBLIC_ADDRESS, 'fd12::1'], [PUBLIC_ADDRESS], ['10.11.12.13']];
    const { outside, intake } = await openTarget(
      (_, __, response) => void response.writeHead(404, { connection: 'close' }).end(),
      () => answers.shift() ?? ['10.11.12.13'],
    );
    for (const path of ['/a', '/b', '']) {
      const { status, json } = await check(intake, { url: outside.url(path) });
      expect([status, json.valid]).toEqual([200, false]);
      expect(JSON.stringify(json)).not.toMatch(/10\.11\.12\.13|fd12::1/);
    }
    expect(new Set(outside.dialled)).toEqual(new Set([PUBLIC_ADDRESS]));
  });

  it('is not asked where a redirect or a document leads to it', async () => {
    const counter = await openCounter();
    onTestFinished(() => counter.close());
    const places = [
      `https://127.0.0.1:${counter.port}/`,
      `http://127.0.0.1:${counter.port}/`,
      `https://[::ffff:127.0.0.1]:${counter.port}/`,
      `//2130706433:${counter.port}/`,
      `https://localhost:${counter.port}/`,
      'https://169.254.169.254/latest/meta-data/',
      'https://elsewhere.example/',
      'https://user:secret@provider.example/',
      'https://provider.example:25/',
    ];
    for (const place of places) {
      const { outside, intake } = await openTarget((request, _, response) => {
        if (request.url === '/openapi.json')
          response.end(JSON.stringify({ openapi: '3.1.0', servers: [{ url: place }], paths: {} }));
        else if (request.url === '/.well-known/x402')
          response.end(JSON.stringify({ resources: [{ url: place, method: 'POST', price: '0.01' }], openapi: place }));
        else response.writeHead(307, { location: place }).end();
      });
      for (const path of ['', '/v1/x']) expect((await check(intake, { url: outside.url(path) })).status).toBe(200);
      expect([place, outside.resolved.filter((name) => name !== 'provider.example')]).toEqual([place, []]);
      expect([place, outside.received.filter(({ method }) => method !== 'GET')]).toEqual([place, []]);
    }
    expect(counter.getConnectionCount()).toBe(0);
  });

  it('is ourselves, at any port and with a dot behind', async () => {
    const { outside, intake } = await openTarget((_, __, response) => void response.end('{}'));
    for (const url of ['https://catalogue.example:8443/x', 'https://catalogue.example./x', 'http://catalogue.example'])
      expect([url, JSON.stringify((await check(intake, { url })).json.asked)]).toEqual([
        url,
        expect.stringContaining('This service does not check itself.'),
      ]);
    expect(outside.received).toEqual([]);
  });
});

describe('the limits of a host', () => {
  it.each([
    ['names that say one address', (at: number) => `https://a${at}.93.184.216.34.nip.io/x`],
    ['names that say one address with hyphens', (at: number) => `https://a${at}-93-184-216-34.sslip.io/x`],
    ['addresses of one IPv6 network', (at: number) => `https://[2606:2800:21f:cb07::${at + 1}]/x`],
    ['addresses of one IPv4 network', (at: number) => `https://93.184.216.${at + 1}/x`],
    ['ports', (at: number) => `https://93.184.216.34:${8000 + at}/x`],
    ['hosts of one domain', (at: number) => `https://a${at}.provider.example${at % 2 ? '' : ':8443'}/x`],
    ['spellings', (at: number) => `https://${at % 2 ? 'PROVIDER.example' : 'provider.EXAMPLE'}/x?${at}`],
  ])('hold for %s together', (_, name) => {
    let time = 0;
    const limits = openTestLimits(() => (time += 15_000));
    const codes = Array.from({ length: 14 }, (__, at) => {
      const { href } = new URL(name(at));
      const refusal = limits.begin(`203.0.113.${at}`, href);
      if (!refusal) limits.end(href, false);
      return refusal?.code ?? 'begun';
    });
    expect(codes.filter((code) => code === 'begun')).toHaveLength(10);
    expect(codes.at(-1)).toBe('domain_limit');
  });

  it('are ten checks an hour for all, each of a client of another network', () => {
    let time = 0;
    const limits = openTestLimits(() => (time += 15_000));
    const codes = Array.from({ length: 12 }, (_, at) => {
      const refusal = limits.begin(`203.0.${at}.1`, 'https://api.provider.example/x');
      if (!refusal) limits.end('https://api.provider.example/x', false);
      return refusal?.code ?? 'begun';
    });
    expect(codes.filter((code) => code === 'begun')).toHaveLength(10);
    expect(codes.at(-1)).toBe('domain_limit');
  });

  it.each([
    [false, 20],
    [true, 60],
  ])('with the file of its provider on it, %s, are so many checks a day for all: %i', (hasFile, most) => {
    let time = 0;
    const limits = openTestLimits(() => time);
    let begun = 0;
    // Of four an hour, each three are of a client of another network.
    for (; time < 20 * 60 * 60 * 1000; time += 900_000) {
      const refusal = limits.begin(`203.0.${Math.floor(begun / 3)}.1`, 'https://api.provider.example/x');
      if (refusal) expect([begun, refusal.code]).toEqual([most, 'domain_limit']);
      else begun += 1;
      if (!refusal) limits.end('https://api.provider.example/x', hasFile);
    }
    expect(begun).toBe(most);
  });

  it('let nobody keep another client from a host, with our file on it or without', () => {
    for (const hasFile of [false, true]) {
      let time = 0;
      const limits = openTestLimits(() => time);
      const check = (client: string) => {
        const refusal = limits.begin(client, 'https://api.provider.example/x');
        if (!refusal) limits.end('https://api.provider.example/x', hasFile);
        return refusal?.code ?? 'begun';
      };
      for (; time < 23 * 60 * 60 * 1000; time += 120_000) check('203.0.113.7');
      expect([check('203.0.113.8'), check('198.51.100.7'), check('198.51.100.7')]).toEqual([
        'domain_limit',
        'begun',
        'begun',
      ]);
    }
  });

  it('of a client hold whatever it says of itself', async () => {
    const intake = await openIntake({ now: () => 0 });
    const { origin } = await openProvider((_, response) => void response.writeHead(404).end());
    const names = [
      '1.1.1.1',
      'unknown',
      '::1',
      '203.0.113.9',
      'x'.repeat(4_000),
      '[2001:db8::1]:80',
      '1.2.3.4, 5.6.7.8',
    ];
    const answers = await Promise.all(
      names.map((name, at) =>
        check(
          intake,
          { url: origin.replace(/\d+$/, String(20_000 + at)) },
          { 'X-Forwarded-For': `${name}, 203.0.113.9` },
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });
});

/** Counts the bytes of answers that left a provider. */
async function countBytes(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  let bytes = 0;
  const provider = await openProvider((request, response) => {
    const { socket } = request;
    const before = socket.bytesWritten;
    socket.once('close', () => (bytes += socket.bytesWritten - before));
    response.setHeader('connection', 'close');
    answer(request, response);
  });
  return { ...provider, getBytes: () => bytes };
}

const many = Array.from({ length: 32 }, (_, at) => ({ url: `/v1/${at}`, method: 'GET', price: '0.01' }));
const LIST = JSON.stringify({ version: 1, resources: many });
const BOMB = gzipSync(Buffer.alloc(20_000_000));

describe('what a hostile host sends', () => {
  it.each([
    [
      'a body that breaks off',
      (response: ServerResponse) => {
        response.writeHead(402, { 'content-length': 1_000_000 });
        response.write('x'.repeat(900_000), () => response.destroy());
      },
    ],
    ['a bomb', (response: ServerResponse) => response.setHeader('content-encoding', 'gzip').end(BOMB)],
    [
      'a flood of headers',
      (response: ServerResponse) => response.setHeader('x-a', 'x'.repeat(125_000)).writeHead(402).end(),
    ],
    [
      'a flood of answers before the answer',
      (response: ServerResponse) => {
        for (let at = 0; at < 5; at += 1)
          response.writeEarlyHints({ link: '</a>; rel=preload', 'x-a': 'x'.repeat(60_000) });
        response.writeHead(402).end();
      },
    ],
  ])('costs no more than 5 MB and a little: %s', async (_, send) => {
    const { origin, getBytes, asked } = await countBytes((request, response) => {
      if (request.url === '/.well-known/x402') response.end(LIST);
      else void send(response);
    });
    const started = performance.now();
    const { status } = await check(await openIntake(), { url: origin });
    expect([status, performance.now() - started < 40_000]).toEqual([200, true]);
    expect(asked.length).toBeLessThanOrEqual(64);
    await sleep(200);
    expect(getBytes()).toBeLessThan(8_000_000);
  });

  it('takes no room from the reports of others', async () => {
    const name = 'x'.repeat(2_000);
    const offers = Array.from({ length: 60 }, () => ({ amount: '$0.01', extra: { name: name.repeat(10) } }));
    const { origin } = await openProvider((request, response) => {
      if (request.url === '/.well-known/x402') response.end(LIST);
      else if (request.url === '/openapi.json') response.end(JSON.stringify({ openapi: '3.1.0', accepts: offers }));
      else response.writeHead(402).end(JSON.stringify({ x402Version: 1, requirements: offers.slice(0, 9) }));
    });
    const { json } = await check(await openIntake(), { url: origin });
    expect(JSON.stringify(json).length).toBeLessThan(1_000_000);
  });

  it('is not shown where it is no 402, and never as HTML', async () => {
    const SECRET = '<script>alert(1)</script>';
    const settings = { ALLOW_PRIVATE_NETWORKS: 'on' };
    await rebuildAgain({ config: (await makeSiteFixture(makeFolder(), { settings })).config });
    const intake = await openIntake({ isDaily: true });
    const header = encodeHeader(
      makeChallenge({ error: SECRET, resource: { url: 'javascript:alert(1)', description: SECRET } }),
    );
    const bodies: [string, number, Record<string, string>, string][] = [
      ['/a', 200, {}, `{"secret": "${SECRET}",}`],
      ['/b', 500, { 'content-type': `text/html;${SECRET}`, server: SECRET }, SECRET],
      ['/c', 200, { 'content-type': 'text/yaml' }, `secret: ${SECRET}\n  a: b: c`],
      ['/d', 301, { location: `/${encodeURIComponent(SECRET)}` }, SECRET],
    ];
    const { origin } = await openProvider((request, response) => {
      const found = bodies.find(([path]) => request.url === path);
      if (found) response.writeHead(found[1], found[2]).end(found[3]);
      else response.writeHead(402, { 'payment-required': header }).end();
    });
    for (const [path] of bodies.slice(0, 3)) {
      const { json } = await check(intake, { url: `${origin}${path}` });
      expect([path, JSON.stringify(json).includes('alert')]).toEqual([path, false]);
    }
    for (const url of [
      `${origin}/x?a="><script>alert(1)</script>`,
      `${origin}/x/<!--%20lines%20--><script>alert(1)</script>`,
    ]) {
      const { json } = await check(intake, { url });
      const page = await (await fetch(`${intake.url}${new URL(json.report_url).pathname}`)).text();
      expect(page).toContain('Report of');
      expect(page).not.toMatch(/<script>alert|href="javascript/);
    }
    const form = await fetch(`${intake.url}/submit?url=%22%3E${encodeURIComponent(SECRET)}&route=x&about=${SECRET}`);
    // Within the quotes of a field a script is text.
    expect(await form.text()).not.toContain(`">${SECRET}`);
  });
});

describe('a strange request to the intake', () => {
  it('is refused or not found', async () => {
    const { url } = await openIntake();
    const ask = async (path: string, init: RequestInit = {}) => (await fetch(`${url}${path}`, init)).status;
    expect(await ask(`/submit/${'x'.repeat(8_000)}`)).toBeGreaterThanOrEqual(400);
    for (const path of ['/submit/__proto__', '/submit/%2e%2e%2fmetrics', '/metrics', '/agent/list', '/'])
      expect([path, (await ask(path)) >= 400]).toEqual([path, true]);
    for (const method of ['PUT', 'DELETE', 'PATCH']) expect(await ask('/providers/check', { method })).toBe(404);
    for (const body of [
      'null',
      '[]',
      '"x"',
      '{"url": {"a": 1}}',
      '{"url": ["https://a.example.com"]}',
      '{}',
      'x'.repeat(20),
    ])
      expect([body, await ask('/providers/check', { method: 'POST', body })]).toEqual([body, 400]);
    const endless = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new Uint8Array(4_096));
        await sleep(1);
      },
    });
    const init = { method: 'POST', body: endless, duplex: 'half' } as RequestInit;
    expect(await ask('/providers/check', init)).toBe(413);
  });
});
