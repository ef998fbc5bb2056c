import { parseAtomicUsdc } from '../model/usdc.ts';
import type { OfferProblem } from './offer-problem.ts';

/**
 * Highest plausible price of one request, in atomic USDC: 1,000 USDC. The dearest of some thousand real offers asks 10
 * USDC, and the mistakes met (a figure with the wrong number of decimals) ask 100,000.
 */
export const MAX_PLAUSIBLE_AMOUNT = 1_000_000_000;

/**
 * Parses an amount as x402 writes it, a string of decimal digits that counts atomic units, or gives why it cannot be
 * one. The protocol's own schema takes any text: signs, exponents, fractions and currency signs are refused here.
 */
export function parseOfferAmount(raw: unknown): number | OfferProblem {
  if (raw === undefined || raw === null || raw === '') return 'no_amount';
  if (typeof raw !== 'string' || !/^\d{1,80}$/.test(raw)) return 'bad_amount';
  if (/^0+$/.test(raw)) return 'zero_amount';
  const amount = parseAtomicUsdc(raw.replace(/^0+/, ''));
  return amount === undefined || amount > MAX_PLAUSIBLE_AMOUNT ? 'implausible_price' : amount;
}
