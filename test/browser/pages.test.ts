import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { delistListing } from '../../src/catalogue/delisting.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { makeDeclaration, makeFolder, makeRoute, makeTerms, NOW, recordVerified } from '../builders.ts';
import { makeShelf } from '../release/shelf.ts';
import { recordProbed } from '../sampled.ts';
import { serveShelf } from '../server/running.ts';
import { openBrowser } from './browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> "quoted" \'text\' `code`';

/** A served catalogue with a verified, a hostile and a delisted listing. */
async function serve() {
  const shelf = makeShelf(makeFolder(), { count: 3 });
  writeCatalogue(shelf.catalogue, NOW, (writing) => {
    recordDeclaration(writing, makeDeclaration({ routes: [makeRoute(), makeRoute({ path: '/v1/other' })] }));
    recordDeclaration(
      writing,
      makeDeclaration({
        slug: 'hostile',
        base_url: 'https://hostile.example-provider.com',
        title: HOSTILE,
        tagline: HOSTILE,
        description: HOSTILE,
        provider_name: HOSTILE,
        routes: [makeRoute({ description: HOSTILE, path: '/v1/\'"><script>window.hacked=1</script>' })],
      }),
    );
    delistListing(writing, 'api-2', { by: 'operator', reason: 'asked_to_be_removed' });
  });
  recordVerified(shelf.catalogue, 'example-prices', '/v1/other');
  recordProbed(shelf.catalogue, 'example-prices', [
    { at: '2026-11-21T06:00:00.000Z' },
    { at: '2026-11-22T06:00:00.000Z', terms: [makeTerms({ amount: 2500 })] },
    { at: '2026-11-23T06:00:00.000Z', outcome: 'timeout' },
  ]);
  return serveShelf({ shelf });
}

/** Opens a page of its own and collects everything that went wrong on it. */
async function openPage(options: Parameters<Browser['newContext']>[0] = {}) {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('requestfailed', (request) => faults.push(`${request.url()} failed`));
  return { page, context, faults };
}

const PATHS = [
  ...['/', '/api/example-prices', '/api/hostile', '/category/finance', '/verified', '/method', '/docs/providers'],
  ...['/api/api-2', '/nothing'],
];

describe('in a real browser', () => {
  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'every kind of page works in %s at %i pixels, with nothing blocked and nothing run',
    async (colorScheme, width) => {
      const server = await serve();
      const { page, faults } = await openPage({ colorScheme, viewport: { width, height: 800 } });
      for (const path of PATHS) {
        const response = await page.goto(`${server.url}${path}`);
        const expected = path === '/nothing' ? 404 : path === '/api/api-2' ? 410 : 200;
        expect([path, response?.status()]).toEqual([path, expected]);
        expect([path, await page.evaluate(() => 'hacked' in window)]).toEqual([path, false]);
        expect([path, await isTooWide(page)]).toEqual([path, false]);
      }
      expect(faults.filter((fault) => !/status of (404|410)/.test(fault))).toEqual([]);
    },
  );

  it('looks different in the dark', async () => {
    const server = await serve();
    const colours = await Promise.all(
      (['light', 'dark'] as const).map(async (colorScheme) => {
        const { page } = await openPage({ colorScheme });
        await page.goto(server.url);
        return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      }),
    );
    expect(colours[0]).not.toBe(colours[1]);
  });

  it('leads from the home page to a listing, its receipt and a copied call, by keyboard', async () => {
    const server = await serve();
    const { page, context } = await openPage();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
    await page.goto(server.url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/skip/i);
    await focusLink(page, 'Example Prices');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/api/example-prices');
    const receipt = page.locator('a[href^="https://basescan.org/tx/0x"]').first();
    expect(await receipt.getAttribute('rel')).toContain('noopener');
    const copy = page.getByRole('button', { name: /copy/i }).first();
    await copy.focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes('curl'));
  });

  it('shows how a listing answered and what it cost: drawn, named for a screen reader, and as tables by keyboard', async () => {
    const server = await serve();
    const { page } = await openPage({ viewport: { width: 390, height: 800 }, javaScriptEnabled: true });
    await page.goto(`${server.url}/api/example-prices`);
    for (const [name, description, size] of [
      ['Probe results by day, 2026-10-24 to 2026-11-23', '2 of 3 days without a failure; 2 of 3 samples valid', 20],
      ['Price over time, 2026-11-20 to 2026-11-23', '0.001-0.0025 USDC per request', 150],
    ] as const) {
      const picture = page.getByRole('img', { name });
      expect(await picture.count()).toBe(1);
      const box = await picture.boundingBox();
      expect([(box?.width ?? 0) > 200, (box?.height ?? 0) > size]).toEqual([true, true]);
      const spoken = await picture.evaluate((svg) => svg.querySelector('desc')?.textContent);
      expect(spoken).toContain(description);
    }
    const summary = page.getByText('Every day as a table');
    expect(await page.getByRole('rowheader', { name: '2026-11-23' }).isVisible()).toBe(false);
    await summary.focus();
    await page.keyboard.press('Enter');
    expect(await page.getByRole('rowheader', { name: '2026-11-23' }).isVisible()).toBe(true);
    expect(await page.getByRole('row', { name: '2026-11-23 all failed 1 failed' }).count()).toBe(1);
    expect(await isTooWide(page)).toBe(false);
  });

  it('says everything without JavaScript', async () => {
    const server = await serve();
    const { page } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${server.url}/api/example-prices`);
    const text = await page.locator('main').textContent();
    for (const part of ['1 of 2 routes', '0.001', 'How to call this API', 'x402', 'unverified']) {
      expect(text?.toLowerCase()).toContain(part.toLowerCase());
    }
    expect(await page.getByRole('button', { name: /copy/i }).count()).toBe(0);
  });
});

/** Says whether a page scrolls sideways. */
function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}

/** Presses Tab until a link with that text has the focus. */
async function focusLink(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
    if (focused.includes(text)) return;
  }
  throw new Error(`no link "${text}" was reached`);
}
