import { NETWORKS, type NetworkKey } from '../../model/network.ts';
import { getTermsKey, type Terms } from '../../model/terms.ts';
import { findAssetProblem, findOfferNetwork, parseOfferAmount, parsePayTo } from '../../x402/offer-fields.ts';
import { FINDING_CODES, type FindingCode, type Note } from '../finding-codes.ts';
import { cleanString } from '../invisible.ts';
import { isObject } from '../json-value.ts';
import { type PriceProblem, readPrice } from './payment-price.ts';
import { listProtocols } from './payment-protocols.ts';

type Details = Record<string, unknown>;

export interface Refusal {
  code: FindingCode;
  message: string;
}

const MAX_NETWORKS = 16;

/** Longest time a payment may stay open, in seconds: a day. */
const MAX_TIMEOUT_SECONDS = 86_400;

const SCHEME = /^[a-z][a-z0-9_-]{0,31}$/i;

/**
 * Reads what an operation says of its payment (`x-payment-info`, in the shapes met in the field) into terms: one for
 * each network that is named, Base where none is. Empty where the operation is paid for by x402, but what it costs is
 * not said or depends on the request. Or says why the operation is not to be listed. Never throws.
 */
export function readPayment(info: unknown, note: Note): Terms[] | Refusal {
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
  return ['base'];
}

function isNamed(network: unknown): boolean {
  return network !== undefined && network !== null && network !== '';
}

/** Reads the terms of one network: null where they lack a price alone, a code where they cannot be taken. */
function readTerms(
  rawNetwork: unknown,
  { details, info, price, note }: { details: Details; info: Details; price: number | PriceProblem; note: Note },
): Terms | null | FindingCode {
  const network = findOfferNetwork(rawNetwork, null);
  if ('code' in network) return network.code;
  const assetProblem = findProblem(network.key, details.asset ?? info.asset);
  if (assetProblem) return assetProblem;
  const amount = readAmount(details, price, note);
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

/** Where no asset is named, or only by its symbol, it is the USDC of the network. */
function findProblem(key: NetworkKey, asset: unknown): FindingCode | undefined {
  if (asset === undefined || asset === null || (typeof asset === 'string' && /^usdc$/i.test(asset.trim())))
    return undefined;
  return findAssetProblem(key, asset);
}

/** The atomic amount that x402 itself would ask wins over a decimal price beside it, not over a price that varies. */
function readAmount(details: Details, price: number | PriceProblem, note: Note): number | null {
  const raw = details.amount ?? details.maxAmountRequired;
  const stated = typeof price === 'number' ? price : null;
  if (price === 'dynamic_price' || raw === undefined || raw === null) return stated;
  const amount = parseOfferAmount(raw);
  if (typeof amount !== 'number') {
    note(amount);
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

function readTimeout(raw: unknown, note: Note): number | null {
  if (raw === undefined || raw === null) return null;
  if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 1 && raw <= MAX_TIMEOUT_SECONDS) return raw;
  note('odd_timeout');
  return null;
}
