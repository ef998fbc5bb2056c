import { isUsdc } from '../../model/network.ts';
import { parseUsdc } from '../../model/usdc.ts';
import { MAX_PLAUSIBLE_AMOUNT } from '../../x402/offer-fields.ts';
import type { Note } from '../finding-codes.ts';
import { isObject } from '../json-value.ts';

type Price = { mode: unknown; currency: unknown; amount: unknown; min: unknown; max: unknown };

/** Why there is no price: two of these keep the operation from being listed, the others leave it without a price. */
export type PriceProblem = 'zero_amount' | 'implausible_price' | 'dynamic_price' | 'unknown_price' | 'other_currency';

/**
 * Reads the price of one request from a payment object, in atomic USDC: `price: {mode, currency, amount}`, or the older
 * flat `pricingMode` and `price`. Amounts are decimal. Returns a code where there is none that holds for every request.
 */
export function readPrice(info: Record<string, unknown>, note: Note): number | PriceProblem {
  const { mode, currency, amount, min, max } = findPrice(info);
  const isFlat = min !== undefined && String(min) === String(max);
  if (mode !== undefined && mode !== 'fixed' && !isFlat) return 'dynamic_price';
  const stated = amount ?? (isFlat ? min : undefined);
  const atomic = readDecimal(stated);
  if (atomic === undefined) return 'unknown_price';
  if (!isDollar(currency)) return 'other_currency';
  if (atomic === 0) return 'zero_amount';
  if (atomic > MAX_PLAUSIBLE_AMOUNT) return 'implausible_price';
  if (!isNamedUsdc(currency)) note('usd_as_usdc');
  if (typeof stated === 'number') note('amount_as_number');
  return atomic;
}

function findPrice(info: Record<string, unknown>): Price {
  const { price, pricingMode, minPrice, maxPrice, currency, amount } = info;
  if (isObject(price)) {
    return {
      mode: price.mode,
      currency: price.currency ?? currency,
      amount: price.amount,
      min: price.min,
      max: price.max,
    };
  }
  // A bare whole number is as likely a count of atomic units, as another protocol writes it.
  const isDecimal = currency !== undefined || /[.$]/.test(String(amount));
  return {
    mode: pricingMode,
    currency,
    amount: price ?? (isDecimal ? amount : undefined),
    min: minPrice,
    max: maxPrice,
  };
}

/** Reads a decimal amount, with or without a dollar sign before it or a currency behind it. */
function readDecimal(raw: unknown): number | undefined {
  const text = typeof raw === 'number' ? String(raw) : typeof raw === 'string' ? raw.trim() : '';
  const decimal = /^\$?\s?(\d{1,10}(?:\.\d{1,30})?)(?:\s?(?:USDC?))?$/i.exec(text)?.[1];
  // Zeros beyond the sixth decimal say nothing; any other digit there is no amount of USDC.
  return decimal === undefined ? undefined : parseUsdc(decimal.replace(/(\.\d{6})0+$/, '$1'));
}

function isDollar(currency: unknown): boolean {
  if (currency === undefined || currency === null) return true;
  return isNamedUsdc(currency) || (typeof currency === 'string' && /^usd$/i.test(currency.trim()));
}

function isNamedUsdc(currency: unknown): boolean {
  if (typeof currency !== 'string') return false;
  return /^usdc$/i.test(currency.trim()) || isUsdc('base', currency.trim()) || isUsdc('solana', currency.trim());
}
