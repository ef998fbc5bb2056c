import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { makeFolder } from '../builders.ts';
import { ask, serveSiteFixture } from '../http/running.ts';
import { connectModern } from '../mcp/clients.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { getBrowser } from '../worker-browser.ts';
import { encodeHeader, makeChallenge, makeOffer, PAYEE } from '../x402/challenges.ts';
import { openProvider } from './intake.ts';
import { serveWithIntake } from './serving.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const LOOKS = [
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

const ENTRY = { method: 'GET', price: '0.01', currency: 'USDC', network: NETWORKS.base.id, payTo: PAYEE };

/** The challenge whose amount was wrong, as the example of the check has it. */
const MENDED = encodeHeader(makeChallenge({ accepts: [makeOffer({ amount: '10000' })] }));

/** A provider of four routes: the 402 of one is malformed, and one is not there. */
async function openShop() {
  const shop = { header: encodeHeader(makeChallenge({ accepts: [makeOffer({ amount: '$0.01' })] })), isOpen: true };
  const good = encodeHeader(makeChallenge());
  const list = { version: 1, resources: ['a', 'b', 'c', 'gone'].map((name) => ({ ...ENTRY, url: `/v1/${name}` })) };
  const provider = await openProvider((request, response) => {
    if (request.url === '/.well-known/x402') response.writeHead(200).end(JSON.stringify(list));
    else if (request.url === '/v1/a') response.writeHead(402, { 'payment-required': shop.header }).end();
    else response.writeHead(/^\/v1\/[bc]$/.test(request.url ?? '') ? 402 : 404, { 'payment-required': good }).end();
  });
  return { ...provider, shop };
}

let browser: Browser;
beforeAll(async () => {
  browser = await getBrowser();
});

async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context.newPage();
}

describe('a provider in a browser', () => {
  it.each([true, false])(
    'gets from a malformed 402 to 3 of 4 routes in two rounds, with JavaScript: %s',
    async (javaScriptEnabled) => {
      const { origin, shop } = await openShop();
      const { url } = await serveWithIntake();
      const page = await openPage({ javaScriptEnabled });
      await page.goto(url);
      await page.getByRole('link', { name: 'List your API' }).first().click();
      await page.getByLabel('Host or address of your API').fill(origin);
      await page.getByRole('button', { name: 'Check it' }).click();
      await page.getByText('2 of 4 routes can be listed.').waitFor();
      const text = await page.locator('main').textContent();
      expect(text).toContain('/accepts/0/amount');
      expect(text).toContain('Serve the route at this address, or correct the address in the document.');
      expect(text).toContain('"amount": "10000"');
      shop.header = MENDED;
      await page.getByRole('button', { name: 'Check again' }).click();
      await page.getByText('3 of 4 routes can be listed.').waitFor();
      await page.getByRole('heading', { name: 'As buyers will see it' }).waitFor();
      expect(await page.locator('.check-listing .card').textContent()).toContain('0.01 USDC');
      await page.getByText('Clients with x402 version 2, an EVM wallet').waitFor();
      await page.reload();
      expect(await page.locator('.check-summary').textContent()).toBe('3 of 4 routes can be listed.');
    },
  );

  it('finds every state of the page readable, and shows what a file is like where nothing is found', async () => {
    const { url } = await serveWithIntake();
    const { origin } = await openShop();
    const nothing = await openProvider((_, response) => response.writeHead(404).end());
    const page = await openPage();
    const violations: string[] = [];
    const look = async (name: string) => {
      await page.evaluate(AXE);
      for (const { width, colorScheme } of LOOKS) {
        await page.setViewportSize({ width, height: 844 });
        await page.emulateMedia({ colorScheme });
        const wide = await page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        );
        const found = await page.evaluate(async () => {
          const { run } = Reflect.get(window, 'axe') as {
            run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
          };
          return (await run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
        });
        violations.push(
          ...[...found, ...(wide ? ['too wide'] : [])].map((one) => `${name}, ${colorScheme}, ${width}: ${one}`),
        );
        if (process.env.SCREENSHOTS)
          await page.screenshot({
            path: `${process.env.SCREENSHOTS}/${name}-${colorScheme}-${width}.png`,
            fullPage: true,
          });
      }
    };
    await page.goto(`${url}/submit?host=api.example.com`);
    expect(await page.getByLabel('Host or address of your API').inputValue()).toBe('api.example.com');
    await look('form');
    const submit = async (address: string) => {
      await page.getByLabel('Host or address of your API').fill(address);
      await page.getByRole('button', { name: /^Check/ }).click();
      await page.waitForLoadState();
    };
    await submit('not an address');
    expect(await page.getByRole('alert').textContent()).toContain('Enter a host such as api.example.com');
    await look('refused');
    await submit(origin);
    await look('report');
    await submit(nothing.origin);
    await look('nothing');
    await page.getByRole('button', { name: 'List it' }).click();
    await page.waitForLoadState();
    const file = JSON.parse(String(await page.getByRole('group', { name: 'the file for your host' }).textContent()));
    expect(file.listings[0]).toMatchObject({ base_url: nothing.origin, facts: { routes: [{ path: '/your/route' }] } });
    await look('file');
    expect(violations).toEqual([]);
  });
});

describe('a server', () => {
  it('passes the check on, with who asks, and leads to it from what it does not have', async () => {
    const server = await serveWithIntake();
    const { origin } = await openShop();
    const form = await ask(server, '/submit');
    expect([form.status, form.headers['referrer-policy'], form.headers['x-robots-tag']]).toEqual([
      200,
      'no-referrer',
      'noindex',
    ]);
    const post = (path: string, body: string, type: string) =>
      fetch(`${server.url}${path}`, { method: 'POST', body, headers: { 'Content-Type': type }, redirect: 'manual' });
    const begun = await post(
      '/submit',
      new URLSearchParams({ url: `${origin}/v1/b` }).toString(),
      'application/x-www-form-urlencoded',
    );
    const place = begun.headers.get('location') ?? '';
    expect([begun.status, place]).toEqual([303, expect.stringMatching(/^\/submit\/[\w-]{24}$/)]);
    expect((await ask(server, place)).text).toContain('1 of 1 route can be listed.');
    expect((await ask(server, `/submit/${'x'.repeat(24)}`)).status).toBe(404);
    const json = await post('/providers/check', JSON.stringify({ url: origin }), 'application/json');
    expect([json.status, (await json.json()).summary]).toEqual([200, '2 of 4 routes can be listed.']);
    for (const path of ['/provider/tides.example.com', '/api/tides.example.com']) {
      const missing = await ask(server, path, { headers: { accept: 'text/html' } });
      expect([missing.status, missing.text.includes('href="/submit?host=tides.example.com"')]).toEqual([404, true]);
    }
    expect((await ask(server, '/api/nothing', { headers: { accept: 'text/html' } })).text).toContain('href="/submit"');
    expect((await ask(server, '/search?provider=tides.example.com')).text).toContain('/submit?host=tides.example.com');
    expect((await ask(server, '/docs/providers')).text).toContain('<a href="/submit">Check your API</a> first');
    expect((await ask(server, '/providers/check')).status).toBe(405);
    expect((await ask(server, '/openapi.json')).text).not.toContain('/providers/check');
    // One client, whichever way it comes, and whatever it says of itself.
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.9' };
    const rest = await Promise.all(
      [2, 3, 4, 5, 6, 7].map((at) => {
        const body = JSON.stringify({ url: `http://127.0.0.1:1000${at}/x` });
        return fetch(`${server.url}/providers/check`, { method: 'POST', body, headers });
      }),
    );
    expect(rest.map(({ status }) => status)).toContain(429);
  });

  it('has the check as a tool of MCP, by which an agent corrects an API from the answers alone', async () => {
    const server = await serveWithIntake();
    const { origin, shop } = await openShop();
    const client = await connectModern(new URL(`${server.url}/mcp`));
    const tool = (await client.listTools()).find(({ name }) => name === 'check_provider');
    expect(tool?.annotations).toEqual({ readOnlyHint: true, openWorldHint: true });
    const first = await client.call('check_provider', { url: origin });
    expect(first.structured).toMatchObject({ valid: false, summary: '2 of 4 routes can be listed.' });
    expect((first.structured as { checks: object[] }).checks).toContainEqual(
      expect.objectContaining({ place: '/accepts/0/amount', example: expect.stringContaining('"amount": "10000"') }),
    );
    shop.header = MENDED;
    const second = await client.call('check_provider', { url: origin });
    expect(second.structured).toMatchObject({ summary: '3 of 4 routes can be listed.' });
    expect(await client.call('check_provider', { url: 'x' })).toMatchObject({ isError: true });
  });

  it('answers 503 while the intake is away, and has no such page without one', async () => {
    const fixture = await makeSiteFixture(makeFolder(), { settings: { INTAKE: 'http://127.0.0.1:9' } });
    const server = await serveSiteFixture({ fixture, written: false });
    expect((await ask(server, '/submit')).status).toBe(503);
    const without = await serveSiteFixture({
      fixture: { ...fixture, config: { ...fixture.config, intake: 'off' } },
      written: false,
    });
    expect((await ask(without, '/submit')).status).toBe(404);
  });
});
