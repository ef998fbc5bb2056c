import { findNamedNetwork, findNetwork, NETWORKS, type NetworkKey } from '../../model/network.ts';
import { PAYEE_NAMES } from '../../x402/ambiguities.ts';
import { findAccount, parsePayTo } from '../../x402/offer-fields.ts';
import { getUnitDecimals, SMALLEST_ATOMIC, scaleAmount } from '../amount-unit.ts';
import { listOffers } from '../bazaar/item-fields.ts';
import { formatPointer } from '../finding-codes.ts';
import { findMember, isObject } from '../json-value.ts';

type Raw = Record<string, unknown>;

/** A price as a file states it. */
interface StatedPrice {
  /** Decimal USDC, or atomic units. */
  amount: string | number;
  currency: unknown;
  /** Unit; `ambiguous`: a whole number that may be either. */
  unit: 'decimal' | 'atomic' | 'ambiguous';
  mode: unknown;
  /** JSON pointer from the holder on. */
  place: string;
}

/** One way to pay: a network with the payee and the asset there, as far as they are stated. */
interface Way {
  network: string;
  pay_to: unknown;
  asset: unknown;
}

/** Most members of one object that are looked at, and the longest name of one. */
const MAX_MEMBERS = 64;
const NAME_LENGTH = 40;

/** Most ways to pay. */
const MAX_WAYS = 16;

/** Names of a decimal price, without case and punctuation. A name that ends in `usd` or `usdc` names the currency, too. */
const DECIMAL_NAMES = new Set([
  ...['price', 'priceusd', 'priceusdc', 'priceindollars', 'unitprice', 'baseprice', 'defaultprice', 'displayprice'],
  ...['pricepercall', 'priceperrequest', 'pricepercallusd', 'priceperrequestusd', 'pricepercallusdc'],
  ...['priceperrequestusdc', 'usdpercall', 'usdcpercall', 'usdperrequest', 'usdcperrequest', 'cost', 'costusd'],
  ...['costusdc', 'costpercall', 'costperrequest', 'fee', 'feeusd', 'feeusdc', 'rate', 'baserate', 'usd', 'usdc'],
  ...['amountusd', 'amountusdc', 'valueusd', 'valueusdc'],
]);

/** Names of an amount in atomic units. */
const ATOMIC_NAMES = new Set([
  ...['maxamountrequired', 'amountatomic', 'atomicamount', 'priceatomic', 'atomicprice', 'amountbaseunits'],
  ...['pricebaseunits', 'amountraw', 'priceraw', 'amountatomicunits', 'priceatomicunits', 'amountmicrousdc'],
  ...['pricemicrousdc', 'priceusdcatomic', 'amountusdcatomic'],
]);

/** Names of an amount within an object about the price. Its neighbours say its unit. */
const AMOUNT_NAMES = new Set(['amount', 'value', 'default', 'fixed', 'perrequest', 'percall']);

/** Names of an object about paying. */
const HOLDER_NAMES = new Set([
  ...['price', 'pricing', 'payment', 'paymentinfo', 'cost', 'x402', 'terms', 'billing', 'accepts', 'settlement'],
  'paymentrequirements',
]);

/** Names of lists of ways to pay. */
const WAY_LISTS = new Set([
  ...['rails', 'accepts', 'methods', 'options', 'networks', 'chains', 'paymentmethods', 'acceptednetworks', 'pricing'],
]);

/** Returns a name without case and punctuation: `price_usd` and `priceUsd` are one. */
function normaliseName(name: string): string {
  return name.length > NAME_LENGTH ? '' : name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

type Named = [normal: string, member: unknown, name: string];

/** The members of objects that were looked at, because each entry looks at the file, too. */
const known = new WeakMap<object, Named[]>();

/** Lists the first members of an object with their names in normal form. */
export function listNamed(value: unknown): Named[] {
  if (!isObject(value)) return [];
  const found =
    known.get(value) ??
    Object.entries(value)
      .slice(0, MAX_MEMBERS)
      .map(([name, member]): Named => [normaliseName(name), member, name]);
  known.set(value, found);
  return found;
}

/**
 * Finds the price that an object states beside or in place of offers: by one of many names, or in an object about the
 * price. An atomic amount comes first, because it has one meaning.
 */
export function findStatedPrice(holder: unknown, depth = 0, isAboutPrice = false): StatedPrice | undefined {
  const members = listNamed(holder);
  const surroundings = describeSurroundings(holder);
  const scalar = (wanted: (name: string) => boolean) =>
    members.find(([normal, member]) => wanted(normal) && isScalar(member));
  const atomic = scalar((name) => ATOMIC_NAMES.has(name));
  if (atomic) return buildPrice(atomic, surroundings, holder);
  const named = scalar((name) => DECIMAL_NAMES.has(name));
  if (named) return settleUnit(buildPrice(named, surroundings, holder), holder);
  const amount = scalar((name) => isAboutPrice && AMOUNT_NAMES.has(name));
  if (amount) return buildPrice(amount, surroundings, holder);
  if (depth >= 2) return undefined;
  for (const [normal, member, name] of members) {
    if (!HOLDER_NAMES.has(normal) || normal === 'accepts') continue;
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
  const stated = ATOMIC_NAMES.has(normal) ? 'atomic' : AMOUNT_NAMES.has(normal) ? unit : undefined;
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

const STATED_PAYEES = new Set([...PAYEE_NAMES, 'wallets', 'recipients', 'payees']);
const NETWORK_NAMES = new Set(['network', 'networks', 'chain', 'chains', 'chainid', 'caip2', 'networkid']);

/** Lists the ways to pay that an object states: its own, those of objects about paying in it, and those of its lists. */
export function listWays(holder: unknown, depth = 0): Way[] {
  const members = listNamed(holder);
  const payee =
    members.find(([normal]) => STATED_PAYEES.has(normal))?.[1] ??
    (depth > 0 ? findMember(holder, 'address') : undefined);
  const asset = readAsset(findMember(holder, 'asset') ?? findMember(holder, 'token'));
  const networks = members
    .filter(([normal]) => NETWORK_NAMES.has(normal))
    .flatMap(([, member]) => readNetworks(member));
  const keyed = isObject(payee) ? Object.keys(payee).slice(0, MAX_WAYS).map(readNetwork) : [];
  const named = [...new Set(networks.length > 0 ? networks : keyed)];
  const own = named.map((network) => ({
    network,
    asset,
    pay_to: findPayee(payee, network) ?? findNamedPayee(members, network),
  }));
  if (depth >= 2) return own.slice(0, MAX_WAYS);
  const nested = members.flatMap(([normal, member]) => {
    if (WAY_LISTS.has(normal) && Array.isArray(member)) {
      return member.slice(0, MAX_WAYS).flatMap((one) => (isObject(one) ? listWays(one, depth + 1) : []));
    }
    return HOLDER_NAMES.has(normal) && isObject(member) ? listWays(member, depth + 1) : [];
  });
  return mergeWays([...nested, ...own], payee);
}

/** Merges ways on the same network: the first that states a payee or an asset counts. */
function mergeWays(ways: readonly Way[], payee: unknown): Way[] {
  const merged = new Map<string, Way>();
  for (const way of ways) {
    const known = merged.get(way.network);
    const pay_to = known?.pay_to ?? way.pay_to ?? findPayee(payee, way.network);
    merged.set(way.network, { network: way.network, pay_to, asset: known?.asset ?? way.asset });
  }
  return [...merged.values()].slice(0, MAX_WAYS);
}

/** Returns the payee on a network: the one of the network in a map; one that fits the network in a list or a text. */
function findPayee(payee: unknown, network: string): unknown {
  const key = findNetwork(network)?.key;
  if (isObject(payee)) {
    const entry = Object.entries(payee)
      .slice(0, MAX_WAYS)
      .find(([name]) => readNetwork(name) === network);
    const value = entry?.[1];
    return isObject(value) ? (value.payTo ?? value.address) : value;
  }
  const all = (Array.isArray(payee) ? payee.slice(0, MAX_WAYS) : [payee]).filter((one) => typeof one === 'string');
  return (
    all.find((one) => key !== undefined && parsePayTo(key, one) !== undefined) ??
    (isOfOtherFamily(all, key) ? undefined : all[0])
  );
}

/** Finds a payee whose name says its network: `pay_to_base`. */
function findNamedPayee(members: readonly Named[], network: string): unknown {
  const named = members.find(([normal]) => [...PAYEE_NAMES].some((name) => normal === `${name}${network}`));
  return named?.[1];
}

/** Returns whether a payee is an account of another family than that of a network, and so says nothing about it. */
function isOfOtherFamily(payees: readonly unknown[], key: NetworkKey | undefined): boolean {
  const families = payees.map((one) => findAccount(one)?.family).filter((family) => family !== undefined);
  return key !== undefined && families.some((family) => family !== NETWORKS[key].family);
}

function readNetworks(raw: unknown): string[] {
  const list = Array.isArray(raw) ? raw.slice(0, MAX_WAYS) : [raw];
  return list
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .map((one) => readNetwork(String(one)));
}

/** Spells the names of a main network as x402 does; everything else stays as it is. */
function readNetwork(raw: string): string {
  const name = raw.trim();
  return findNamedNetwork(name)?.key ?? name;
}

function readAsset(raw: unknown): unknown {
  const asset = isObject(raw) ? raw.address : raw;
  return typeof asset === 'string' && /^(?:usdc?|usd coin)$/i.test(asset.trim()) ? undefined : asset;
}

/** A payment as an OpenAPI operation would state it, and the place of its price in the entry. */
interface StatedPayment {
  info: Raw;
  place: string;
  isAmbiguous: boolean;
}

/**
 * Builds the payment information of an entry from what it and its file state: the price from the entry, else from one of
 * its offers, else from the file; networks and payees likewise. Undefined if no price is stated.
 */
export function findStatedPayment(entry: unknown, file: unknown): (StatedPayment & { isOfFile: boolean }) | undefined {
  const own = findStatedPrice(entry) ?? findOfferPrice(entry);
  const price = own ?? findStatedPrice(file);
  if (!price) return undefined;
  const ways = listWays(entry);
  const all = mergeWays([...(ways.length > 0 ? ways : listWays(file))], findPayeeOf(entry) ?? findPayeeOf(file));
  const { amount, currency, mode, unit } = price;
  const details = all.map(({ network, asset, pay_to }) => ({
    network,
    ...(asset !== undefined && { asset }),
    ...(pay_to !== undefined && { payTo: pay_to }),
    ...(unit === 'atomic' && { maxAmountRequired: String(amount) }),
  }));
  const info = {
    protocols: (details.length > 0 ? details : [unit === 'atomic' ? { maxAmountRequired: String(amount) } : {}]).map(
      (x402) => ({ x402 }),
    ),
    ...(unit === 'decimal' && { price: { mode, currency, amount } }),
  };
  return { info, place: price.place, isAmbiguous: unit === 'ambiguous', isOfFile: own === undefined };
}

function findOfferPrice(entry: unknown): StatedPrice | undefined {
  for (const [index, offer] of listOffers(entry).entries()) {
    const found = findStatedPrice(offer, 0, true);
    if (found) return { ...found, place: `${formatPointer('accepts', index)}${found.place}` };
  }
  return undefined;
}

function findPayeeOf(holder: unknown): unknown {
  return listNamed(holder).find(([normal]) => STATED_PAYEES.has(normal))?.[1];
}
