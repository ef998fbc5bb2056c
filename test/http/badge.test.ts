import { expect, it } from 'vitest';
import { makeCatalogue, makeDeclaration, makeRoute, recordVerified } from '../builders.ts';
import { recordPaid } from '../paid.ts';
import { getBrowser } from '../worker-browser.ts';
import { declareListings, removeListing } from '../written.ts';
import { serveLive } from './serving.ts';

const HOSTILE = '</text><script>alert(1)</script> 99 of 99 routes verified';

async function serveListed() {
  const catalogue = await makeCatalogue();
  const routes = [makeRoute(), makeRoute({ path: '/v1/other' })];
  await declareListings(catalogue, [
    makeDeclaration({ title: HOSTILE, provider_name: HOSTILE, tagline: HOSTILE, routes }),
  ]);
  return { catalogue, ...(await serveLive(catalogue)) };
}

const getTitle = (svg: string) => /<title id="t">(.*?)<\/title>/.exec(svg)?.[1];

it('says how many routes are verified and what speaks against them, and nothing that a provider says', async () => {
  const { catalogue, get } = await serveListed();
  const first = await get('/badge/example-prices.svg');
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(first.headers.get('cache-control')).toBe('public, max-age=300, must-revalidate');
  const unverified = await first.text();
  expect(getTitle(unverified)).toBe(
    'Agent-Payable APIs: api.prices.example-provider.com, declared 2026-11-01, not seen yet',
  );
  expect(unverified).toMatch(/^<svg [^>]*role="img" aria-labelledby="t">/);
  expect(unverified).not.toMatch(/alert|99 of 99/);

  await recordVerified(catalogue, 'example-prices', '/v1/other');
  const verified = await (await get('/badge/example-prices.svg')).text();
  expect(getTitle(verified)).toContain('1 of 2 routes verified, 2026-11-20');
  expect(verified).toContain('class="good"');

  await recordPaid(catalogue, 'example-prices', {
    path: '/v1/price/:symbol',
    id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b02',
    status: 500,
  });
  const dangerous = await (await get('/badge/example-prices.svg')).text();
  expect(getTitle(dangerous)).toContain(
    'danger: failed our paid call on 2026-11-20; 1 of 2 routes verified, 2026-11-20',
  );
  expect(dangerous).toContain('class="bad"');
});

it('answers 304 while it says the same, HEAD without a body, 404 for no listing, and 400 for a parameter', async () => {
  const { get, fetch } = await serveListed();
  const etag = (await get('/badge/example-prices.svg')).headers.get('etag') ?? '';
  expect((await get('/badge/example-prices.svg', { 'If-None-Match': etag })).status).toBe(304);
  const head = await fetch('/badge/example-prices.svg', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await get('/badge/example-prices.svg?style=flat')).status).toBe(400);
  for (const path of ['/badge/nobody.svg', '/badge/example-prices', '/badge/example-prices.png', '/badge/'])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
});

it('of a removed listing says with 410 that it was removed, and nothing of what it was', async () => {
  const { catalogue, get } = await serveListed();
  await recordVerified(catalogue, 'example-prices', '/v1/other');
  await removeListing(catalogue, 'example-prices', { by: 'provider', reason: 'asked_to_be_removed' });
  const gone = await get('/badge/example-prices.svg');
  const svg = await gone.text();
  expect([gone.status, gone.headers.get('content-type')]).toEqual([410, 'image/svg+xml']);
  expect(getTitle(svg)).toContain('removed from the catalogue 2026-11-20');
  expect(svg).not.toContain('verified');
});

it('is drawn as an image in the colours of the reader, which its policy admits', async () => {
  const { get } = await serveListed();
  const answer = await get('/badge/example-prices.svg');
  const svg = Buffer.from(await answer.arrayBuffer());
  const browser = await getBrowser();
  const pictures: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme });
    const blocked: string[] = [];
    page.on('console', ({ text }) => blocked.push(text()));
    await page.route('**/*', (route) =>
      route.fulfill({ status: 200, headers: Object.fromEntries(answer.headers), body: svg }),
    );
    await page.goto('https://catalogue.example/badge/example-prices.svg');
    const [fill, font] = await page.evaluate(() => {
      const path = document.querySelector('path');
      return [path && getComputedStyle(path).fill, document.documentElement.getBoundingClientRect().height];
    });
    pictures.push(String(fill));
    expect([colorScheme, font, blocked]).toEqual([colorScheme, 20, []]);
    await page.close();
  }
  expect(pictures).toEqual(['rgb(84, 91, 87)', 'rgb(166, 174, 169)']);
});
