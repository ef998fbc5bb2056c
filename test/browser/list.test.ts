import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { askJson, FILE, openShop, serveTwoBehindNginx, writeShopFile } from '../intake/serving.ts';
import { findNginx } from '../nginx.ts';
import { skipWithout } from '../skipped.ts';
import { getBrowser } from '../worker-browser.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

type Servers = Awaited<ReturnType<typeof serveTwoBehindNginx>>;

it('a provider with an empty host is listed by two servers behind nginx, whose catalogue is in PostgreSQL: in four requests, and with a badge after four clicks, with JavaScript and without', async (context) => {
  skipWithout('postgres', context);
  const nginx = findNginx();
  if (!nginx) return context.skip('no nginx: install nginx-light');
  const servers = await serveTwoBehindNginx(nginx);
  servers.startProber();
  await Promise.all([listByRequests(servers), listByClicks(servers, true), listByClicks(servers, false)]);
});

/** Lists a new shop as a program does. */
async function listByRequests({ url, servers }: Servers): Promise<void> {
  const { origin, files } = await openShop();
  const client = { 'X-Forwarded-For': '203.0.113.1' };
  expect((await askJson(`${url}/providers/check`, { url: origin }, client)).json).toMatchObject({ listings: [] });
  const submitted = await askJson(`${url}/submit/list`, { url: origin }, client);
  files[FILE] = writeShopFile(origin);
  const { submission_url } = submitted.json;
  expect((await askJson(submission_url, {}, client)).json).toMatchObject({ state: 'received' });
  const look = async (server: { url: string }) =>
    (await askJson(`${server.url}${new URL(submission_url).pathname}`)).json.state;
  await expect.poll(() => Promise.all(servers.map(look)), { interval: 250 }).toEqual(['listed', 'listed']);
  for (const server of servers)
    await expect
      .poll(async () => (await askJson(`${server.url}/agent/list`)).json.listings)
      .toContainEqual(expect.objectContaining({ base_url: origin }));
}

/** Lists a new shop as a person does. */
async function listByClicks({ url }: Servers, javaScriptEnabled: boolean): Promise<void> {
  const { origin, files } = await openShop();
  // Each person is a client of their own.
  const extraHTTPHeaders = { 'X-Forwarded-For': `203.0.113.${javaScriptEnabled ? 2 : 3}` };
  const visit = await (await getBrowser()).newContext({ javaScriptEnabled, extraHTTPHeaders });
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
  const readFile = async () => String(await page.getByRole('group', { name: 'the file for your host' }).textContent());
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
}
