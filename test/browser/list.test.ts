import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { FILE, openShop, serveWithIntake } from '../intake/serving.ts';
import { getBrowser } from '../worker-browser.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

let browser: Browser;
beforeAll(async () => {
  browser = await getBrowser();
});

describe('a provider with an empty host', () => {
  it.each([true, false])('is listed with a badge after four clicks, with JavaScript: %s', async (javaScriptEnabled) => {
    const server = await serveWithIntake();
    server.startProber();
    const { origin, files } = await openShop();
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    const look = async () => {
      if (!javaScriptEnabled) return [];
      await page.evaluate(AXE);
      return page.evaluate(async () => {
        const { run } = Reflect.get(window, 'axe') as { run: () => Promise<{ violations: { id: string }[] }> };
        const isWide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
        return [...(await run()).violations.map(({ id }) => id), ...(isWide ? ['too wide'] : [])];
      });
    };
    let clicks = 0;
    const click = async (name: string) => {
      clicks += 1;
      await page.getByRole('button', { name }).click();
      await page.waitForLoadState();
    };
    const readFile = async () =>
      String(await page.getByRole('group', { name: 'the file for your host' }).textContent());
    await page.goto(`${server.url}/submit?host=${encodeURIComponent(origin)}`);
    await click('Check it');
    await page.getByLabel('Route').fill('GET /v1/quote');
    await page.getByLabel('Price in USDC').fill('0.01');
    await page.getByLabel('What it does').fill('Quotes of stocks');
    await click('Write the file');
    await click('List it');
    expect(await page.getByRole('status').textContent()).toBe('Waiting for the file');
    expect(await look()).toEqual([]);
    files[FILE] = await readFile();
    await click('It is there');
    // It refreshes itself.
    await page.getByText('What comes next').waitFor({ timeout: 0 });
    expect(clicks).toBe(4);
    expect(await page.getByRole('status').textContent()).toBe('Listed');
    expect(await page.getByText('3 days and 12 samples').count()).toBe(1);
    expect(await page.getByRole('group', { name: /^badge of / }).textContent()).toContain('.svg');
    expect(await look()).toEqual([]);
    await page.getByRole('link', { name: new URL(origin).host }).click();
    await page.waitForLoadState();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(new URL(origin).host);
    await context.close();
  });
});
