import { parseUsdc } from '../model/usdc.ts';
import { isMainnetUsdc, MAX_PLAUSIBLE_AMOUNT } from '../x402/offer-fields.ts';
import { formatPointer, type Note } from './finding-codes.ts';
import { findMember, isObject, listNamed } from './json-value.ts';

/**
 * Names of an amount, without case and punctuation, by the unit that they say: decimal dollars, atomic units, or an
 * `open` one, which the neighbours say; these count only within an object about the price. A name with `usd` or `usdc`
 * names the currency, too.
 */
const PRICE_NAMES = {
  atomic: new Set([
    ...['maxamountrequired', 'amountatomic', 'atomicamount', 'priceatomic', 'atomicprice', 'amountbaseunits'],
    ...['pricebaseunits', 'amountraw', 'priceraw', 'amountatomicunits', 'priceatomicunits', 'amountmicrousdc'],
    ...['pricemicrousdc', 'priceusdcatomic', 'amountusdcatomic'],
  ]),
  decimal: new Set([
    ...['price', 'priceusd', 'priceusdc', 'priceindollars', 'unitprice', 'baseprice', 'defaultprice', 'displayprice'],
    ...['pricepercall', 'priceperrequest', 'pricepercallusd', 'priceperrequestusd', 'pricepercallusdc'],
    ...['priceperrequestusdc', 'usdpercall', 'usdcpercall', 'usdperrequest', 'usdcperrequest', 'cost', 'costusd'],
    ...['costusdc', 'costpercall', 'costperrequest', 'fee', 'feeusd', 'feeusdc', 'rate', 'baserate', 'usd', 'usdc'],
    ...['amountusd', 'amountusdc', 'valueusd', 'valueusdc'],
  ]),
  open: new Set(['amount', 'value', 'default', 'fixed', 'perrequest', 'percall']),
} as const;

/** Names of an object about paying. */
export const PAYMENT_HOLDERS = new Set([
  ...['price', 'pricing', 'payment', 'paymentinfo', 'cost', 'x402', 'terms', 'billing', 'accepts', 'settlement'],
  'paymentrequirements',
]);

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
const SMALLEST_ATOMIC = 1000;

/** Returns the decimals of whole amounts in a unit; undefined for anything but such a unit, as the name of a currency. */
function getUnitDecimals(unit: unknown): number | undefined {
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
function scaleAmount(amount: unknown, holder: unknown): string | 'ambiguous' | undefined {
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

/** A price as a file states it. */
export interface StatedPrice {
  /** Decimal USDC, or atomic units. */
  amount: string | number;
  currency: unknown;
  /** Unit; `ambiguous`: a whole number that may be either. */
  unit: 'decimal' | 'atomic' | 'ambiguous';
  mode: unknown;
  /** JSON pointer from the holder on. */
  place: string;
}

/**
 * Finds the price that an object states beside or in place of offers: by one of many names, or in an object about the
 * price. An atomic amount comes first, because it has one meaning.
 */
export function findStatedPrice(holder: unknown, depth = 0, isAboutPrice = false): StatedPrice | undefined {
  const members = listNamed(holder);
  const surroundings = describeSurroundings(holder);
  const find = (unit: keyof typeof PRICE_NAMES) =>
    members.find(([normal, member]) => PRICE_NAMES[unit].has(normal) && isScalar(member));
  const atomic = find('atomic');
  if (atomic) return buildPrice(atomic, surroundings, holder);
  const decimal = find('decimal');
  if (decimal) return settleUnit(buildPrice(decimal, surroundings, holder), holder);
  const open = isAboutPrice ? find('open') : undefined;
  if (open) return buildPrice(open, surroundings, holder);
  if (depth >= 2) return undefined;
  for (const [normal, member, name] of members) {
    if (!PAYMENT_HOLDERS.has(normal) || normal === 'accepts') continue;
    const found = findPriceIn(member, depth + 1);
    if (found)
      return {
        ...found,
        currency: found.currency ?? surroundings.currency,
        place: `${formatPointer(name)}${found.place}`,
      };
  }
  return undefined;
}

function isScalar(value: unknown): value is string | number {
  return (typeof value === 'string' && value.trim() !== '' && value.length <= 60) || typeof value === 'number';
}

type Surroundings = Pick<StatedPrice, 'currency' | 'mode'> & { unit: 'atomic' | undefined };

/** Finds the price in an object about paying, or in the first of a list of them. */
function findPriceIn(member: unknown, depth: number): StatedPrice | undefined {
  if (!Array.isArray(member)) return isObject(member) ? findStatedPrice(member, depth, true) : undefined;
  const found = findStatedPrice(member[0], depth, true);
  return found && { ...found, place: `/0${found.place}` };
}

/** Settles the unit of a whole price by the atomic amount beside it: `price: "540", amount: "540000000"`. */
function settleUnit(price: StatedPrice, holder: unknown): StatedPrice {
  const isConfirmed = Number(findMember(holder, 'amount')) === Number(price.amount) * 1e6;
  return price.unit === 'ambiguous' && isConfirmed ? { ...price, unit: 'decimal' } : price;
}

/** Reads the neighbours of a price. With the address or the decimals of the asset, the amount is atomic. */
function describeSurroundings(holder: unknown): Surroundings {
  const find = (...names: string[]) => listNamed(holder).find(([normal]) => names.includes(normal))?.[1];
  const asset = find('asset', 'token');
  const unit = find('unit');
  const named = getUnitDecimals(unit) === undefined ? unit : undefined;
  const currency = find('currency') ?? named ?? find('symbol') ?? (typeof asset === 'string' ? asset : undefined);
  const isAddress = [asset, currency].some((one) => typeof one === 'string' && one.trim().length > 30);
  return {
    currency: isAddress ? 'USDC' : currency,
    mode: find('mode', 'pricingmode'),
    unit: isAddress || isObject(asset) ? 'atomic' : undefined,
  };
}

function buildPrice(
  [normal, raw, name]: [string, unknown, string],
  { currency, mode, unit }: Surroundings,
  holder: unknown,
): StatedPrice {
  const amount = raw as string | number;
  const inName = /usdc?(?:percall|perrequest)?$/.test(normal) || /^usdc?/.test(normal);
  const own = inName ? (normal.includes('usdc') ? 'USDC' : 'USD') : currency;
  // The name says the unit of the amount; only plain names such as `amount` leave that to their neighbours.
  const stated = PRICE_NAMES.atomic.has(normal) ? 'atomic' : PRICE_NAMES.open.has(normal) ? unit : undefined;
  const price = { amount, currency: own, mode, place: formatPointer(name) };
  if (isDecimal(amount)) return { ...price, unit: 'decimal' };
  if (stated === 'atomic') return { ...price, unit: stated };
  const scaled = scaleAmount(amount, holder);
  if (scaled === 'ambiguous') return { ...price, unit: scaled };
  return scaled === undefined
    ? { ...price, unit: getUnit(amount, own) }
    : { ...price, amount: scaled, unit: 'decimal' };
}

/** Returns whether an amount can only be decimal: `0.01`, `$5`, `2 USDC`. */
function isDecimal(amount: string | number): boolean {
  return typeof amount === 'number' ? !Number.isInteger(amount) : /[.$]|[a-z]/i.test(amount);
}

function getUnit(amount: string | number, currency: unknown): StatedPrice['unit'] {
  const value = Number(amount);
  if (value === 0) return 'decimal';
  return currency === undefined || value >= SMALLEST_ATOMIC ? 'ambiguous' : 'decimal';
}

type Price = { mode: unknown; currency: unknown; amount: unknown; min: unknown; max: unknown };

/**
 * Reason why there is no price. `zero_amount` and `implausible_price` refuse the operation; the others leave it without
 * a price.
 */
export type PriceProblem =
  | 'zero_amount'
  | 'implausible_price'
  | 'dynamic_price'
  | 'unknown_price'
  | 'ambiguous_price'
  | 'other_currency';

/**
 * Reads the price of one request from a payment object, in atomic USDC: `price: {mode, currency, amount}`, or the older
 * flat `pricingMode` and `price`. Amounts are decimal. Returns a code if there is no fixed price.
 */
export function readPrice(info: Record<string, unknown>, note: Note): number | PriceProblem {
  const { mode, currency, amount, min, max } = findPrice(info);
  const isFlat = min !== undefined && String(min) === String(max);
  if (mode !== undefined && mode !== 'fixed' && !isFlat) return 'dynamic_price';
  const whole = amount ?? (isFlat ? min : undefined);
  const stated = scaleAmount(whole, isObject(info.price) ? info.price : info) ?? whole;
  if (stated === 'ambiguous') return 'ambiguous_price';
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
  // A bare whole number may be a count of atomic units, as in another protocol, so it is not read.
  const isDecimal = currency !== undefined || /[.$]/.test(String(amount));
  return {
    mode: pricingMode,
    currency,
    amount: price ?? (isDecimal ? amount : undefined),
    min: minPrice,
    max: maxPrice,
  };
}

/** Reads a decimal amount, with or without a dollar sign before it or a currency after it. */
function readDecimal(raw: unknown): number | undefined {
  const text = typeof raw === 'number' ? String(raw) : typeof raw === 'string' ? raw.trim() : '';
  const decimal = /^\$?\s?(\d{1,10}(?:\.\d{1,30})?)(?:\s?(?:USDC?))?$/i.exec(text)?.[1];
  // Zeros after the sixth decimal are ignored. Any other digit there makes the amount invalid.
  return decimal === undefined ? undefined : parseUsdc(decimal.replace(/(\.\d{6})0+$/, '$1'));
}

function isDollar(currency: unknown): boolean {
  if (currency === undefined || currency === null) return true;
  return isNamedUsdc(currency) || (typeof currency === 'string' && /^usd$/i.test(currency.trim()));
}

function isNamedUsdc(currency: unknown): boolean {
  if (typeof currency !== 'string') return false;
  return /^usdc$/i.test(currency.trim()) || isMainnetUsdc(currency.trim());
}
