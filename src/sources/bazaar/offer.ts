import { NETWORKS } from '../../model/network.ts';
import type { Terms } from '../../model/terms.ts';
import {
  findAssetProblem,
  findOfferNetwork,
  isMainnetUsdc,
  parseOfferAmount,
  parsePayTo,
} from '../../x402/offer-fields.ts';
import type { FindingCode, Note } from '../finding-codes.ts';
import { isObject } from '../json-value.ts';

/** Longest time a payment may stay open, in seconds: a day. What is beyond is a date, a number of milliseconds, a slip. */
const MAX_TIMEOUT_SECONDS = 86_400;

const SCHEME = /^[a-z][a-z0-9_-]{0,31}$/i;

/**
 * Parses one entry of an item's `accepts` into terms, or gives the code of why it is not taken: only USDC on Base or
 * Solana, for a plausible amount, to an account. Reads the fields of both protocol
 * versions and their aliases; what is odd but harmless is noted.
 */
export function parseOffer(raw: unknown, itemVersion: unknown, note: Note): Terms | FindingCode {
  if (!isObject(raw)) return 'bad_offer';
  const version = readVersion(raw.x402Version ?? itemVersion, note);
  const network = findOfferNetwork(raw.network, version);
  const asset = raw.asset ?? raw.currency;
  if ('code' in network) {
    return network.code === 'test_network' && isMainnetUsdc(asset) ? 'test_network_mainnet_asset' : network.code;
  }
  const problem = findAssetProblem(network.key, asset);
  if (problem) return problem;
  const amount = parseOfferAmount(writeAmount(pickFilled(raw.amount, raw.maxAmountRequired)));
  if (typeof amount !== 'number') return amount;
  const payTo = parsePayTo(network.key, pickFilled(raw.payTo, raw.recipient));
  if (payTo === undefined) return 'bad_pay_to';
  const scheme = readScheme(raw.scheme, note);
  if (scheme === undefined) return 'bad_scheme';
  noteOddities(raw, network.isUsual, note);
  return {
    network: network.key,
    scheme,
    asset: NETWORKS[network.key].usdc,
    amount,
    pay_to: payTo,
    max_timeout_seconds: readTimeout(raw.maxTimeoutSeconds, note),
    x402_version: version,
  };
}

function noteOddities(raw: Record<string, unknown>, isUsualNetwork: boolean, note: Note): void {
  if (!isUsualNetwork) note('network_spelling');
  if (typeof pickFilled(raw.amount, raw.maxAmountRequired) === 'number') note('amount_as_number');
  if (isDifferent(raw.amount, raw.maxAmountRequired)) note('amount_differs');
  if (isDifferent(raw.payTo, raw.recipient)) note('pay_to_differs');
}

function readVersion(raw: unknown, note: Note): 1 | 2 | null {
  if (raw === 1 || raw === 2) return raw;
  if (raw !== undefined && raw !== null) note('odd_version');
  return null;
}

function readScheme(raw: unknown, note: Note): string | undefined {
  if (raw === undefined || raw === null || raw === '') {
    note('scheme_assumed');
    return 'exact';
  }
  if (typeof raw !== 'string' || !SCHEME.test(raw)) return undefined;
  const scheme = raw.toLowerCase();
  if (scheme !== 'exact') note('other_scheme', `The payment scheme is ${scheme}, so the amount may be a ceiling.`);
  return scheme;
}

function readTimeout(raw: unknown, note: Note): number | null {
  if (raw === undefined || raw === null) return null;
  if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 1 && raw <= MAX_TIMEOUT_SECONDS) return raw;
  note('odd_timeout');
  return null;
}

/** A feed may state an amount as a JSON number, which x402 itself does not. */
function writeAmount(raw: unknown): unknown {
  return typeof raw === 'number' && Number.isInteger(raw) ? BigInt(raw).toString() : raw;
}

function pickFilled(first: unknown, second: unknown): unknown {
  return first === undefined || first === null || first === '' ? second : first;
}

function isDifferent(first: unknown, second: unknown): boolean {
  const [a, b] = [first, second].map((value) => (value === undefined || value === null ? '' : String(value)));
  return a !== '' && b !== '' && a?.toLowerCase() !== b?.toLowerCase();
}
