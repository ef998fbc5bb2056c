/** Digits after the decimal point of USDC, on Base and on Solana alike. */
export const USDC_DECIMALS = 6;

const ATOMIC_PER_USDC = 10 ** USDC_DECIMALS;

/**
 * Parses a decimal amount of USDC (`0.001`, `12`) into atomic units (1000, 12000000).
 * Gives undefined for anything else: signs, exponents, currency signs, more than six decimals, unsafe sizes.
 */
export function parseUsdc(text: string): number | undefined {
  const match = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) return undefined;
  const atomic = Number(match[1]) * ATOMIC_PER_USDC + Number((match[2] ?? '').padEnd(USDC_DECIMALS, '0'));
  return Number.isSafeInteger(atomic) ? atomic : undefined;
}

/** Parses an amount on the wire, which is atomic units in decimal digits and nothing else (x402 `amount`). */
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

/** Gives atomic units as a decimal number, for documents whose fields are JSON numbers. */
export function getUsdcNumber(atomic: number): number {
  return Number(formatUsdc(atomic));
}

/** Writes a price range as pages show it: one value when flat, else `min-max` (specification, "Price range forms"). */
export function formatPriceRange(min: number, max: number): string {
  return min === max ? formatUsdc(min) : `${formatUsdc(min)}-${formatUsdc(max)}`;
}
