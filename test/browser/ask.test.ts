import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { startMarket } from '../../scripts/market/market.ts';
import { CHECK_DIGITS } from '../../scripts/market/providers/check-digits.ts';
import { LOAN_DESK } from '../../scripts/market/providers/loan-desk.ts';
import { startServer } from '../../src/http/server.ts';
import { makeCommands } from '../cli/running.ts';
import { buildChallenge } from '../http/checking.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../records.ts';
import { SCRATCH } from '../scratch.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { makeSiteFixture, type SiteFixture } from '../site/site-fixture.ts';
import { getBrowser } from '../worker-browser.ts';
import { declareListings } from '../written.ts';
import { visit } from './world.ts';

/** Starts a provider whose routes differ in what they let pages of others read. */
async function startProvider() {
  const paid: string[] = [];
  const provider = createServer((request, response) => {
    const path = request.url ?? '';
    if (request.headers['payment-signature'] ?? request.headers['x-payment']) paid.push(path);
    if (path !== '/closed') response.setHeader('Access-Control-Allow-Origin', '*');
    const terms = makeTerms(path === '/dear' ? { amount: 2_000_000 } : {});
    response.statusCode = path === '/free' ? 200 : 402;
    response.end(path === '/hidden' ? '' : JSON.stringify(buildChallenge([terms], 1)));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void provider.close());
  return { paid, url: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` };
}

/** Serves a catalogue that a function fills, and opens a browser. */
async function serve(fill: (fixture: SiteFixture) => Promise<unknown>) {
  const folder = mkdtempSync(join(SCRATCH, 'ask-'));
  const fixture = await makeSiteFixture(folder, { count: 0, settings: { ALLOW_PRIVATE_NETWORKS: 'on' } });
  const { config, catalogue } = fixture;
  await fill(fixture);
  await rebuildAgain({ config });
  const server = await startServer({ config, logger: pino({ level: 'silent' }), rebuilding: false });
  const browser = await getBrowser();
  onTestFinished(async () => {
    await server.close();
    await catalogue.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { browser, url: server.url };
}

const declare =
  (base_url: string, paths: readonly string[]) =>
  ({ catalogue }: SiteFixture) =>
    declareListings(catalogue, [makeDeclaration({ base_url, routes: paths.map((path) => makeRoute({ path })) })]);

/** Presses the button of a route, and gives what the page then says. */
async function ask(page: Page, path: string): Promise<string | null> {
  const place = page.locator(`[data-ask*="${path}"]`);
  await place.evaluate((element) => {
    const details = element.closest('details');
    if (details) details.open = true;
  });
  await place.getByRole('button', { name: 'Ask for the 402' }).click();
  await place.getByRole('button', { disabled: false }).waitFor();
  return place.getByRole('status').textContent();
}

it('asks a provider for its terms in the page, compares them with the record, and pays nothing', async () => {
  const provider = await startProvider();
  const { browser, url } = await serve(declare(provider.url, ['/open', '/dear', '/closed', '/hidden', '/free']));
  const page = await browser.newPage();
  await visit(page, `${url}/api/example-prices`);
  expect(await ask(page, '/open')).toMatch(
    /^It asks 0\.001 USDC on base to 0x1{40}\. Compared with the record: unseen\. A source declares what is asked/,
  );
  expect(await ask(page, '/dear')).toMatch(
    /^It asks 2 USDC on base to .*\. Compared with the record: mismatch\. .* only declared/,
  );
  expect(await ask(page, '/closed')).toMatch(/^Your browser got no answer that it may read: .* curl command/);
  expect(await ask(page, '/hidden')).toMatch(
    /^It answered 402, but your browser may not read its terms\. .* curl command/,
  );
  expect(await ask(page, '/free')).toBe('It answered 200 and asked for no payment. Nothing was compared.');
  expect(provider.paid).toEqual([]);
});

it('has the terms of the providers of the demo, whichever version of x402 they speak', async () => {
  const market = await startMarket({ solana: false, plans: [CHECK_DIGITS, LOAN_DESK] });
  onTestFinished(() => market.stop());
  const { browser, url } = await serve(async ({ config: { catalogueAddress } }) => {
    const { run } = makeCommands({ CATALOGUE: catalogueAddress, ALLOW_PRIVATE_NETWORKS: 'on' });
    for (const { documentUrl } of market.providers) {
      expect(await run(['import', '--openapi', documentUrl])).toMatchObject({ code: 0 });
    }
    expect(await run(['probe', '--all', '--pause', '0'])).toMatchObject({ code: 0 });
  });
  const page = await browser.newPage();
  for (const [slug, path, price] of [
    ['check-digits', '/v1/iban', '0.001'],
    // A POST with a body of JSON, which browsers send only after the provider has allowed it.
    ['loan-desk', '/v1/loan-schedule', '0.002'],
  ] as const) {
    await visit(page, `${url}/api/${slug}`);
    expect(await ask(page, path)).toMatch(
      new RegExp(`^It asks ${price} USDC on base to 0x\\w{40}\\. Compared with the record: match\\.`),
    );
  }
});

it('offers no such button without JavaScript, and lets no other page connect elsewhere', async () => {
  const provider = await startProvider();
  const { browser, url } = await serve(declare(provider.url, ['/open']));
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  const listing = await page.goto(`${url}/api/example-prices`);
  expect(await page.getByRole('button', { name: 'Ask for the 402' }).count()).toBe(0);
  const getConnect = (policy = '') => /connect-src ([^;]*)/.exec(policy)?.[1];
  expect(getConnect(listing?.headers()['content-security-policy'])).toBe(
    "'self' https: http://127.0.0.1:* http://localhost:*",
  );
  for (const path of ['/', '/search', '/changes', '/api/example-prices.md', '/docs/api', '/agent/list']) {
    const { headers } = await fetch(`${url}${path}`);
    expect([path, getConnect(headers.get('content-security-policy') ?? '')]).toEqual([path, "'self'"]);
  }
});
