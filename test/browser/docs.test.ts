import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATHS } from '../../src/views/links.ts';
import { openPage, openWorld, visit, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('the reference of endpoints', () => {
  it('sends a request and shows what came, and the command for it', async () => {
    const { page, faults } = await openPage(world);
    await visit(page, `${world.url}${PATHS.docsApi}`);
    const form = page.locator('form[data-operation="listListings"]');
    await form.locator('#listListings-q').fill('prices');
    await form.getByText('more parameters').click();
    await form.locator('#listListings-category').selectOption('Finance');
    expect(await form.locator('.code code').textContent()).toMatch(/agent\/list\?q=prices&limit=20&category=Finance'$/);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('[data-state="ok"]').waitFor();
    expect(await form.getByRole('status').textContent()).toMatch(/^200 OK · \d+ ms · [\d.]+ kB$/);
    const answer = (await form.locator('.answer code').textContent()) ?? '';
    expect(answer).toContain('x-catalogue-revision: ');
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      filters: { q: 'prices', category: 'Finance' },
    });
    expect(faults).toEqual([]);
  });

  it('is filled in with calls that work', async () => {
    const { page } = await openPage(world);
    await page.goto(`${world.url}${PATHS.docsApi}`);
    const calls = await page.locator('.operation form').evaluateAll((forms) =>
      forms.map((form) => ({
        method: (form as HTMLElement).dataset.method ?? '',
        command: form.querySelector('.code code')?.textContent ?? '',
        body: form.querySelector('textarea')?.value,
      })),
    );
    expect(calls.length).toBeGreaterThan(15);
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const failed: unknown[] = [];
    for (const { method, command, body } of calls) {
      const path = /^curl '(?:https?:\/\/[^/]+)([^']*)'/.exec(command)?.[1] ?? '';
      const { status } = await fetch(`${world.url}${path}`, { method, ...(body !== undefined && { headers, body }) });
      if (status !== 200) failed.push([path, status]);
    }
    // No contact is set in this world.
    expect(failed).toEqual([['/.well-known/security.txt', 404]]);
  });

  it('fills in the path, and shows a refusal as one', async () => {
    const { page } = await openPage(world);
    await visit(page, `${world.url}${PATHS.docsApi}#get-agent-listings-slug`);
    const form = page.locator('form[data-operation="getListing"]');
    await form.locator('#getListing-slug').fill('no such/listing');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('[data-state="failed"]').waitFor();
    expect(await form.getByRole('status').textContent()).toMatch(/^404 /);
    expect(await form.locator('.code code').textContent()).toContain('/agent/listings/no%20such%2Flisting');
  });

  it('posts a body', async () => {
    const { page, faults } = await openPage(world);
    await visit(page, `${world.url}${PATHS.docsApi}`);
    const form = page.locator('form[data-operation="callMcp"]');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('[data-state="ok"]').waitFor();
    expect(await form.locator('.answer code').textContent()).toContain('search_listings');
    expect(faults).toEqual([]);
  });

  it('shows the listings of the live document with each of their fields, and runs nothing of theirs', async () => {
    const { page, faults } = await openPage(world);
    await visit(page, `${world.url}${PATHS.docsApi}`);
    const section = page.locator('[data-tags]');
    await section.getByLabel('Words of a listing').fill('hostile');
    await section.getByRole('button', { name: 'Show listings' }).click();
    const card = section.locator('.tag-card').first();
    await card.waitFor();
    expect(await section.getByRole('status').textContent()).toMatch(/^1 of \d+ listings\.$/);
    expect(await card.locator('dt').allTextContents()).toContain('x-payment-verified');
    expect(await card.locator('blockquote').textContent()).toContain('<script>');
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    await section.getByLabel('Words of a listing').fill('');
    await page.waitForFunction(() => document.querySelectorAll('.tag-card').length > 2);
    expect(faults).toEqual([]);
  });

  it('opens the answer of a plain form without JavaScript', async () => {
    const { page } = await openPage(world, { javaScriptEnabled: false });
    await page.goto(`${world.url}${PATHS.docsApi}`);
    const form = page.locator('form[data-operation="listListings"]');
    await form.locator('#listListings-q').fill('prices');
    await form.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL('**/agent/list?q=prices&limit=20');
    expect(await page.locator('body').textContent()).toContain('"total"');
  });
});

describe('the page of changes', () => {
  it('shows one kind of change alone by a link, without JavaScript', async () => {
    const { page } = await openPage(world, { javaScriptEnabled: false });
    await page.goto(`${world.url}${PATHS.changes}`);
    const rows = page.locator('.news-row');
    const all = await rows.count();
    await page.getByRole('link', { name: /^Removed/ }).click();
    const shown = await rows.evaluateAll((elements) =>
      elements.filter((row) => row.checkVisibility()).map((row) => row.className),
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.length).toBeLessThan(all);
    expect(shown.every((name) => name.includes('news-delisted'))).toBe(true);
  });
});
