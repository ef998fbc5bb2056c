import { z } from 'zod';

/** Digits after the decimal point of USDC, on Base and on Solana alike. */
export const USDC_DECIMALS = 6;

const ATOMIC_PER_USDC = 10 ** USDC_DECIMALS;

/**
 * Parses a decimal amount of USDC (`0.001`, `12`) into atomic units (1000, 12000000). Returns undefined for anything else: signs,
 * exponents, currency signs, more than six decimals, unsafe sizes.
 */
export function parseUsdc(text: string): number | undefined {
  const match = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) return undefined;
  const atomic = Number(match[1]) * ATOMIC_PER_USDC + Number((match[2] ?? '').padEnd(USDC_DECIMALS, '0'));
  return Number.isSafeInteger(atomic) ? atomic : undefined;
}

/** Prices as people write them: `$0.01`, `.01`, `0.01 USDC`, `1 cent`, `0,01`. */
const TYPED_PRICE =
  /^(?:us)?[$]?\s*(?<whole>\d*)(?:(?<point>[.,])(?<fraction>\d*))?\s*(?:usdc?|[$]|(?<cents>¢|c|cents?))?$/i;
const CENTS_IN_USDC = 100;

/**
 * Longest text that is read as a price, in UTF-16 units. The time to match blanks inside grows with the square of their number.
 */
const TYPED_PRICE_LENGTH = 40;

/**
 * Converts a price as people write it into the form that filters take: `$.01` to `0.01`. Returns other text unchanged, to be
 * refused, and also a price with a comma that may separate thousands.
 */
export function readTypedPrice(text: string): string {
  if (text.length > TYPED_PRICE_LENGTH) return text;
  const { whole = '', point, fraction = '', cents } = TYPED_PRICE.exec(text.trim())?.groups ?? {};
  const isThousands = point === ',' && fraction.length === 3 && Number(whole) > 0;
  if (whole + fraction === '' || isThousands) return text;
  const amount = parseUsdc(`${whole || '0'}${fraction && `.${fraction}`}`);
  const usdc = amount !== undefined && cents ? amount / CENTS_IN_USDC : amount;
  return usdc !== undefined && Number.isSafeInteger(usdc) ? formatUsdc(usdc) : text;
}

/**
 * Parses an amount of an x402 message, which is atomic units in decimal digits (x402 `amount`). Returns undefined for anything
 * else.
 */
export function parseAtomicUsdc(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^\d{1,16}$/.test(text)) return undefined;
  const atomic = Number(text);
  return Number.isSafeInteger(atomic) ? atomic : undefined;
}

/** Writes atomic units as a decimal amount without trailing zeros: 1000 → `0.001`. */
export function formatUsdc(atomic: number): string {
  const whole = Math.trunc(atomic / ATOMIC_PER_USDC);
  const fraction = String(atomic % ATOMIC_PER_USDC)
    .padStart(USDC_DECIMALS, '0')
    .replace(/0+$/, '');
  return fraction ? `${whole}.${fraction}` : String(whole);
}

/** Returns atomic units as a decimal number, for documents whose fields are JSON numbers. */
export function getUsdcNumber(atomic: number): number {
  return Number(formatUsdc(atomic));
}

/** Writes a price; a ceiling as `up to 0.05`. */
export function formatPrice(amount: number, isCeiling = false): string {
  return `${isCeiling ? 'up to ' : ''}${formatUsdc(amount)}`;
}

/** Writes the paid amount in USDC; below a ceiling as `0.00012 of at most 0.05`. */
export function formatPaid({ amount, ceiling }: { amount: number; ceiling?: number | undefined }): string {
  return `${formatUsdc(amount)}${ceiling === undefined ? '' : ` of at most ${formatUsdc(ceiling)}`}`;
}

/** The ends of a price range that are ceilings: the most that a call may cost. */
export const priceCeilings = z.object({ min: z.boolean(), max: z.boolean() });
export type PriceCeilings = z.infer<typeof priceCeilings>;

export const NO_CEILINGS: PriceCeilings = Object.freeze({ min: false, max: false });

/**
 * Writes a price range for pages: one value if both ends are equal, else `min-max` (specification, "Price range forms"). With
 * ceilings, `up to 0.05`, or `0.001 or up to 0.05`.
 */
export function formatPriceRange(min: number, max: number, ceilings = NO_CEILINGS): string {
  const [low, high] = [formatPrice(min, ceilings.min), formatPrice(max, ceilings.max)];
  if (low === high) return low;
  if (min === max) return formatUsdc(min);
  return `${low}${ceilings.min || ceilings.max ? ' or ' : '-'}${high}`;
}
