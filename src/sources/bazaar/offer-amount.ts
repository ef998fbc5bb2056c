import { parseAtomicUsdc } from '../../model/usdc.ts';
import type { FindingCode } from '../finding-codes.ts';
import { MAX_PLAUSIBLE_AMOUNT } from '../plausible-amount.ts';

/** Parses an amount as x402 writes it: atomic units in decimal digits. Gives why it cannot be one otherwise. */
export function parseOfferAmount(raw: unknown): number | FindingCode {
  if (raw === undefined || raw === null || raw === '') return 'no_amount';
  const text = typeof raw === 'number' && Number.isInteger(raw) ? BigInt(raw).toString() : raw;
  if (typeof text !== 'string' || !/^\d{1,80}$/.test(text)) return 'bad_amount';
  if (/^0+$/.test(text)) return 'zero_amount';
  const amount = parseAtomicUsdc(text.replace(/^0+/, ''));
  return amount === undefined || amount > MAX_PLAUSIBLE_AMOUNT ? 'implausible_price' : amount;
}
