import { isObject } from './json-value.ts';

/** Names of units that may stand beside an amount, without case and punctuation, with the decimals of whole amounts in them. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ...['micro', 'microusd', 'microusdc', 'microdollars', 'atomic', 'atomicunits', 'baseunits'].map(ofDecimals(6)),
  ...['smallestunit', 'smallestunits', 'raw'].map(ofDecimals(6)),
  ...['cent', 'cents', 'uscents', 'usdcents'].map(ofDecimals(2)),
]);

function ofDecimals(decimals: number): (name: string) => [string, number] {
  return (name) => [name, decimals];
}

/** Smallest whole amount that may be atomic: 0.001 USDC. Whole dollars are rarely more. */
export const SMALLEST_ATOMIC = 1000;

/** Returns the decimals of whole amounts in a unit; undefined for anything but such a unit, as the name of a currency. */
export function getUnitDecimals(unit: unknown): number | undefined {
  return typeof unit === 'string'
    ? UNITS.get(
        unit
          .slice(0, 40)
          .toLowerCase()
          .replace(/[^a-z]/g, ''),
      )
    : undefined;
}

/**
 * Scales a whole amount by the `unit` or the `decimals` beside it: `10000` with 6 decimals is `0.010000`. Returns undefined
 * if neither is stated or the amount is not whole, and `ambiguous` if `decimals` stand beside so small an amount that they
 * may only describe the token.
 */
export function scaleAmount(amount: unknown, holder: unknown): string | 'ambiguous' | undefined {
  const text = String(amount).trim();
  if (!isObject(holder) || !/^\d{1,30}$/.test(text)) return undefined;
  const ofUnit = getUnitDecimals(holder.unit);
  if (ofUnit !== undefined) return movePoint(text, ofUnit);
  const { decimals } = holder;
  if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 1 || decimals > 18) return undefined;
  return decimals > 2 && Number(text) < SMALLEST_ATOMIC ? 'ambiguous' : movePoint(text, decimals);
}

function movePoint(amount: string, decimals: number): string {
  const digits = amount.padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
