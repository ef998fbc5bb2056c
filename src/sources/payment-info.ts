import { isObject, writeScalar } from '../model/json.ts';
import { DEFAULT_NETWORK, NETWORKS, type NetworkKey } from '../model/network.ts';
import type { DeclaredRoute } from '../model/route.ts';
import { getTermsKey, type Terms } from '../model/terms.ts';
import { parseUsdc } from '../model/usdc.ts';
import {
  findAssetProblem,
  findOfferNetwork,
  isMainnetUsdc,
  MAX_PLAUSIBLE_AMOUNT,
  parseOfferAmount,
  parsePayTo,
  SCHEME,
} from '../x402/offer-fields.ts';
import { findPaymentIdentifier } from '../x402/payment-identifier.ts';
import { readTimeout } from './bazaar/offer.ts';
import { cleanString } from './clean-string.ts';
import { FINDING_CODES, type FindingCode, formatPointer, type Note, type Refusal } from './findings.ts';
import { findMember, listNamed } from './json-value.ts';

type Details = Record<string, unknown>;

const MAX_NETWORKS = 16;

/** The payment of a route, as a route declares it. */
export type Payment = Pick<DeclaredRoute, 'terms' | 'network_assumed' | 'payment_identifier'>;

/**
 * Reads the payment information of an operation (`x-payment-info`, in all shapes seen so far) into terms: one for each
 * network that is named, or Base if none is. The list is empty if the operation is paid by x402 but its price is
 * missing or depends on the request. Returns a refusal if the operation is not to be listed. Never throws.
 */
export function readPayment(info: unknown, noteInfo: Note): Payment | Refusal {
  const noted = new Set<FindingCode>();
  const note: Note = (code, message) => {
    noted.add(code);
    noteInfo(code, message, getPaymentPlace(code, info));
  };
  const read = readPaymentInfo(info, note);
  if (!Array.isArray(read)) return { ...read, place: getPaymentPlace(read.code, info) };
  const payment_identifier = isObject(info)
    ? [info, ...listProtocols(info).map(({ details }) => details)]
        .map(({ extensions }) => findPaymentIdentifier(extensions))
        .find((found) => found !== undefined)
    : undefined;
  return {
    terms: read,
    ...(read.length > 0 && noted.has('network_assumed') && { network_assumed: true }),
    ...(payment_identifier !== undefined && { payment_identifier }),
  };
}

/** The members that a code is about. The first that exists is its place. */
const PLACES: Partial<Record<FindingCode, readonly (readonly string[])[]>> = {
  dynamic_price: [['price', 'mode'], ['pricingMode'], ['price']],
  usd_as_usdc: [['price', 'currency'], ['currency'], ['price']],
  other_currency: [['price', 'currency'], ['currency'], ['price']],
  test_network: [['network'], ['networks'], ['protocols']],
  unsupported_network: [['network'], ['networks'], ['protocols']],
  no_network: [['network'], ['networks'], ['protocols']],
  not_usdc: [['asset'], ['protocols']],
  asset_not_an_address: [['asset'], ['protocols']],
  bad_pay_to: [['payTo'], ['protocols']],
  not_x402: [['protocols'], ['method'], ['offers']],
  other_scheme: [['protocols']],
  odd_timeout: [['protocols']],
};
const PRICE_PLACES = [['price', 'amount'], ['price'], ['amount'], ['protocols']];

/** Returns the JSON pointer of the member that a code is about, from the payment information on. */
function getPaymentPlace(code: FindingCode, info: unknown): string {
  const isAssumed = code === 'network_assumed' || code === 'protocol_assumed';
  const places = isAssumed ? [] : (PLACES[code] ?? PRICE_PLACES);
  const place = places.find((path) => findMember(info, ...path) !== undefined);
  return place ? formatPointer(...place) : '';
}

function readPaymentInfo(info: unknown, note: Note): Terms[] | Refusal {
  if (!isObject(info)) {
    note('unknown_price');
    return [];
  }
  const protocols = listProtocols(info);
  if (protocols.length === 0) note('protocol_assumed');
  const named = protocols.filter(({ name }) => name === 'x402').map(({ details }) => details);
  if (protocols.length > 0 && named.length === 0) {
    const names = [...new Set(protocols.map(({ name }) => cleanString(name)))].join(', ');
    return { code: 'not_x402', message: `The operation is paid for by ${names}, not by x402.` };
  }
  const price = readPrice(info, note);
  if (price === 'zero_amount' || price === 'implausible_price') return { code: price, message: FINDING_CODES[price] };
  const terms = new Map<string, Terms>();
  const misses = new Set<FindingCode>();
  let isPayable = false;
  for (const details of named.length > 0 ? named : [{}]) {
    for (const network of listNetworks(details, info, note)) {
      const read = readTerms(network, { details, info, price, note });
      if (typeof read === 'string') misses.add(read);
      else isPayable = true;
      if (typeof read === 'object' && read !== null) terms.set(getTermsKey(read), read);
    }
  }
  const [miss] = misses;
  if (!isPayable && miss) return { code: miss, message: FINDING_CODES[miss] };
  for (const code of misses) note(code, `Another way to pay was left out. ${FINDING_CODES[code]}`);
  if (typeof price === 'string' && (terms.size === 0 || price === 'dynamic_price')) note(price);
  return [...terms.values()];
}

function listNetworks(details: Details, info: Details, note: Note): unknown[] {
  const own = [details.network, details.networks].flat();
  const named = [...own, ...(own.some(isNamed) ? [] : [info.network, info.networks].flat())].filter(isNamed);
  if (named.length > 0) return named.slice(0, MAX_NETWORKS);
  note('network_assumed');
  return [DEFAULT_NETWORK];
}

function isNamed(network: unknown): boolean {
  return network !== undefined && network !== null && network !== '';
}

/** Reads the terms for one network: null if only the price is missing, a code if they cannot be taken. */
function readTerms(
  rawNetwork: unknown,
  { details, info, price, note }: { details: Details; info: Details; price: number | PriceProblem; note: Note },
): Terms | null | FindingCode {
  const network = findOfferNetwork(rawNetwork, null);
  if ('code' in network) return network.code;
  // Payment discovery has the asset in the currency of an offer.
  const { currency } = details;
  const inCurrency = typeof currency === 'string' && currency.trim().length > 30 ? currency : undefined;
  const assetProblem = findProblem(network.key, details.asset ?? info.asset ?? inCurrency);
  if (assetProblem) return assetProblem;
  // One of several offers may have a price of its own, if the payment information has none for all.
  const own = price === 'unknown_price' ? readPrice(details, note) : price;
  const amount = readAmount(details, typeof own === 'number' ? own : price, note);
  if (amount === null) return null;
  const payTo = details.payTo ?? info.payTo;
  const account = parsePayTo(network.key, payTo);
  if (payTo !== undefined && account === undefined) note('bad_pay_to');
  return {
    network: network.key,
    scheme: readScheme(details.scheme, note),
    asset: NETWORKS[network.key].usdc,
    amount,
    pay_to: account ?? null,
    max_timeout_seconds: readTimeout(details.maxTimeoutSeconds, note),
    x402_version: [details.x402Version, details.version].find((version) => version === 1 || version === 2) ?? null,
  };
}

/** Finds the fault of an asset. A missing asset, or its symbol alone, means the USDC of the network. */
function findProblem(key: NetworkKey, asset: unknown): FindingCode | undefined {
  if (asset === undefined || asset === null || (typeof asset === 'string' && /^usdc$/i.test(asset.trim())))
    return undefined;
  return findAssetProblem(key, asset);
}

/** Reads the amount. An atomic x402 amount wins over a decimal price beside it, but not over a dynamic price. */
function readAmount(details: Details, price: number | PriceProblem, note: Note): number | null {
  const raw = details.amount ?? details.maxAmountRequired;
  const stated = typeof price === 'number' ? price : null;
  if (price === 'dynamic_price' || raw === undefined || raw === null) return stated;
  const amount = parseOfferAmount(raw);
  if (typeof amount !== 'number') {
    if (stated === null) note(amount);
    return stated;
  }
  if (stated !== null && amount !== stated)
    note('amount_differs', 'The operation states two prices; that of x402 is taken.');
  return amount;
}

function readScheme(raw: unknown, note: Note): string {
  const scheme = typeof raw === 'string' && SCHEME.test(raw) ? raw.toLowerCase() : 'exact';
  if (scheme !== 'exact') note('other_scheme', `The payment scheme is ${scheme}, so the amount may be a ceiling.`);
  return scheme;
}

/** One payment protocol that an operation names, with its details. */
interface NamedProtocol {
  /** Name, in lower case. */
  name: string;
  details: Details;
}

const MAX_PROTOCOLS = 16;

/**
 * Lists the protocols that a payment object names, in all shapes seen so far: `protocols` as names or as objects keyed
 * by name (`[{x402: {…}}]`), a member `x402` beside them, and the `method` of the Machine Payments Protocol, alone or
 * in `offers`.
 */
function listProtocols(info: Details): NamedProtocol[] {
  const listed = Array.isArray(info.protocols) ? info.protocols.slice(0, MAX_PROTOCOLS) : [info.protocols];
  const offers = Array.isArray(info.offers) ? info.offers.slice(0, MAX_PROTOCOLS) : [];
  return [
    ...listed.flatMap(readProtocol),
    ...(isObject(info.x402) ? [{ name: 'x402', details: info.x402 }] : []),
    ...[info, ...offers].flatMap((offer) =>
      isObject(offer) && typeof offer.method === 'string' ? [{ name: getName(offer.method), details: offer }] : [],
    ),
  ];
}

function readProtocol(raw: unknown): NamedProtocol[] {
  if (typeof raw === 'string') return [{ name: getName(raw), details: {} }];
  if (!isObject(raw)) return [];
  if (typeof raw.protocol === 'string') return [{ name: getName(raw.protocol), details: raw }];
  return Object.entries(raw)
    .slice(0, MAX_PROTOCOLS)
    .map(([name, details]) => ({ name: getName(name), details: isObject(details) ? details : {} }));
}

function getName(text: string): string {
  return text.trim().slice(0, 40).toLowerCase();
}

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
  const text = writeScalar(amount).trim();
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
  const beside = findMember(holder, 'amount');
  const isConfirmed = isScalar(beside) && Number(beside) === Number(price.amount) * 1e6;
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

/**
 * Reason why there is no price. `zero_amount` and `implausible_price` refuse the operation; the others leave it without
 * a price.
 */
type PriceProblem =
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
function readPrice(info: Details, note: Note): number | PriceProblem {
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

function findPrice(info: Details): Record<'mode' | 'currency' | 'amount' | 'min' | 'max', unknown> {
  const { price, pricingMode, minPrice, maxPrice, currency, amount } = info;
  if (isObject(price)) {
    const { mode, min, max } = price;
    return { mode, currency: price.currency ?? currency, amount: price.amount, min, max };
  }
  // A bare whole number may be a count of atomic units, as in another protocol, so it is not read.
  const isDecimal = currency !== undefined || /[.$]/.test(String(amount));
  const stated = price ?? (isDecimal ? amount : undefined);
  return { mode: pricingMode, currency, amount: stated, min: minPrice, max: maxPrice };
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
