import { describe, expect, it } from 'vitest';
import { makeRoute, makeTerms, NOW, recordReceiptFor, recordVerified } from '../builders.ts';
import { recordProbed } from '../sampled.ts';
import { removeListing } from '../written.ts';
import {
  buildChallenge,
  buildFields,
  buildOffer,
  CALLED,
  encode,
  makeFresh,
  makeSolanaTerms,
  recordAll,
  recordSeen,
  SEEN,
  serveChecks,
} from './checking.ts';

const OTHER_PAYEE = '0x9999999999999999999999999999999999999999';

describe('terms as on record', () => {
  it('that were only declared are never safe, in fields, in both versions, decoded and encoded', async () => {
    const catalogue = await recordAll([makeFresh()]);
    const { checkFields, checkChallenge } = await serveChecks(catalogue);
    const [v1, v2] = [buildChallenge([makeTerms()], 1), buildChallenge([makeTerms()], 2)];
    const answers = [
      await checkFields(buildFields(makeTerms())),
      await checkFields({ ...buildFields(makeTerms()), network: 'eip155:8453' }),
      await checkChallenge(v1),
      await checkChallenge(JSON.stringify(v1)),
      await checkChallenge(v2),
      await checkChallenge(encode(v2)),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({
        verdict: 'unseen',
        severity: 'notice',
        reason: 'declared_only',
        safe_offers: [],
        cautions: [{ code: 'never_seen', since: SEEN }],
        evidence_at: SEEN,
        route: { listing: 'example-prices', method: 'GET', verification: 'unverified' },
        on_record: [{ network_id: 'eip155:8453', amount: '1000', evidence: 'declared', first_seen_at: SEEN }],
      });
      expect(answer.warnings.map(({ code }) => code)).toEqual(['declared_only']);
    }
    await recordProbed(catalogue, 'example-prices', [{ at: SEEN }]);
    for (const answer of [await checkFields(buildFields(makeTerms())), await checkChallenge(encode(v2))]) {
      expect(answer).toMatchObject({ verdict: 'match', severity: 'none', safe_offers: [0], cautions: [] });
      expect(answer).not.toHaveProperty('reason');
    }
    const { amount: _amount, ...rest } = buildFields(makeTerms());
    expect(await checkFields({ ...rest, price_usdc: '0.001' })).toMatchObject({ verdict: 'match' });
  });

  it('of a route that took money and delivered nothing are a danger, until a later call is delivered', async () => {
    const catalogue = await recordAll([makeFresh()]);
    const { checkOffers } = await serveChecks(catalogue);
    await recordProbed(catalogue, 'example-prices', [{ at: SEEN }]);
    await recordReceiptFor(catalogue, 'example-prices', { delivered: false, settled_at: SEEN });
    const answer = await checkOffers([makeTerms()]);
    expect(answer).toMatchObject({
      verdict: 'caution',
      severity: 'danger',
      reason: 'undelivered',
      safe_offers: [],
      offers: [{ standing: 'on_record' }],
      cautions: [{ code: 'undelivered', severity: 'danger', since: SEEN }],
    });
    expect(answer.summary).toBe('Do not pay. We paid for a call, and nothing was delivered (since 2026-11-18).');
    expect(await checkOffers([makeTerms({ amount: 900 })])).toMatchObject({ verdict: 'mismatch', severity: 'danger' });
    await recordReceiptFor(catalogue, 'example-prices', { settled_at: NOW });
    expect(await checkOffers([makeTerms()])).toMatchObject({ verdict: 'match', severity: 'none', safe_offers: [0] });
  });

  it('match without a word once a 402 was seen, and say when it was paid', async () => {
    const catalogue = await recordAll([makeFresh()]);
    const { checkOffers } = await serveChecks(catalogue);
    await recordProbed(catalogue, 'example-prices', [{ at: SEEN }]);
    expect(await checkOffers([makeTerms()])).toMatchObject({
      severity: 'none',
      warnings: [],
      on_record: [{ evidence: 'observed', last_seen_at: SEEN }],
    });
    await recordVerified(catalogue, 'example-prices', '/v1/price/:symbol', NOW);
    expect(await checkOffers([makeTerms()])).toMatchObject({
      severity: 'none',
      evidence_at: NOW,
      route: { verification: 'settlement-verified' },
      on_record: [{ evidence: 'paid', paid_at: NOW }],
    });
  });

  it('match by any one offer, and the others are flagged', async () => {
    const { checkOffers } = await serveChecks(await recordSeen([makeFresh()]));
    const answer = await checkOffers([makeTerms({ amount: 5000 }), makeSolanaTerms(), makeTerms()]);
    expect(answer).toMatchObject({
      verdict: 'match',
      severity: 'notice',
      safe_offers: [2],
      offers: [
        { index: 0, standing: 'differs', differences: [{ field: 'amount', offered: '5000', on_record: '1000' }] },
        { index: 1, standing: 'not_on_record', network: 'solana' },
        { index: 2, standing: 'on_record' },
      ],
      warnings: [{ code: 'other_offers_differ' }],
    });
  });
});

describe('terms that were only declared', () => {
  it('prove no others wrong: both are named, and neither is safe', async () => {
    const { checkOffers } = await serveChecks(await recordAll([makeFresh()]));
    const answer = await checkOffers([makeTerms({ amount: 1001, pay_to: OTHER_PAYEE })]);
    expect(answer).toMatchObject({ verdict: 'mismatch', severity: 'notice', reason: 'terms_differ', safe_offers: [] });
    expect(answer.summary).toContain('It asks 0.001001 USDC; on record is 0.001; payee differs from the record');
    expect(answer.summary).toContain('no 402 was ever seen here');
  });
});

describe('terms that are not on record', () => {
  const served = async () => {
    const catalogue = await recordAll([makeFresh()]);
    await recordProbed(catalogue, 'example-prices', [{ at: SEEN }]);
    return await serveChecks(catalogue);
  };

  it.each([
    ['dearer', { amount: 1001 }, 'amount', 'It asks 0.001001 USDC; on record is 0.001 '],
    ['paid to another', { pay_to: OTHER_PAYEE }, 'pay_to', 'The payee differs from the record'],
    ['of another scheme', { scheme: 'upto' }, 'scheme', 'The scheme differs from the record'],
  ])('%s are a danger', async (_what, change, field, summary) => {
    const answer = await (await served()).checkOffers([makeTerms(change)]);
    expect(answer).toMatchObject({ verdict: 'mismatch', severity: 'danger', reason: 'terms_differ', safe_offers: [] });
    expect(answer.offers[0]?.differences?.map((difference) => difference.field)).toEqual([field]);
    expect(answer.summary).toContain(summary);
    expect(answer).toMatchObject({ evidence_at: SEEN, on_record: [{ amount: '1000' }] });
  });

  it('cheaper are a difference, and no danger', async () => {
    const { checkOffers } = await served();
    expect(await checkOffers([makeTerms({ amount: 900 })])).toMatchObject({
      verdict: 'mismatch',
      severity: 'notice',
      reason: 'cheaper',
      safe_offers: [],
    });
    const mixed = await checkOffers([makeTerms({ amount: 5000 }), makeTerms({ amount: 900 })]);
    expect(mixed.severity).toBe('danger');
    expect(await checkOffers([makeTerms({ amount: 900, pay_to: OTHER_PAYEE })])).toMatchObject({ severity: 'danger' });
  });

  it('on a network that the route is not known on are a danger', async () => {
    const answer = await (await served()).checkOffers([makeSolanaTerms()]);
    expect(answer).toMatchObject({ verdict: 'mismatch', severity: 'danger' });
  });

  it.each([
    ['another token', { asset: '0x4200000000000000000000000000000000000006' }, 'not_usdc'],
    ['the name of a token', { asset: 'USDC' }, 'asset_not_an_address'],
    ['a test network', { network: 'eip155:84532' }, 'test_network_mainnet_asset'],
    ['another network', { network: 'eip155:137' }, 'unsupported_network'],
    ['no price', { amount: '0' }, 'zero_amount'],
    ['a price beyond reason', { amount: '9'.repeat(39) }, 'implausible_price'],
    ['a payee that is none', { pay_to: 'me' }, 'bad_pay_to'],
  ])('in %s cannot be paid, on record or not', async (_what, change, reason) => {
    const { checkFields } = await served();
    const fields = { ...buildFields(makeTerms()), ...change };
    const known = await checkFields(fields);
    expect(known).toMatchObject({ verdict: 'mismatch', severity: 'danger', reason, safe_offers: [] });
    expect(known.offers).toMatchObject([{ standing: 'not_payable', reason }]);
    const unknown = await checkFields({ ...fields, url: 'https://nobody.example.com/x' });
    // What is on another network may be right there, of which nothing is known here.
    const verdict = reason === 'unsupported_network' ? 'unknown_route' : 'mismatch';
    expect(unknown).toMatchObject({ verdict, on_record: [] });
  });
});

describe('what is not compared is said', () => {
  it('of a payee that rotates', async () => {
    const catalogue = await recordAll([makeFresh()]);
    const samples = ['1', '2', '3'].map((digit, round) => ({
      at: `2026-11-18T${String(round * 6).padStart(2, '0')}:00:00.000Z`,
      terms: [makeTerms({ pay_to: `0x${digit.repeat(40)}` })],
    }));
    await recordProbed(catalogue, 'example-prices', samples);
    const answer = await (await serveChecks(catalogue)).checkOffers([makeTerms({ pay_to: OTHER_PAYEE })]);
    expect(answer).toMatchObject({ verdict: 'match', severity: 'notice', route: { payee: 'rotating' } });
    expect(answer.cautions.map(({ code }) => code)).toEqual(['payee_rotates']);
    expect(answer.warnings).toEqual([]);
  });

  it('of a payee that no source names', async () => {
    const routes = [makeRoute({ terms: [makeTerms({ pay_to: null })] })];
    const answer = await (await serveChecks(await recordAll([makeFresh({ routes })]))).checkOffers([makeTerms()]);
    expect(answer.verdict).toBe('unseen');
    expect(answer.warnings.map(({ code }) => code)).toEqual(['payee_not_on_record', 'declared_only']);
  });

  it('of a record that is old, by the time of asking', async () => {
    const catalogue = await recordAll([makeFresh()]);
    const listCodes = async (now: string) => {
      const { checkFields } = await serveChecks(catalogue, () => new Date(now));
      return (await checkFields(buildFields(makeTerms()))).warnings.map(({ code }) => code);
    };
    expect(await listCodes(NOW)).not.toContain('stale_record');
    expect(await listCodes('2026-12-02T13:00:00.000Z')).toContain('stale_record');
  });

  it('of a bare claim, which has no time', async () => {
    const source = { kind: 'manifest', name: 'claim.yaml', observed_at: null } as const;
    const answer = await (await serveChecks(await recordAll([makeFresh({ source })]))).checkOffers([makeTerms()]);
    expect(answer).not.toHaveProperty('evidence_at');
    expect(answer.warnings.map(({ code }) => code)).toEqual(['declared_only', 'stale_record']);
  });

  it('of a challenge for something else than was called', async () => {
    const { checkChallenge } = await serveChecks(await recordSeen([makeFresh()]));
    for (const version of [1, 2] as const) {
      const elsewhere = buildChallenge([makeTerms()], version, 'https://elsewhere.example/v1/gold');
      const answer = await checkChallenge(elsewhere);
      expect(answer).toMatchObject({
        verdict: 'match',
        severity: 'notice',
        resources: ['https://elsewhere.example/v1/gold'],
      });
      expect(answer.warnings.map(({ code }) => code)).toContain('resource_differs');
    }
  });

  it('of a payment that could be cashed for days', async () => {
    const offer = { ...buildOffer(makeTerms(), 2), maxTimeoutSeconds: 31_536_000 };
    const { checkChallenge } = await serveChecks(await recordAll([makeFresh()]));
    const { warnings } = await checkChallenge({ x402Version: 2, resource: { url: CALLED }, accepts: [offer] });
    expect(warnings.map(({ code }) => code)).toContain('long_timeout');
  });
});

describe('a route that is not known', () => {
  const fields = (url: string, rest = {}) => ({ ...buildFields(makeTerms(), url), ...rest });

  it.each([
    ['https://nobody.example.com/v1/x', {}, 'host_not_listed', []],
    ['https://api.prices.example-provider.com/v2/prices/x', {}, 'path_not_listed', ['/v1/price/:symbol', '/v1/list']],
    [CALLED, { method: 'POST' }, 'other_method', ['/v1/price/:symbol']],
    [CALLED.replace('https', 'http'), {}, 'not_https', ['/v1/price/:symbol', '/v1/list']],
    ['https://api.prices.example-provider.com:8443/v1/list', {}, 'host_not_listed', []],
    ['https://bulk.example-provider.com/anything', {}, 'not_itemised', []],
  ])('%s is told with why, and what may have been meant', async (url, rest, reason, paths) => {
    const unitemised = makeFresh({
      slug: 'bulk',
      base_url: 'https://bulk.example-provider.com',
      routes: [],
      price: { min: 1000, max: 2000 },
    });
    const listed = makeFresh({ routes: [makeRoute(), makeRoute({ path: '/v1/list' })] });
    const answer = await (await serveChecks(await recordAll([listed, unitemised]))).checkFields(fields(url, rest));
    expect(answer).toMatchObject({ verdict: 'unknown_route', severity: 'notice', reason, safe_offers: [] });
    const near = (answer.nearest ?? []).map((route) =>
      route.url.replace('https://api.prices.example-provider.com', ''),
    );
    expect(near).toEqual(paths);
  });

  it('is one that nobody has put a price on', async () => {
    const routes = [makeRoute({ path: '/v1/free', terms: [] }), makeRoute()];
    const { checkFields } = await serveChecks(await recordAll([makeFresh({ routes })]));
    expect(await checkFields(fields('https://api.prices.example-provider.com/v1/free'))).toMatchObject({
      verdict: 'unknown_route',
      reason: 'no_terms',
      listing: 'example-prices',
    });
  });

  it('is not one that was called with HEAD, with a dot behind the host, or that lies below a base path', async () => {
    const below = makeFresh({
      slug: 'below',
      base_url: 'https://api.prices.example-provider.com/v1/deep?tier=1',
      routes: [makeRoute({ path: '/x', terms: [makeTerms({ amount: 7000 })] })],
    });
    const { checkFields } = await serveChecks(await recordSeen([makeFresh(), below]));
    expect(await checkFields(fields(CALLED, { method: 'HEAD' }))).toMatchObject({ verdict: 'match' });
    expect(await checkFields(fields(CALLED.replace('.com', '.com.')))).toMatchObject({ verdict: 'match' });
    const deep = fields('https://api.prices.example-provider.com/v1/deep/x', { amount: '7000' });
    expect(await checkFields(deep)).toMatchObject({ verdict: 'match', listing: 'below' });
  });
});

describe('a call without a method', () => {
  const TOOL = 'https://api.prices.example-provider.com/mcp#report';
  const question = { url: TOOL, challenge: buildChallenge([makeTerms()], 2, TOOL) };
  const tool = makeRoute({ method: 'POST', path: '/mcp#report' });

  it('is of the one route at its address, as search results name a tool, in every form of asking', async () => {
    const { post, checkFields } = await serveChecks(await recordSeen([makeFresh({ routes: [tool] })]));
    const answers = [await (await post(question)).json(), await checkFields(buildFields(makeTerms(), TOOL))];
    for (const answer of answers) {
      expect(answer).toMatchObject({
        asked: { method: 'POST', url: TOOL },
        verdict: 'match',
        safe_offers: [0],
        route: { method: 'POST', url: TOOL },
      });
    }
    expect(await checkFields({ url: TOOL })).toMatchObject({ verdict: 'expected', safe_offers: [] });
  });

  it('is told what differs from that route, and gets no safe offer of another one', async () => {
    const { checkFields } = await serveChecks(await recordSeen([makeFresh({ routes: [tool] })]));
    expect(await checkFields(buildFields(makeTerms({ amount: 2000 }), TOOL))).toMatchObject({
      ...{ asked: { method: 'POST' }, verdict: 'mismatch', severity: 'danger', safe_offers: [] },
    });
    for (const method of ['GET', 'PUT'])
      expect(await checkFields({ ...buildFields(makeTerms(), TOOL), method })).toMatchObject({
        ...{ asked: { method }, verdict: 'unknown_route', reason: 'other_method', safe_offers: [] },
      });
  });

  it.each<[string, Parameters<typeof makeRoute>[0][]]>([
    ['of two methods', [{ method: 'POST' }, { method: 'PUT' }]],
    ['of one method, one of them a template', [{ method: 'POST' }, { method: 'POST', path: '/v1/price/x' }]],
  ])('is one of GET where several routes are there, %s', async (_which, routes) => {
    const listed = makeFresh({ routes: routes.map((route) => makeRoute(route)) });
    const { checkFields } = await serveChecks(await recordSeen([listed]));
    expect(await checkFields(buildFields(makeTerms()))).toMatchObject({
      ...{ asked: { method: 'GET' }, verdict: 'unknown_route', reason: 'other_method', safe_offers: [] },
    });
  });
});

describe('a listing that was removed', () => {
  it('is told with its tombstone, at once, and compared again once it is back', async () => {
    const catalogue = await recordSeen([makeFresh()]);
    const { checkFields } = await serveChecks(catalogue);
    const fields = buildFields(makeTerms());
    expect(await checkFields(fields)).toMatchObject({ verdict: 'match', revision: 2 });
    await removeListing(catalogue, 'example-prices', { by: 'provider', reason: 'moved away' });
    expect(await checkFields(fields)).toMatchObject({
      verdict: 'delisted',
      severity: 'danger',
      revision: 3,
      evidence_at: NOW,
      tombstone: { slug: 'example-prices', delisted_by: 'provider', reason: 'moved away' },
      safe_offers: [],
    });
    const elsewhere = { ...fields, url: 'https://api.prices.example-provider.com/never/was' };
    expect(await checkFields(elsewhere)).toMatchObject({ verdict: 'delisted' });
  });
});
