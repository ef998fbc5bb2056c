import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, ConsoleMessage, Page, Request } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { type Fixture, openFixture } from '../fixture.ts';
import { makeRoute, makeTerms } from '../records.ts';
import { SCRATCH } from '../scratch.ts';
import { buildListing } from '../site/site-fixture.ts';
import { getBrowser } from '../worker-browser.ts';
import { HOSTILE_BASE, HOSTILE_PATH, RECEIPTS } from './page-kinds.ts';

const HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> "quoted" \'text\' `code`';

const HOSTILE_INPUT = {
  input_schema: {
    type: 'object',
    properties: { [HOSTILE]: { type: HOSTILE, description: HOSTILE, example: HOSTILE, enum: [HOSTILE] } },
  },
  output_schema: {
    type: 'object',
    properties: { [HOSTILE]: { description: HOSTILE } },
    examples: [{ [HOSTILE]: HOSTILE }],
  },
};

/** A served catalogue that has something of everything to show, and the browser of the worker. */
export interface World {
  readonly url: string;
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Opens the world of the browser tests. One serves a whole file: nothing in it changes. */
export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(SCRATCH, 'pages-'));
  const fixture = await openFixture(folder);
  await writeWorld(fixture);
  const [browser, url] = await Promise.all([getBrowser(), fixture.serve()]);
  return {
    url,
    browser,
    close: async () => {
      await fixture.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What a route takes and gives, as far as a provider can say it. */
const DESCRIBED = {
  input_schema: {
    type: 'object',
    properties: {
      queryParams: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'Where to look', example: 'Berlin' },
          units: { enum: ['celsius', 'kelvin'], default: 'celsius' },
        },
        required: ['city'],
      },
    },
  },
  output_schema: {
    type: 'object',
    properties: { at: { type: 'string' }, values: { type: 'array', items: { type: 'number' } } },
    examples: [{ at: '2026-11-20', values: [1, 2] }],
  },
};

async function writeWorld({ declare, look, pay, remove }: Fixture): Promise<void> {
  await declare(
    ...[0, 1, 2].map((number) => buildListing(number, 'first')),
    {
      routes: [
        makeRoute(),
        makeRoute({
          path: '/v1/other',
          example: { query: { of: 'x' } },
          output_schema: { properties: { at: { type: 'number', description: 'Its day', example: '2026-11-20' } } },
        }),
      ],
    },
    {
      slug: 'hostile',
      base_url: HOSTILE_BASE,
      title: HOSTILE,
      tagline: HOSTILE,
      description: HOSTILE,
      provider_name: HOSTILE,
      routes: [makeRoute({ description: HOSTILE, path: HOSTILE_PATH, ...HOSTILE_INPUT })],
    },
    {
      slug: 'many-routes',
      base_url: 'https://many.example-provider.com',
      title: 'Many Routes',
      routes: Array.from({ length: 24 }, (_, at) =>
        makeRoute({
          path: `/${at % 2 ? 'text' : 'maths'}/tool-${at}`,
          description: `Tool number ${at}.`,
          ...DESCRIBED,
        }),
      ),
    },
    {
      slug: 'most-routes',
      base_url: 'https://most.example-provider.com',
      title: 'Most Routes',
      routes: [
        ...Array.from({ length: 57 }, (_, at) =>
          makeRoute({
            path: `/most/tool-${at}`,
            description: `Tool number ${at} of very many, which does what ${at} says.`,
            ...DESCRIBED,
          }),
        ),
        ...['{symbol}', 'btc', 'eth'].map((symbol) => makeRoute({ path: `/price/${symbol}` })),
      ],
    },
  );
  await remove('api-2', 'operator', 'asked_to_be_removed');
  await pay('example-prices', {
    ...{ path: '/v1/other', id: RECEIPTS.delivered },
    fields: [
      { path: 'at', type: 'string' },
      { path: 'values[]', type: 'number' },
      { path: 'note', type: 'string or null' },
    ],
  });
  await pay('hostile', { path: HOSTILE_PATH, id: RECEIPTS.undelivered, status: 500, body: HOSTILE });
  await look('example-prices', [
    { at: '2026-11-21T06:00:00.000Z' },
    { at: '2026-11-22T06:00:00.000Z', terms: [makeTerms({ amount: 2500 })] },
    { at: '2026-11-23T06:00:00.000Z', outcome: 'timeout' },
  ]);
}

/** The pages of this worker, with JavaScript and without: to open one takes longer than most of what a test does on it. */
const pages = new Map<boolean, Promise<Page>>();

/** Opens a page that remembers nothing, and collects everything that goes wrong on it until the test is over. */
export async function openPage(
  { browser, url }: World,
  { javaScriptEnabled = true, viewport = { width: 1280, height: 720 } } = {},
) {
  const known = pages.get(javaScriptEnabled) ?? browser.newPage({ javaScriptEnabled });
  pages.set(javaScriptEnabled, known);
  const page = await known;
  const context = page.context();
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'local_storage' });
  await session.detach();
  await page.emulateMedia({ media: null, colorScheme: null });
  await page.setViewportSize(viewport);
  const faults: string[] = [];
  const onError = ({ message }: Error) => faults.push(message);
  const onConsole = (message: ConsoleMessage) => message.type() === 'error' && faults.push(message.text());
  const onFailed = (request: Request) => faults.push(`${request.url()} failed`);
  page.on('pageerror', onError).on('console', onConsole).on('requestfailed', onFailed);
  onTestFinished(async () => {
    page.off('pageerror', onError).off('console', onConsole).off('requestfailed', onFailed);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.clearPermissions();
  });
  return { page, context, faults };
}

/** Says whether a page scrolls sideways. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}

/** Presses Tab until something whose text or name says so has the focus. */
export async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 90; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const { activeElement } = document;
      return `${activeElement?.getAttribute('aria-label') ?? ''} ${activeElement?.textContent ?? ''}`;
    });
    if (focused.includes(text)) return;
  }
  throw new Error(`nothing that says "${text}" was reached`);
}

/** Goes to a page and waits for its scripts, which come after the first paint and would else be at work in between. */
export async function visit(page: Page, url: string) {
  const response = await page.goto(url);
  await page.evaluate(`Promise.all(
    [...document.querySelectorAll('script[data-src]')]
      .flatMap((script) => script.dataset.src.split(' '))
      .map((address) => import(new URL(address, location.href).href)),
  ).then(() => undefined)`);
  return response;
}
