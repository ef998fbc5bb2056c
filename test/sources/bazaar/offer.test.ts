import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../../src/model/network.ts';
import { parseFeedItem } from '../../../src/sources/bazaar/feed.ts';
import { parseOffer } from '../../../src/sources/bazaar/offer.ts';
import {
  BASE_USDC,
  makeItem,
  makeOffer,
  makeSolanaOffer,
  OPTIONS,
  SELLER,
  SOLANA_SELLER,
  SOLANA_USDC,
} from './items.ts';

function read(offer: unknown, version: unknown = 2) {
  const notes: string[] = [];
  return { terms: parseOffer(offer, version, (code) => notes.push(code)), notes };
}

describe('an offer is taken', () => {
  it.each([
    [
      'with mixed-case and lower-case addresses',
      { asset: BASE_USDC.toLowerCase(), payTo: SELLER.toUpperCase().replace('0X', '0x') },
      [],
    ],
    ['under the other names', { asset: undefined, currency: BASE_USDC, payTo: undefined, recipient: SELLER }, []],
    ['under the old name of the amount', { amount: undefined, maxAmountRequired: '3000' }, []],
    ['with both names agreeing', { maxAmountRequired: '3000', currency: BASE_USDC, recipient: SELLER }, []],
    ['with two amounts', { maxAmountRequired: '9' }, ['amount_differs']],
    ['with two payees', { recipient: SOLANA_SELLER }, ['pay_to_differs']],
    ['with another amount in a list', { maxAmountRequired: ['9'] }, ['amount_differs']],
    ['with another payee in a list', { recipient: [SOLANA_SELLER] }, ['pay_to_differs']],
    ['with a number for an amount', { amount: 3000 }, ['amount_as_number']],
    ['with leading zeros', { amount: '0003000' }, []],
    ['of version 2 with the network of version 1', { network: 'base' }, ['network_spelling']],
    ['with the network in capitals', { network: 'Base' }, ['network_spelling']],
    ['without a scheme', { scheme: undefined }, ['scheme_assumed']],
  ])('%s', (_, overrides, notes) => {
    expect(read(makeOffer(overrides))).toMatchObject({
      terms: { network: 'base', scheme: 'exact', asset: NETWORKS.base.usdc, amount: 3000, pay_to: SELLER },
      notes,
    });
  });

  it('of version 1 with a CAIP-2 network', () => {
    expect(read(makeOffer(), 1)).toMatchObject({
      terms: { network: 'base', x402_version: 1 },
      notes: ['network_spelling'],
    });
    expect(read(makeSolanaOffer({ network: 'solana' }), 1)).toMatchObject({ terms: { network: 'solana' }, notes: [] });
  });

  it('of another scheme or version, with a note', () => {
    expect(read(makeOffer({ scheme: 'upto' }))).toMatchObject({ terms: { scheme: 'upto' }, notes: ['other_scheme'] });
    expect(read(makeOffer(), 3)).toMatchObject({ terms: { x402_version: null }, notes: ['odd_version'] });
    expect(read(makeOffer(), null)).toMatchObject({ terms: { x402_version: null }, notes: [] });
  });

  it.each([0, 345_600, 1_772_000_000, -1, 1.5, '60', null, undefined])(
    'with the time-out %s left out',
    (maxTimeoutSeconds) => {
      const { terms, notes } = read(makeOffer({ maxTimeoutSeconds }));
      expect(terms).toMatchObject({ max_timeout_seconds: null });
      expect(notes).toEqual(maxTimeoutSeconds === null || maxTimeoutSeconds === undefined ? [] : ['odd_timeout']);
    },
  );
});

describe('an offer is not taken', () => {
  it.each([
    [
      'a test network',
      { network: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
      'test_network',
    ],
    ['a test network by name', { network: 'solana-devnet', asset: 'x' }, 'test_network'],
    ['main network USDC on a test network', { network: 'base-sepolia' }, 'test_network_mainnet_asset'],
    ['another chain', { network: 'eip155:137' }, 'unsupported_network'],
    ['another chain by name', { network: 'polygon' }, 'unsupported_network'],
    ['no network', { network: '' }, 'no_network'],
    ['a network that is no text', { network: 8453 }, 'no_network'],
    ['no asset', { asset: undefined }, 'no_asset'],
    ['the asset USDC', { asset: 'USDC' }, 'asset_not_an_address'],
    ['the asset usd', { asset: 'usd' }, 'asset_not_an_address'],
    ['the asset iso4217:USD', { asset: 'iso4217:USD' }, 'asset_not_an_address'],
    ['another token', { asset: '0x4200000000000000000000000000000000000006' }, 'not_usdc'],
    ['USDC of another chain', { asset: SOLANA_USDC }, 'not_usdc'],
    ['an empty amount', { amount: undefined, maxAmountRequired: '' }, 'no_amount'],
    ['a negative amount', { amount: '-5' }, 'bad_amount'],
    ['an exponent', { amount: '1e3' }, 'bad_amount'],
    ['a decimal amount', { amount: '0.01' }, 'bad_amount'],
    ['a fraction as number', { amount: 0.5 }, 'bad_amount'],
    ['a currency sign', { amount: '$0.01' }, 'bad_amount'],
    ['an amount that is a list', { amount: ['1'] }, 'bad_amount'],
    ['nothing', { amount: '0' }, 'zero_amount'],
    ['100,000 USDC', { amount: '100000000000' }, 'implausible_price'],
    ['1,000.000001 USDC', { amount: '1000000001' }, 'implausible_price'],
    ['more than a number holds', { amount: '9'.repeat(60) }, 'implausible_price'],
    ['no payee', { payTo: '' }, 'bad_pay_to'],
    ['a URN as payee', { payTo: 'urn:merchant:42' }, 'bad_pay_to'],
    ['an opaque payee', { payTo: 'acct_1Nv0' }, 'bad_pay_to'],
    ['the zero address', { payTo: `0x${'0'.repeat(40)}` }, 'bad_pay_to'],
    ['the token itself as payee', { payTo: BASE_USDC }, 'bad_pay_to'],
    ['a Solana payee on Base', { payTo: SOLANA_SELLER }, 'bad_pay_to'],
    ['a scheme that is no name', { scheme: '<b>' }, 'bad_scheme'],
  ])('for %s', (_, overrides, code) => {
    expect(read(makeOffer(overrides)).terms).toBe(code);
  });

  it('that is no object, or whose Solana payee is none', () => {
    for (const offer of [null, 'exact', [], 7]) expect(read(offer).terms).toBe('bad_offer');
    for (const payTo of [SELLER, '1'.repeat(32), '0'.repeat(44), `${SOLANA_SELLER}1`, 'z'.repeat(44)]) {
      expect(read(makeSolanaOffer({ payTo })).terms).toBe('bad_pay_to');
    }
  });
});

describe('an item', () => {
  it('with at least one good offer is taken, and the others are noted', () => {
    const accepts = [makeOffer({ network: 'eip155:10' }), makeOffer(), makeOffer({ amount: '' })];
    const item = parseFeedItem(makeItem({ accepts }), OPTIONS);
    expect(item.outcome === 'taken' && item.route.terms.length).toBe(1);
    expect(item.findings.map(({ severity, code }) => [severity, code])).toEqual([
      ['noted', 'no_amount'],
      ['noted', 'unsupported_network'],
    ]);
  });

  it('without one is refused with the nearest code, and names all reasons', () => {
    const accepts = [makeOffer({ network: 'base-sepolia', asset: 'x' }), makeOffer({ amount: '100000000000' })];
    const item = parseFeedItem(makeItem({ accepts }), OPTIONS);
    expect(item).toMatchObject({ outcome: 'refused', code: 'implausible_price' });
    expect(item.findings).toHaveLength(1);
    expect(item.findings[0]?.message).toMatch(/1000 USDC.*test network/);
  });

  it('with thousands of offers has the first 32 read', () => {
    const accepts = Array.from({ length: 5000 }, (_, index) => makeOffer({ amount: String(index + 1) }));
    const item = parseFeedItem(makeItem({ accepts }), OPTIONS);
    expect(item.outcome === 'taken' && item.route.terms.length).toBe(32);
    expect(item.findings.map(({ code }) => code)).toEqual(['too_many_offers']);
  });

  it('with a duplicate offer has it once', () => {
    const item = parseFeedItem(
      makeItem({ accepts: [makeOffer(), makeOffer({ asset: BASE_USDC.toLowerCase() })] }),
      OPTIONS,
    );
    expect(item.outcome === 'taken' && item.route.terms.length).toBe(1);
  });
});
