import { HtmlValidate, type RuleConfig } from 'html-validate';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getListingId, getRouteId } from '../../src/model/ids.ts';
import { PAGE_KINDS, RECEIPTS } from './page-kinds.ts';
import { isTooWide, openPage, openWorld, tabTo, visit, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const open = (options: Parameters<typeof openPage>[1] = {}) => openPage(world, options);

/** Lists the texts of the cells of tables, row by row. */
function listCells(page: Page, tables: string): Promise<string[][]> {
  return page
    .locator(`${tables} tbody tr`)
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => (cell.textContent ?? '').replace(/\s+/g, ' ').trim())),
    );
}

/** Where the recommended rules say something else than the standard, or than what is wanted here. */
const RULES = {
  // What scrolls is reached by keyboard and named; it is no section of the page, and no fieldset.
  'prefer-native-element': ['error', { exclude: ['region', 'group'] }],
  // Safari takes the role from a list that is shown without bullets.
  'no-redundant-role': 'off',
  // A title in the words of a provider is as long as they are.
  'long-title': 'off',
  // Astro writes `<!DOCTYPE html>` and void elements without a slash: both are as the standard has them.
  'doctype-style': 'off',
  'void-style': 'off',
  // Spaces at the end of a line are nobody's concern in a generated document.
  'no-trailing-whitespace': 'off',
} satisfies RuleConfig;

const validator = new HtmlValidate({ extends: ['html-validate:recommended'], rules: RULES });

/** Lists where a page is not valid HTML. */
async function listProblems(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return (
    results
      .flatMap(({ messages }) => messages)
      // The standard lets a form have several fields of one name; only this parameter holds several values.
      .filter(({ message }) => message !== 'Duplicate form control name "routes"')
      .map(({ ruleId, message, line, column }) => {
        const place = html.split('\n')[line - 1]?.slice(Math.max(0, column - 60), column + 60);
        return `${ruleId}: ${message} (${line}:${column}) ${place}`;
      })
  );
}

describe('in a real browser', () => {
  it('every kind of page is valid HTML and works on any width, light and dark, with nothing blocked and nothing run', async () => {
    const { page, faults } = await open();
    // What the policy blocks is reported here even where the browser's console stays silent.
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', ({ violatedDirective }) =>
        console.error(`blocked by ${violatedDirective}`),
      );
    });
    for (const { path, status = 200 } of PAGE_KINDS) {
      const response = await visit(page, `${world.url}${path}`);
      expect([path, response?.status()]).toEqual([path, status]);
      expect([path, await listProblems((await response?.text()) ?? '')]).toEqual([path, []]);
      expect(response?.headers()['content-security-policy']).toContain("default-src 'none'");
      const colours = new Set<string>();
      for (const [colorScheme, width] of [
        ['light', 1280],
        ['dark', 390],
        ['light', 320],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        expect([path, width, await isTooWide(page)]).toEqual([path, width, false]);
        colours.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
      }
      expect([path, colours.size]).toEqual([path, 2]);
      expect([path, await page.evaluate(() => 'hacked' in window)]).toEqual([path, false]);
    }
    expect(faults.filter((fault) => !/status of (400|404|410)/.test(fault))).toEqual([]);
  });

  it('loads one stylesheet and one script with the page of a listing', async () => {
    const html = await (await fetch(`${world.url}/api/example-prices`)).text();
    const parts = [...html.matchAll(/<(link rel="stylesheet"|script data-src=)/g)];
    expect(parts.map(([, kind]) => kind)).toEqual(['link rel="stylesheet"', 'script data-src=']);
  });

  it('lets one find, compare, copy a call and check a receipt with the keyboard alone', async () => {
    const { page, context, faults } = await open();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: world.url });
    await visit(page, world.url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/skip/i);

    // Find: what matches shows while one types; Enter leads to all of it.
    await tabTo(page, '');
    await page.locator('#q').focus();
    await page.keyboard.type('prices');
    await page.getByRole('status').filter({ hasText: /match/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=prices');

    // Compare: by what was verified, and by price.
    await tabTo(page, 'Any');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.waitForURL('**/search?q=prices&verified=true');
    expect(await page.locator('.card').count()).toBe(1);
    await tabTo(page, 'Latest price of one symbol.');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/api/example-prices#get-v1-other');

    // Copy a call, in Python.
    await page.locator('.tabs input:checked').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.getByText('x402_requests').first().isVisible()).toBe(true);
    await tabTo(page, 'Copy Python code');
    await page.keyboard.press('Enter');
    await page.waitForFunction(async () =>
      (await navigator.clipboard.readText()).includes('"max_amount_per_payment": "$0.001"'),
    );

    // Check the receipt: what to run, and where the chain shows it.
    await tabTo(page, 'Verified routes');
    await page.keyboard.press('Enter');
    await tabTo(page, 'On-chain receipt of GET /v1/other');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toMatch(
      /^https:\/\/basescan\.org\/tx\/0x[0-9a-f]{64}$/,
    );
    await tabTo(page, 'Receipt, and how to check it: GET /v1/other');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/receipts/${RECEIPTS.delivered}`);
    await page.getByRole('button', { name: 'Copy command that checks the receipt' }).waitFor();
    await tabTo(page, 'Copy command that checks the receipt');
    await page.keyboard.press('Enter');
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes('receipts check http'));
    await page.goBack();
    await page.waitForURL('**/api/example-prices#get-v1-other');
    await page.locator('summary', { hasText: 'Verified routes' }).focus();
    await page.keyboard.press('Enter');
    await tabTo(page, 'Receipt, and how to check it: GET /v1/other');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/receipts/${RECEIPTS.delivered}`);
    await tabTo(page, 'This route on the listing');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/api/example-prices#get-v1-other');
    expect(await page.locator('details:target[open] h3').textContent()).toBe('GET /v1/other');
    expect(faults).toEqual([]);
  });

  it('lets one put routes side by side from the results of a search, without JavaScript', async () => {
    const { page } = await open({ javaScriptEnabled: false, viewport: { width: 320, height: 800 } });
    await page.goto(`${world.url}/search?q=prices`);
    await page.getByText(/^\d+ more listings? of example-provider\.com$/).click();
    const tray = page.getByRole('button', { name: 'Compare the chosen routes' });
    expect(await tray.isVisible()).toBe(false);
    await page.getByRole('checkbox', { name: 'Compare: many-routes GET /maths/tool-0' }).check();
    await tray.click();
    await page.waitForURL('**/compare?routes=many-routes*&q=prices');
    await page.getByRole('link', { name: 'Add to the comparison: example-prices GET /v1/price/:symbol' }).click();
    await page.waitForURL('**/compare?routes=many-routes*&routes=example-prices*&q=prices');
    const heads = await page.getByRole('columnheader').allInnerTexts();
    expect(heads.map((text) => /GET \S+/.exec(text)?.[0])).toEqual(['GET /maths/tool-0', 'GET /v1/price/:symbol']);
    expect(await page.getByRole('row', { name: /^Standing/ }).textContent()).toContain('not seen yet');
    expect(await isTooWide(page)).toBe(false);
    await page.getByRole('link', { name: 'Remove GET /maths/tool-0 from the comparison' }).click();
    await expect.poll(() => page.getByRole('columnheader').count()).toBe(1);
    await page.goto(`${world.url}/api/example-prices`);
    await page.locator('.routes summary', { hasText: 'GET /v1/other' }).click();
    await page.locator('.routes details', { hasText: 'GET /v1/other' }).getByRole('link', { name: 'Compare' }).click();
    await page.waitForURL('**/compare?routes=example-prices*');
    expect(await page.getByRole('columnheader').textContent()).toContain('GET /v1/other');
  });

  it('shows how a listing answered and what it cost: drawn, named for a screen reader, and as tables by keyboard', async () => {
    const { page } = await open({ viewport: { width: 390, height: 800 } });
    await visit(page, `${world.url}/api/example-prices`);
    for (const name of ['Probes', 'Price over time']) await page.getByRole('heading', { name }).click();
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

  it('answers what decides on the first screen: verified, price, reliability, and how to call it', async () => {
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      const { page } = await open({ viewport: { width, height } });
      await visit(page, `${world.url}/api/example-prices`);
      for (const words of ['Settlement-verified', 'USDC per request', 'Reliability', 'How to call this API']) {
        const box = await page.locator('main').getByText(words).first().boundingBox();
        expect([width, words, (box?.y ?? height) + (box?.height ?? 0) < height]).toEqual([width, words, true]);
      }
    }
  });

  it('shows matches while one types: with arrows to them, a word where there are none or no answer, and never a stale one', async () => {
    const { page } = await open();
    const asked: string[] = [];
    const late = Promise.withResolvers<void>();
    await page.route('**/agent/list?*', async (route) => {
      const words = new URL(route.request().url()).searchParams.get('q') ?? '';
      asked.push(words);
      // The answer to the first words comes after that to the next.
      if (words === 'title') await late.promise;
      if (words === 'offline') return route.abort();
      return route.continue().catch(() => undefined);
    });
    await visit(page, `${world.url}/api/example-prices`);
    const box = page.locator('#site-q');
    const links = page.locator('.suggestions a');
    await box.fill('title');
    await page.getByText('Searching …').waitFor();
    await box.fill('prices');
    await links.first().waitFor();
    const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(hrefs).toContain('/api/example-prices');
    late.resolve();
    await page.waitForTimeout(200);
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual(hrefs);

    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(hrefs[0]);
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('site-q');
    expect(await links.first().isVisible()).toBe(false);

    await box.fill('zebra');
    await page.getByText('Nothing matches.').waitFor();
    await box.fill('offline');
    await page.getByText('The search does not answer just now.').waitFor();
    await box.fill('');
    expect(await page.locator('.suggestions').isVisible()).toBe(false);
    expect(asked).toEqual(['title', 'prices', 'zebra', 'offline']);
  });

  it('prints all of every table, and a listing on few sheets', async () => {
    const { page } = await open({ viewport: { width: 718, height: 1047 } });
    await page.emulateMedia({ media: 'print' });
    for (const path of ['/changes', '/api/example-prices', '/docs/using']) {
      await visit(page, `${world.url}${path}`);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll('.scroll, .code pre')]
          .filter((box) => {
            const { overflowY, maxHeight } = getComputedStyle(box);
            return overflowY !== 'visible' || maxHeight !== 'none';
          })
          .map(({ textContent }) => textContent.slice(0, 60)),
      );
      expect([path, cut]).toEqual([path, []]);
    }
    await visit(page, `${world.url}/api/example-prices`);
    const rows = page.locator('.listing-evidence table tbody tr');
    expect(await rows.count()).toBeGreaterThan(0);
    expect(
      await rows.evaluateAll((all) => all.every((row) => row.checkVisibility({ contentVisibilityAuto: true }))),
    ).toBe(true);
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b(?!s)/g)?.length).toBeLessThanOrEqual(3);
  });

  it('applies a filter as soon as it is chosen, with the counts of the others, and says so', async () => {
    const { page, faults } = await open();
    await visit(page, `${world.url}/search?q=prices`);
    const all = await page.locator('#results').textContent();
    await page.getByLabel('Verification').focus();
    await page.getByLabel('Verification').selectOption('true');
    await page.waitForURL('**/search?q=prices&verified=true');
    expect(await page.locator('.card-of code').allTextContents()).toEqual(['GET /v1/other']);
    expect(await page.getByLabel('Network').locator('option').allTextContents()).toContain('Base (1)');
    expect(await page.locator('form [role=status]').last().textContent()).toMatch(/^1 listing,/);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('by-verified');
    await page.getByLabel('Max price (USDC)').fill('$.5');
    await page.keyboard.press('Tab');
    await page.waitForURL('**/search?q=prices&verified=true&max_price_usdc=**');
    expect(await page.getByLabel('Max price (USDC)').inputValue()).toBe('0.5');
    await page.getByRole('link', { name: 'Remove filter: Settlement-verified' }).click();
    await page.waitForURL('**/search?q=prices&max_price_usdc=0.5');
    expect(await page.locator('#results').textContent()).toBe(all);
    await page.goBack();
    await page.waitForURL('**/search?q=prices&verified=true&max_price_usdc=**');
    expect(await page.getByLabel('Verification').inputValue()).toBe('true');
    expect(await page.locator('.card').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it('leads by / to the search box, by arrows from it through the results, and sorts by the heads of columns', async () => {
    const { page } = await open();
    await visit(page, `${world.url}/search?q=prices`);
    const getFocus = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
    await page.keyboard.press('/');
    expect(await getFocus()).toBe('q');
    expect(await page.locator('#q').inputValue()).toBe('prices');
    const rows = await page.locator('.card h3 a:visible').allTextContents();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await getFocus()).toBe(rows[1]);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await getFocus()).toBe('q');
    const orders = page.getByRole('navigation', { name: 'Sort by' });
    expect(await orders.locator('[aria-current]').textContent()).toBe('Best match');
    await orders.getByRole('link', { name: 'Lowest price' }).click();
    await page.waitForURL('**/search?q=prices&sort=price');
    expect(await orders.locator('[aria-current]').textContent()).toBe('Lowest price');
  });

  it('leads to the address of the filters where they cannot be applied in the page', async () => {
    const { page } = await open();
    await visit(page, `${world.url}/search?q=prices`);
    await page.route('**/search?*', (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.abort(),
    );
    const navigated = page.waitForNavigation();
    await page.getByLabel('Verification').selectOption('true');
    await navigated;
    expect(new URL(page.url()).search).toBe('?q=prices&verified=true');
  });

  it('shows the filters of the address again to who comes back, not those that were chosen before leaving', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(`${world.url}/search?q=prices`);
    await page.getByLabel('Verification').selectOption('true');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**/search?q=prices&**');
    await page.goBack();
    await page.waitForURL('**/search?q=prices');
    expect(await page.getByLabel('Verification').inputValue()).toBe('');
    await page.goForward();
    await page.waitForURL('**/search?q=prices&**');
    expect(await page.getByLabel('Verification').inputValue()).toBe('true');
  });

  it('shows a whole result on the first screen of a phone, and marks where one is', async () => {
    const { page } = await open({ viewport: { width: 390, height: 844 } });
    for (const path of ['/search?q=prices', '/search']) {
      await visit(page, `${world.url}${path}`);
      const box = await page.locator('.card').first().boundingBox();
      expect([path, (box?.y ?? 844) + (box?.height ?? 0) < 844]).toEqual([path, true]);
      expect(await page.locator('.site-link[aria-current=page]').textContent()).toBe('Browse');
    }
    await visit(page, `${world.url}/docs/api`);
    expect(await page.locator('.site-link[aria-current=true]').textContent()).toBe('Docs');
  });

  it('finds a route among many while one types', async () => {
    const { page } = await open();
    await visit(page, `${world.url}/api/many-routes`);
    await page.getByLabel('Filter routes').fill('get tool-7 text');
    expect(await page.locator('.routes h3:visible').allTextContents()).toEqual(['GET /text/tool-7']);
    expect(await page.getByText('1 of 24 routes').isVisible()).toBe(true);
  });

  it('finds an address that is folded under its template, and unfolds it for one who is sent there', async () => {
    const { page } = await open({ viewport: { width: 390, height: 844 } });
    await visit(page, `${world.url}/api/most-routes`);
    const address = page.locator('.route-row', { hasText: 'GET /price/btc' });
    expect([await address.count(), await address.isVisible()]).toEqual([1, false]);
    await page.getByLabel('Filter routes').fill('price btc');
    expect(await page.locator('.routes h3:visible').allTextContents()).toEqual(['GET /price/btc']);
    await page.getByLabel('Filter routes').fill('');
    expect(await address.isVisible()).toBe(false);
    await page.getByText(/^2 more routes of this template/).click();
    expect(await address.isVisible()).toBe(true);
    const id = await address.getAttribute('id');
    await page.goto('about:blank');
    await visit(page, `${world.url}/api/most-routes#${id}`);
    expect(await address.isVisible()).toBe(true);
  });

  it('unfolds the route that an address leads to, with what it takes, what it returns and its call', async () => {
    const { page } = await open();
    await visit(page, `${world.url}/api/many-routes`);
    const closed = page.locator('.routes > div > details:not([open])').nth(3);
    const id = await closed.getAttribute('id');
    expect(await page.locator(`#${id} .route-body`).isVisible()).toBe(false);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#${id}`);
    await page.locator(`#${id} .route-body`).waitFor();
    const text = await page.locator(`#${id}`).textContent();
    for (const part of [
      'Where to look',
      'Berlin',
      'The whole example',
      'In the words of a manifest, seen 2026-11-01.',
      'celsius',
    ]) {
      expect(text).toContain(part);
    }
    expect(await listCells(page, `#${id} .field-table`)).toEqual([
      ['city', 'string, required', 'Where to look Berlin'],
      ['units', '"celsius"|"kelvin", optional', 'celsius'],
      ['at', 'string', '2026-11-20'],
      ['values', 'number[]', '[1,2]'],
    ]);
  });

  it('shows what one gets: as our paid call got it, as its source declares it, or that the provider does not say', async () => {
    const { page } = await open();
    await visit(page, `${world.url}/api/example-prices`);
    await page.locator('.routes details').first().click();
    const [paid, silent] = await page.locator('.route-body .halves > div:last-child').all();
    expect(await paid?.textContent()).toContain(
      'Names and types are those of the answer to our paid call on 2026-11-20. Meanings and examples are in the words of a manifest, seen 2026-11-01.',
    );
    expect(await paid?.getByRole('link', { name: 'Receipt' }).getAttribute('href')).toBe(
      `/receipts/${RECEIPTS.delivered}`,
    );
    expect(
      await listCells(
        page,
        `#${await paid?.evaluate((half) => half.closest('details')?.id)} .halves > div:last-child .field-table`,
      ),
    ).toEqual([
      ['at', 'string', 'Its day 2026-11-20'],
      ['values', 'number[]', ''],
      ['note', 'string or null', ''],
    ]);
    expect(await silent?.textContent()).toContain(
      'The provider does not say what it returns, only its type: application/json.',
    );
  });

  it('keeps the language of calls: one choice for the whole page, and for the next', async () => {
    const { page } = await open();
    await visit(page, `${world.url}/api/example-prices`);
    const checked = () =>
      page
        .locator('.tabs input:checked')
        .evaluateAll((all) => new Set(all.map((one) => (one as HTMLInputElement).value)).size);
    await page.locator('.tabs input[value=python]').first().check();
    expect(await page.locator('.tabs input[value=python]:checked').count()).toBe(2);
    expect(await checked()).toBe(1);
    await visit(page, `${world.url}/api/many-routes`);
    expect(await page.getByText('x402_requests').first().isVisible()).toBe(true);
    expect(await checked()).toBe(1);
  });

  it('says how long ago a proof was', async () => {
    const { page } = await open();
    await visit(page, `${world.url}/api/example-prices`);
    expect(await page.locator('.proofs li').first().textContent()).toMatch(
      /verified 2026-11-20, (yesterday|\d+ days ago)/,
    );
  });

  it('shows the routes on the first screens of a phone, before what is on record', async () => {
    const { page } = await open({ viewport: { width: 390, height: 844 } });
    for (const slug of ['example-prices', 'many-routes', 'most-routes']) {
      await visit(page, `${world.url}/api/${slug}`);
      const getTop = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? 0;
      const top = await getTop('.routes h3');
      expect([slug, top > 0 && top < 2 * 844, top < (await getTop('#record'))]).toEqual([slug, true, true]);
    }
  });

  it('leaves the details of most of very many routes to pages of their own', async () => {
    const { page, faults } = await open();
    await visit(page, `${world.url}/api/most-routes`);
    expect(await page.locator('.routes h3').count()).toBe(60);
    await page.getByRole('link', { name: 'GET /most/tool-50' }).click();
    await page.waitForURL('**/api/most-routes/get-most-tool--50');
    const text = await page.locator('main').textContent();
    for (const part of ['GET /most/tool-50', 'citystring, required', 'wrapFetchWithPayment(fetch']) {
      expect(text).toContain(part);
    }
    await page.getByRole('link', { name: 'All 60 routes of the listing' }).click();
    await page.waitForURL('**/api/most-routes#get-most-tool--50');
    expect(await page.locator('.route-row:target h3').textContent()).toBe('GET /most/tool-50');
    // Pages that were published by the hash of their route go on answering.
    const id = getRouteId(getListingId('https://most.example-provider.com'), 'GET', '/most/tool-50');
    for (const [name, status] of [
      [`route-${id.slice(0, 13)}`, 200],
      ['route-00000000-0000', 404],
      ['get-most-tool-50', 404],
    ])
      expect([name, (await fetch(`${world.url}/api/most-routes/${name}`)).status]).toEqual([name, status]);
    expect(faults).toEqual([]);
  });
});

describe('without JavaScript', () => {
  it('says everything on the page of a listing, and lets one choose how the call is written', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(`${world.url}/api/example-prices`);
    const text = await page.locator('main').textContent();
    for (const part of ['1 of 2 routes', '0.001', 'How to call this API', 'x402', 'unverified']) {
      expect(text?.toLowerCase()).toContain(part.toLowerCase());
    }
    expect(await page.getByRole('button', { name: /copy/i }).count()).toBe(0);
    const code = page.getByText('wrapFetchWithPayment(fetch').first();
    expect(await code.isVisible()).toBe(false);
    await page.getByRole('radio', { name: 'TypeScript' }).first().check();
    expect(await code.isVisible()).toBe(true);
  });

  it('finds, filters, sorts and starts over with plain forms and links', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(world.url);
    await page.locator('#q').fill('prices');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=prices');
    expect(await page.locator('.card').count()).toBeGreaterThan(1);
    await page.getByLabel('Verification').selectOption('true');
    await page.getByLabel('Max price (USDC)').fill('$.01');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**/search?q=prices&**');
    expect(await page.locator('.card-of code').allTextContents()).toEqual(['GET /v1/other']);
    expect(await page.getByLabel('Verification').inputValue()).toBe('true');
    await page.getByRole('link', { name: 'Remove filter: Settlement-verified' }).click();
    expect(new URL(page.url()).search).toBe('?q=prices&max_price_usdc=0.01');
    await page.getByLabel('Max price (USDC)').fill('cheap');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**=cheap**');
    expect(await page.getByRole('alert').textContent()).toContain('The parameter max_price_usdc cannot be "cheap".');
  });

  it('narrows the results by one click, to as many as were said', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(`${world.url}/search?q=prices&category=Finance`);
    const links = await page
      .getByRole('list', { name: 'Narrow the results' })
      .getByRole('link')
      .evaluateAll((all) =>
        all.map((link) => ({ href: link.getAttribute('href'), count: link.querySelector('b')?.textContent })),
      );
    expect(links.length).toBeGreaterThan(1);
    for (const { href, count } of links) {
      expect(href).toContain('/search?q=prices&category=Finance&');
      await page.goto(`${world.url}${href}`);
      expect(await page.locator('#results').textContent()).toMatch(new RegExp(`^${count} listings?,`));
    }
    // The values of the form say the same, each filter as if it were not set.
    const option = page.getByLabel('Category').locator('option[selected]');
    expect(await option.textContent()).toMatch(/^Finance \(\d+\)$/);
  });
  it('offers the filters that words name, each by one click', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(`${world.url}/search?q=prices+under+1+cent+on+Solana`);
    const offered = page.getByRole('list', { name: 'Filters that your words name' }).getByRole('link');
    expect(await offered.allTextContents()).toEqual(['Only up to 0.01 USDC', 'Only on Solana']);
    await offered.first().click();
    await page.waitForURL('**/search?q=prices+under+1+cent+on+Solana&max_price_usdc=0.01');
    expect(await offered.allTextContents()).toEqual(['Only on Solana']);
  });
});
