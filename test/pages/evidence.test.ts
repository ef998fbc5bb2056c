import { describe, expect, it } from 'vitest';
import { listFindingSections } from '../../src/model/finding.ts';
import { makeRoute, makeTerms } from '../builders.ts';
import { SITE } from '../http/serving.ts';
import { makeReadCatalogue } from '../published/catalogues.ts';
import { openTestReading } from '../reading.ts';
import { recordProbed } from '../sampled.ts';
import { openPages } from './site.ts';

const CHEAP = { terms: [makeTerms()] };
const DEAR = {
  outcome: 'payable_with_changed_terms' as const,
  cause: 'amount',
  terms: [makeTerms({ amount: 2500 })],
};

/** A listing that was probed over some days: it answers, becomes dearer, fails, and answers again. */
async function makeProbed() {
  const made = await makeReadCatalogue({ routes: [makeRoute(), makeRoute({ path: '/v1/other' })] });
  const samples: Parameters<typeof recordProbed>[2] = [
    { at: '2026-11-21T06:00:00.000Z', ...CHEAP },
    { at: '2026-11-22T06:00:00.000Z', ...DEAR },
    { at: '2026-11-23T06:00:00.000Z', outcome: 'server_error', cause: 'status_503', status: 503 },
    { at: '2026-11-23T12:00:00.000Z', ...DEAR },
    { at: '2026-11-24T06:00:00.000Z', outcome: 'input_rejected', cause: 'status_422', status: 422 },
    { at: '2026-11-25T06:00:00.000Z', outcome: 'timeout' },
  ];
  await recordProbed(made.catalogue, 'example-prices', samples, '/v1/price/:symbol');
  return made;
}

describe('the page of a listing that was probed', () => {
  it('shows a strip of its days, named and told in words, and the same as a table', async () => {
    const { html, text } = await (await openPages((await makeProbed()).reading)).get('/api/example-prices');
    expect(html).toContain('<title id="strip-title">Probe results by day, 2026-10-26 to 2026-11-25</title>');
    expect(html).toMatch(/<svg[^>]* role="img" aria-labelledby="strip-title strip-desc">/);
    expect(html).toMatch(/<g class="strip-mixed">\s*<title>2026-11-23: 1 valid, 1 failed<\/title>/);
    expect(text).toContain('2 of 4 days without a failure; 3 of 5 samples valid; 1 sample told nothing');
    expect(text).toMatch(
      /2026-11-24 only inconclusive 1 inconclusive 2026-11-23 some failed 1 valid, 1 failed 2026-11-22 all valid 1 valid/,
    );
    expect(text).toContain(
      'Reliability: unscored, too little is known (5 samples in 30 days, the last 2026-11-25 06:00 UTC).',
    );
  });

  it('shows its price over time, drawn and as a table', async () => {
    const { html, text } = await (await openPages((await makeProbed()).reading)).get('/api/example-prices');
    expect(html).toMatch(/<svg[^>]* role="img" aria-labelledby="plot-title plot-desc">/);
    expect(html).toContain('<title id="plot-title">Price over time, 2026-11-20 to 2026-11-25</title>');
    expect(text).toContain(
      '0.001-0.0025 USDC per request since 2026-11-22 , seen by a probe. 1 change since 2026-11-20',
    );
    expect(text).toMatch(
      /2026-11-20 12:00 UTC 0\.001 a manifest says so 2026-11-22 06:00 UTC 0\.001-0\.0025 a probe saw it so/,
    );
  });

  it('says that its prices are partly declared until a 402 asked each', async () => {
    const { reading, catalogue } = await makeProbed();
    const pages = await openPages(reading);
    expect((await pages.get('/api/example-prices')).text).toContain(
      'Price 0.001-0.0025 USDC per request partly as declared; 402 seen 2026-11-23 Network',
    );
    await recordProbed(catalogue, 'example-prices', [{ at: '2026-11-25T06:00:00.000Z', ...CHEAP }], '/v1/other');
    expect((await pages.get('/api/example-prices')).text).toContain(
      'Price 0.001-0.0025 USDC per request 402 seen 2026-11-25 Network',
    );
  });

  it('shows how every route stands, and what it asked before', async () => {
    const { text } = await (await openPages((await makeProbed()).reading)).get('/api/example-prices');
    expect(text).toMatch(
      /0\.0025 USDC Base rose from 0\.001, asked until 2026-11-21 unverified price rose on 2026-11-22 no answer in time, 2026-11-25 .* 0\.0025 402 seen 2026-11-23 ?, declared 0\.001 ?\. Probed 2026-11-25 ?: no answer in time; last valid 402 2026-11-23/,
    );
    expect(text).toMatch(
      /\/v1\/other Latest price of one symbol\. 0\.001 USDC Base declared 2026-11-01 , not seen yet .* 0\.001 declared, seen 2026-11-01 ?\. Never probed\./,
    );
  });

  it('tells the latest decisions with why, and where all of them are', async () => {
    const { html, text } = await (await openPages((await makeProbed()).reading)).get('/api/example-prices');
    expect(text).toMatch(
      /What changed .*2026-11-22 06:00 UTC .*Price 0\.001-0\.0025 USDC, before 0\.001 USDC : a probe saw it so/,
    );
    expect(text).toContain(
      'probe of GET /v1/price/:symbol, 2026-11-22 06:00:00 UTC: valid 402, other terms: price changed',
    );
    expect(html).toContain('<a href="/agent/listings/example-prices">');
  });

  it('says the same in its Markdown twin, in brief', async () => {
    const { html } = await (await openPages((await makeProbed()).reading)).get('/api/example-prices.md');
    expect(html).toContain('From 2026-10-26 to 2026-11-25: 2 of 4 days without a failure; 3 of 5 samples valid;');
    expect(html).toContain(
      'Days with failures, the latest first: 2026-11-25 (1 failed), 2026-11-23 (1 valid, 1 failed).',
    );
    expect(html).toContain('- 2026-11-22 06:00 UTC: 0.001-0.0025 (a probe saw it so)\n- 2026-11-20 12:00 UTC: 0.001 (');
    expect(html).toContain(
      '0.0025 USDC on Base (402 seen 2026-11-23, rose from 0.001, asked until 2026-11-21; declared 0.001); unverified; **notice: price rose, since 2026-11-22**; probed 2026-11-25: no answer in time, last valid 402 2026-11-23',
    );
    expect(html).toMatch(/## What changed\n\n- 2026-11-22 06:00 UTC: /);
  });

  it('is the same to the byte at any later time', async () => {
    const { reading, catalogue } = await makeProbed();
    const pages = await openPages(reading);
    const later = await openPages(
      await openTestReading(catalogue, { now: () => new Date('2027-03-01T00:00:00.000Z') }),
    );
    for (const path of ['/api/example-prices', '/api/example-prices.md']) {
      expect((await later.get(path)).html).toBe((await pages.get(path)).html);
    }
  });
});

describe('the address of a listing that a rule removed', () => {
  it('says why in words, what that rests on, and what its provider can do', async () => {
    const made = await makeReadCatalogue({});
    const silent = Array.from({ length: 12 }, (_, at) => ({
      at: new Date(Date.UTC(2026, 10, 21 + at * 2)).toISOString(),
      outcome: 'refused' as const,
      cause: 'econnrefused',
    }));
    await recordProbed(made.catalogue, 'example-prices', silent);
    const pages = await openPages(made.reading);
    const { status, text, html } = await pages.get('/api/example-prices');
    expect(status).toBe(410);
    expect(text).toMatch(
      /By a rule of this catalogue Reason on record no valid 402 for 14 days, and at least 10 conclusive/,
    );
    expect(text).toMatch(
      /What that rests on probe of GET .*: connection refused \d+ conclusive failures since 2026-11-21/,
    );
    expect(html).toContain('href="/docs/providers"');
    expect((await pages.get('/api/example-prices.md')).html).toMatch(
      /rests on:\n\n- probe of GET .*: connection refused\n- \d+ con/,
    );
  });
});

describe('the pages that explain', () => {
  it('say how routes are probed, what outcomes mean, and how a score is made', async () => {
    const { text, html } = await (await openPages((await makeReadCatalogue()).reading)).get('/method');
    expect(text).toContain('User-Agent: agent-payable-apis (+https://catalogue.example/method)');
    expect(html.match(/id="outcome-/g)).toHaveLength(19);
    expect(text).toContain('112 valid of 118 at one pace are 94.9%, and the score is 89, because');
    expect(text).toMatch(/13 of 13 3 thin 77 /);
    expect(text).toContain('no valid 402 for 14 days and at least 10 failures');
  });

  it('say how to be listed, corrected, removed and left alone', async () => {
    const { text, html } = await (await openPages((await makeReadCatalogue()).reading)).get('/docs/providers');
    expect(text).toContain('/.well-known/agent-payable.json');
    expect(text).toContain('User-agent: agent-payable-apis');
    expect(html).toContain(`<a href="${SITE.contactUrl}">`);
    expect(text).toContain('once the last reading is older than an hour');
    expect(html.slice(html.indexOf('id="new-host"'))).toMatch(
      new RegExp(`^[^<]*Is your host not in this catalogue yet[^<]*<a href="${SITE.contactUrl}">`),
    );
  });

  it('say what every finding means, with the fix to copy', async () => {
    const { text, html } = await (await openPages((await makeReadCatalogue()).reading)).get('/docs/providers/findings');
    const codes = listFindingSections().flatMap((section) => section.codes);
    expect(codes.length).toBeGreaterThan(100);
    expect(codes.filter(({ code }) => !html.includes(`id="code-${code}"`))).toEqual([]);
    expect(html.match(/<h3 /g)).toHaveLength(codes.length);
    expect(text).toContain('bad_pay_to The address to pay is missing or is not an account of the network. Fix: Write');
  });

  it('say honestly where nobody can be written to', async () => {
    const { reading } = await makeReadCatalogue();
    const site = { ...SITE, contactUrl: SITE.baseUrl };
    const { text } = await (await openPages({ ...reading, site })).get('/docs/providers');
    expect(text).toContain('has set no contact address, so there is nobody to write to');
    expect(text).not.toMatch(/tell the operator|write to the operator/);
  });
});
