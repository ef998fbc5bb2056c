import { expect, it } from 'vitest';
import { getPayeeKind, listLastingOffers } from '../../src/evidence/payees.ts';
import { makeTerms } from '../records.ts';

const paying = (...payees: string[]) => payees.map((pay_to) => [makeTerms({ pay_to })]);

it('lets a second challenge decide whether a payee is fixed or rotating', () => {
  expect(getPayeeKind(null, true, paying('0xa'))).toBe('rotating');
  expect(getPayeeKind('rotating', false, paying('0xa', '0xb'))).toBe('fixed');
});

it('takes a payee as fixed when two answers in a row name it, and decides nothing from one', () => {
  expect(getPayeeKind(null, null, paying('0xa'))).toBeNull();
  expect(getPayeeKind(null, null, paying('0xa', '0xa'))).toBe('fixed');
  expect(getPayeeKind(null, null, paying('0xa', '0xb'))).toBeNull();
});

it('takes a payee as rotating when three answers in a row name three, whatever it was before', () => {
  expect(getPayeeKind('fixed', null, paying('0xa', '0xb', '0xa'))).toBe('fixed');
  expect(getPayeeKind('fixed', null, paying('0xa', '0xb', '0xc'))).toBe('rotating');
});

it('takes a rotating payee as fixed only after twelve answers that name one', () => {
  const eleven = Array.from({ length: 11 }, () => '0xa');
  expect(getPayeeKind('rotating', null, paying(...eleven))).toBe('rotating');
  expect(getPayeeKind('rotating', null, paying(...eleven, '0xb'))).toBe('rotating');
  expect(getPayeeKind('rotating', null, paying(...eleven, '0xa', '0xb'))).toBe('fixed');
});

it('records no payee for a route that rotates payees', () => {
  expect(listLastingOffers([makeTerms()], 'rotating')).toEqual([makeTerms({ pay_to: null })]);
  expect(listLastingOffers([makeTerms()], 'fixed')).toEqual([makeTerms()]);
});
