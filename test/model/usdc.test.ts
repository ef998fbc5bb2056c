import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  formatPriceRange,
  formatUsdc,
  getUsdcNumber,
  parseAtomicUsdc,
  parseUsdc,
  readTypedPrice,
} from '../../src/model/usdc.ts';

it('writes and reads the same amount back', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 10 ** 15 }), (atomic) => parseUsdc(formatUsdc(atomic)) === atomic));
  expect([formatUsdc(1000), formatUsdc(1), formatUsdc(12_000_000), formatUsdc(0)]).toEqual([
    '0.001',
    '0.000001',
    '12',
    '0',
  ]);
  expect([getUsdcNumber(1000), getUsdcNumber(250_000)]).toEqual([0.001, 0.25]);
});

it.each(['', '-1', '+1', '1e3', '$1', '0x10', '1.2345678', '.5', '1.', ' 1', '１', 'NaN', '99999999999'])(
  'takes %j for no amount',
  (text) => expect(parseUsdc(text)).toBeUndefined(),
);

it.each([-5, '-5', '1e3', '$0.01', '', '1.5', '99999999999999999', null, {}, 1000])(
  'takes %j for no atomic amount',
  (value) => expect(parseAtomicUsdc(value)).toBeUndefined(),
);

it('shows a flat price as one value and a range with a hyphen', () => {
  expect(formatPriceRange(1000, 1000)).toBe('0.001');
  expect(formatPriceRange(1000, 250_000)).toBe('0.001-0.25');
});

it.each([
  [
    '0.01',
    [
      '0.01',
      '$0.01',
      '$ .01',
      '.01',
      '0.01 USDC',
      '0.01usd',
      ' .01 ',
      'US$0.01',
      '0,01',
      '0.010',
      '1 cent',
      '1¢',
      '1c',
    ],
  ],
  ['0.025', ['2.5 cents', ',025']],
  ['12', ['12', '12.', '$12', '12 USDC']],
  ['1.5', ['1,5', '1.50']],
])('reads %s as people write it', (usdc, written) => {
  expect(written.map(readTypedPrice)).toEqual(written.map(() => usdc));
});

it('leaves a text that is far too long for a price as it is, without reading it to its end', () => {
  // Read to its end, this would take minutes.
  const text = `$${' '.repeat(400_000)}x`;
  expect(readTypedPrice(text)).toBe(text);
});

it('leaves what is no price, or may be another one, as it is', () => {
  const texts = ['cheap', '', '$', '.', '1,000', '-1', '1e3', '0.0000001', '0.00001 cents', '1.000.000', '€1'];
  expect(texts.map(readTypedPrice)).toEqual(texts);
});
