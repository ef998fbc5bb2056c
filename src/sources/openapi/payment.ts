import { DEFAULT_NETWORK, NETWORKS, type NetworkKey } from '../../model/network.ts';
import type { DeclaredRoute } from '../../model/route.ts';
import { getTermsKey, type Terms } from '../../model/terms.ts';
import { findAssetProblem, findOfferNetwork, parseOfferAmount, parsePayTo, SCHEME } from '../../x402/offer-fields.ts';
import { findPaymentIdentifier } from '../../x402/payment-identifier.ts';
import { readTimeout } from '../bazaar/offer.ts';
import { cleanString } from '../clean-string.ts';
import { FINDING_CODES, type FindingCode, formatPointer, type Note, type Refusal } from '../finding-codes.ts';
import { findMember, isObject } from '../json-value.ts';
import { type PriceProblem, readPrice } from '../price.ts';

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
  const assetProblem = findProblem(network.key, details.asset ?? info.asset ?? findAssetInCurrency(details));
  if (assetProblem) return assetProblem;
  const amount = readAmount(details, getOwnPrice(details, price, note), note);
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

/** Returns the price of one of several offers, if the payment information has none for all. */
function getOwnPrice(details: Details, price: number | PriceProblem, note: Note): number | PriceProblem {
  if (price !== 'unknown_price') return price;
  const own = readPrice(details, note);
  return typeof own === 'number' ? own : price;
}

/** Finds the asset in the currency of an offer, where payment discovery has it. */
function findAssetInCurrency({ currency }: Details): unknown {
  return typeof currency === 'string' && currency.trim().length > 30 ? currency : undefined;
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
