import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { isChanged, listTermsDifferences } from '../../src/x402/terms-differences.ts';
import { makeTerms } from '../records.ts';

const BASE = makeTerms();
const OTHER_PAYEE = `0x${'2'.repeat(40)}`;
const SOLANA = makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: 'So1' });
const UPTO = makeTerms({ scheme: 'upto', amount: 5_000 });

function list(known: Parameters<typeof listTermsDifferences>[0], seen: Parameters<typeof listTermsDifferences>[1]) {
  return listTermsDifferences(known, seen).map(({ kind, fields }) => [kind, ...fields]);
}

describe('terms that were known', () => {
  it.each([
    [
      'are the same in any order, with other times and versions',
      [BASE, SOLANA],
      [SOLANA, { ...BASE, max_timeout_seconds: 9, x402_version: 1 as const }],
      [],
    ],
    ['are the same where no payee was known', [{ ...BASE, pay_to: null }], [BASE], []],
    ['are the same where two sources say one thing', [BASE, { ...BASE, pay_to: null }], [BASE], []],
    ['are no more than were known', [], [BASE], []],
    ['may change in price', [BASE], [{ ...BASE, amount: 2 }], [['changed', 'amount']]],
    ['may change in payee', [BASE, SOLANA], [{ ...BASE, pay_to: OTHER_PAYEE }, SOLANA], [['changed', 'pay_to']]],
    ['may change in both', [BASE], [{ ...BASE, amount: 2, pay_to: OTHER_PAYEE }], [['changed', 'amount', 'pay_to']]],
    ['may change in scheme', [BASE], [{ ...BASE, scheme: 'upto' }], [['changed', 'scheme']]],
    ['may move to another network', [BASE], [SOLANA], [['changed', 'network', 'asset', 'pay_to']]],
    ['may go while others stay', [BASE, SOLANA], [BASE], [['removed']]],
    ['may stay while others come', [BASE], [BASE, SOLANA], [['added']]],
    [
      'are matched to the likest',
      [BASE, UPTO],
      [
        { ...UPTO, amount: 6_000 },
        { ...BASE, amount: 2 },
      ],
      [
        ['changed', 'amount'],
        ['changed', 'amount'],
      ],
    ],
  ])('%s', (_what, known, seen, differences) => {
    expect(list(known, seen)).toEqual(differences);
  });

  it('are changed only if one of them is gone', () => {
    expect(isChanged(listTermsDifferences([BASE], [BASE, SOLANA]))).toBe(false);
    expect(isChanged(listTermsDifferences([BASE, SOLANA], [BASE]))).toBe(true);
  });

  it('do not compare the payee of a seller who rotates it', () => {
    const seen = [{ ...BASE, pay_to: OTHER_PAYEE }];
    expect(listTermsDifferences([BASE], seen, { payeeRotates: true })).toEqual([]);
  });
});
