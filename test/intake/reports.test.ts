import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { readQueue } from '../../src/submissions/queue.ts';
import { getBrowser } from '../worker-browser.ts';
import { askJson, serveWithIntake } from './serving.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

let browser: Browser;
beforeAll(async () => {
  browser = await getBrowser();
});

const TRANSACTION = `0x${'a'.repeat(64)}`;

describe('a report of a buyer', () => {
  it('is kept for a listed route, once, and changes nothing that anybody sees', async () => {
    const server = await serveWithIntake();
    const read = async () => (await askJson(`${server.url}/agent/listings/api-0`)).json;
    const before = await read();
    const { method, url } = before.listing.routes[0];
    const report = (body: object) =>
      askJson(`${server.url}/reports`, { transaction: TRANSACTION, method, url, ...body });
    const kept = await report({});
    expect([kept.status, kept.json]).toMatchObject([202, { kept: true, listing: 'api-0' }]);
    expect((await report({})).status).toBe(202);
    expect((await report({ transaction: TRANSACTION.toUpperCase() })).status).toBe(202);
    expect((await report({ transaction: '0x12' })).json).toMatchObject({ code: 'no_transaction' });
    expect((await report({ url: 'https://elsewhere.example.com/v1/x' })).json).toMatchObject({ code: 'no_route' });
    expect((await report({ method: 'BREW' })).status).toBe(400);
    const reports = readQueue(server.intake.config.submissionsFile, (queue) => queue.listReports(''));
    expect(reports).toMatchObject([{ transaction: TRANSACTION, slug: 'api-0', method }]);
    const { listing: same } = before;
    const { listing: after } = await read();
    expect(after).toEqual(same);
  });

  it('is sent from the page of a listing', async () => {
    const server = await serveWithIntake();
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${server.url}/api/api-0`);
    await page.getByRole('link', { name: 'Paid and got nothing?' }).click();
    await page.getByLabel('Transaction of your payment').fill('nonsense');
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('not the name of a transaction');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(AXE);
      const violations = await page.evaluate(async () => {
        const { run } = Reflect.get(window, 'axe') as { run: () => Promise<{ violations: { id: string }[] }> };
        return (await run()).violations.map(({ id }) => id);
      });
      expect([colorScheme, violations]).toEqual([colorScheme, []]);
    }
    await page.getByLabel('Transaction of your payment').fill(TRANSACTION);
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await page.getByRole('status').textContent()).toContain('Thank you.');
    expect(readQueue(server.intake.config.submissionsFile, (queue) => queue.count().reports)).toBe(1);
    await page.context().close();
  });
});
