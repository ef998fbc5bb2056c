import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { FILE, openShop, serveTwoBehindNginx } from '../intake/serving.ts';
import { findNginx } from '../nginx.ts';
import { skipWithout } from '../skipped.ts';
import { getBrowser } from '../worker-browser.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

let browser: Browser;
beforeAll(async () => {
  browser = await getBrowser();
});

describe('a provider with an empty host', () => {
  it.for([true, false])(
    'is listed with a badge after four clicks, with JavaScript: %s',
    async (javaScriptEnabled, context) => {
      skipWithout('postgres', context);
      const nginx = findNginx();
      if (!nginx) return context.skip('no nginx: install nginx-light');
      const { url, startProber } = await serveTwoBehindNginx(nginx);
      startProber();
      const { origin, files } = await openShop();
      const visit = await browser.newContext({ javaScriptEnabled });
      const page = await visit.newPage();
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
      const click = async (role: 'button' | 'link', name: string) => {
        clicks += 1;
        await page.getByRole(role, { name }).first().click();
        await page.waitForLoadState();
      };
      const readFile = async () =>
        String(await page.getByRole('group', { name: 'the file for your host' }).textContent());
      await page.goto(url);
      await click('link', 'List your API');
      await page.getByLabel('Host or address of your API').fill(origin);
      await click('button', 'Check it');
      await click('button', 'List it');
      expect(await page.getByRole('status').textContent()).toBe('Not listed yet');
      expect(await look()).toEqual([]);
      files[FILE] = (await readFile()).replace('/your/route', '/v1/quote').replace('your price, such as 0.01', '0.01');
      await click('button', 'It is there');
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
      await visit.close();
    },
  );
});
