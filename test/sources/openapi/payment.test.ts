import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../../src/model/network.ts';
import { listFindings, makeDocumentOf, takeDocument, takeRoute } from './documents.ts';

const PAYEE = '0x3333333333333333333333333333333333333333';

function ofPayment(info: unknown) {
  const document = makeDocumentOf({ 'x-payment-info': info });
  return {
    terms: takeDocument(document).declarations.flatMap(({ routes }) => routes[0]?.terms ?? []),
    codes: listFindings(document).map(({ code, severity }) => `${severity} ${code}`),
    items: takeDocument(document).items,
  };
}

const FIXED = { mode: 'fixed', currency: 'USD', amount: '0.02' };

describe('payment information of an operation', () => {
  it.each([
    ['a price object and a list of protocols', { price: FIXED, protocols: [{ x402: {} }] }, 20_000],
    ['protocols as names', { price: FIXED, protocols: ['x402', 'mpp'] }, 20_000],
    ['another protocol beside x402', { price: FIXED, protocols: [{ mpp: { method: 'tempo' } }, { x402: {} }] }, 20_000],
    ['the older flat fields', { pricingMode: 'fixed', price: '0.054', protocols: ['x402'] }, 54_000],
    ['an amount as a number', { price: { ...FIXED, amount: 0.1 }, protocols: ['x402'] }, 100_000],
    ['an amount with many zeros', { price: { ...FIXED, amount: '0.0500000000' }, protocols: ['x402'] }, 50_000],
    ['a dollar sign', { price: '$0.003', protocols: ['x402'] }, 3000],
    ['a price in USDC', { price: { amount: '0.02', currency: 'USDC' }, protocols: ['x402'] }, 20_000],
    ['a range without width', { price: { mode: 'dynamic', min: '0.01', max: '0.01' }, protocols: ['x402'] }, 10_000],
    ['x402 beside the price', { price: FIXED, x402: { network: 'base' } }, 20_000],
    ['no protocol at all', { price: FIXED }, 20_000],
    ['the atomic amount of x402 alone', { protocols: [{ x402: { amount: '7000' } }] }, 7000],
  ])('is read as %s', (_, info, amount) => {
    const { terms, items } = ofPayment(info);
    expect(terms).toMatchObject([
      { network: 'base', scheme: 'exact', asset: NETWORKS.base.usdc, amount, pay_to: null },
    ]);
    expect(items).toMatchObject({ received: 1, taken: 1, refused: 0 });
  });

  it('has network, payee and more if they are stated', () => {
    const details = { scheme: 'exact', payTo: PAYEE, amount: '20000', maxTimeoutSeconds: 300, version: 2 };
    const { terms, codes } = ofPayment({
      price: FIXED,
      protocols: [
        { x402: { ...details, network: NETWORKS.base.id, asset: NETWORKS.base.usdc } },
        { x402: { network: NETWORKS.solana.id, asset: 'USDC' } },
      ],
    });
    expect(terms).toMatchObject([
      { network: 'base', amount: 20_000, pay_to: PAYEE, max_timeout_seconds: 300, x402_version: 2 },
      { network: 'solana', amount: 20_000, asset: NETWORKS.solana.usdc, pay_to: null },
    ]);
    expect(codes).toEqual(['noted usd_as_usdc']);
  });

  it('may stand beside the protocols instead of inside', () => {
    const { terms } = ofPayment({
      price: FIXED,
      protocols: ['x402'],
      network: 'solana',
      asset: 'USDC',
      payTo: 'nobody',
    });
    expect(terms).toMatchObject([{ network: 'solana', pay_to: null }]);
  });

  it.each([
    ['dynamic_price', { price: { mode: 'dynamic', currency: 'USD', min: '0.01', max: '0.10' } }],
    ['dynamic_price', { pricingMode: 'range', minPrice: '0.01', maxPrice: '0.10' }],
    ['dynamic_price', { pricingMode: 'quote' }],
    ['other_currency', { price: { mode: 'fixed', currency: 'EUR', amount: '0.02' } }],
    ['unknown_price', { price: { mode: 'fixed', currency: 'USD', amount: '0.0000001' } }],
    ['unknown_price', { price: { mode: 'fixed', currency: 'USD', amount: '-1' } }],
    ['unknown_price', { price: '1e-3' }],
    ['unknown_price', { amount: '1000' }],
    ['unknown_price', {}],
  ])('leaves the route without terms: %s', (code, info) => {
    const { terms, codes, items } = ofPayment({ ...info, protocols: ['x402'] });
    expect([terms, items.taken]).toEqual([[], 1]);
    expect(codes).toContain(`noted ${code}`);
  });

  it.each([
    ['not_x402', { price: FIXED, protocols: ['mpp', { l402: {} }] }],
    ['not_x402', { amount: '100', intent: 'charge', method: 'stripe', currency: 'usd' }],
    ['not_x402', { offers: [{ amount: '100', intent: 'charge', method: 'tempo' }] }],
    ['zero_amount', { price: { ...FIXED, amount: '0.00' }, protocols: ['x402'] }],
    ['implausible_price', { price: { ...FIXED, amount: '20000' }, protocols: ['x402'] }],
    ['unsupported_network', { price: FIXED, protocols: [{ x402: { network: 'eip155:137' } }] }],
    ['test_network', { price: FIXED, protocols: [{ x402: { networks: ['base-sepolia'] } }] }],
    ['not_usdc', { price: FIXED, protocols: [{ x402: { network: 'base', asset: `0x${'5'.repeat(40)}` } }] }],
  ])('refuses the operation: %s', (code, info) => {
    const { codes, items } = ofPayment(info);
    expect(items).toEqual({ received: 1, taken: 0, duplicates: 0, refused: 1 });
    expect(codes).toContain(`refused ${code}`);
  });

  it('keeps the offer that can be taken, and says why another was left out', () => {
    const { terms, codes } = ofPayment({ price: FIXED, protocols: [{ x402: { networks: ['eip155:137', 'base'] } }] });
    expect(terms).toMatchObject([{ network: 'base' }]);
    expect(codes).toContain('noted unsupported_network');
  });

  it('takes the atomic amount if two prices are stated, with a note', () => {
    const { terms, codes } = ofPayment({ price: FIXED, protocols: [{ x402: { amount: '30000' } }] });
    expect(terms).toMatchObject([{ amount: 30_000 }]);
    expect(codes).toContain('noted amount_differs');
  });

  it('that is no object leaves the route without terms', () => {
    expect(takeRoute(makeDocumentOf({ 'x-payment-info': true })).terms).toEqual([]);
  });
});
