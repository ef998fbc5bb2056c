import { isObject, writeScalar } from '../../model/json.ts';
import { NETWORKS } from '../../model/network.ts';
import { getTermsKey, MAX_TIMEOUT_SECONDS, type Terms } from '../../model/terms.ts';
import { listExtraNeeds } from '../../x402/extra-needs.ts';
import {
  findAssetProblem,
  findOfferNetwork,
  isMainnetUsdc,
  parseOfferAmount,
  parsePayTo,
  SCHEME,
} from '../../x402/offer-fields.ts';
import { FINDING_CODES, type FindingCode, formatPointer, type Note, noteBelow } from '../findings.ts';
import { findMember } from '../json-value.ts';
import { listOffers, MAX_OFFERS } from './item.ts';

/**
 * Codes for offers that are not taken, beginning with those that are nearest to a good offer. An item without a good
 * offer is refused with the first of its codes.
 */
const CODES_BY_NEARNESS: readonly FindingCode[] = [
  ...(['implausible_price', 'zero_amount', 'no_amount', 'bad_amount', 'bad_pay_to', 'bad_scheme'] as const),
  ...(['asset_not_an_address', 'no_asset', 'not_usdc', 'unsupported_network', 'no_network'] as const),
  ...(['test_network_mainnet_asset', 'test_network', 'bad_offer'] as const),
];

/**
 * Reads an item's offers and returns the good ones, with a note for each other one. Without a good offer it returns why
 * the item is refused, and where; the message has the reason of every offer.
 */
export function readItemTerms(
  item: unknown,
  note: Note,
): Terms[] | { code: FindingCode; message: string; place: string } {
  const offers = listOffers(item);
  if (offers.length === 0) return { code: 'no_offers', message: FINDING_CODES.no_offers, place: '/accepts' };
  const accepts = findMember(item, 'accepts');
  if (Array.isArray(accepts) && accepts.length > MAX_OFFERS) note('too_many_offers', undefined, '/accepts');
  const good = new Map<string, Terms>();
  const misses = new Map<FindingCode, string>();
  const [version, extensions] = [findMember(item, 'x402Version'), findMember(item, 'extensions')];
  for (const [index, offer] of offers.entries()) {
    const place = formatPointer('accepts', index);
    const read = parseOffer(offer, version, noteInOffer(note, place, offer), extensions);
    if (typeof read === 'string') {
      if (!misses.has(read)) misses.set(read, `${place}${getOfferPlace(read, offer)}`);
    } else if (!good.has(getTermsKey(read))) good.set(getTermsKey(read), read);
  }
  const codes = CODES_BY_NEARNESS.filter((code) => misses.has(code));
  const [nearest] = codes;
  if (good.size === 0 && nearest) {
    const message = `No offer can be taken. ${codes.map((code) => FINDING_CODES[code]).join(' ')}`;
    return { code: nearest, message, place: misses.get(nearest) ?? '' };
  }
  for (const code of codes) note(code, `Another offer was left out. ${FINDING_CODES[code]}`, misses.get(code));
  return [...good.values()];
}

/** Notes places within an offer; its version may be that of the item. */
function noteInOffer(note: Note, offerPlace: string, offer: unknown): Note {
  const below = noteBelow(note, offerPlace);
  return (code, message, place) => {
    const isOfItem = code === 'odd_version' && findMember(offer, 'x402Version') === undefined;
    (isOfItem ? note : below)(code, message, place);
  };
}

/**
 * Parses one entry of an item's `accepts` into terms, or returns the code for why it is not taken. Only USDC on Base or
 * Solana is taken, for a plausible amount, to an account. Reads the fields of both protocol versions and their aliases;
 * harmless oddities are noted. `extensions` are those of the item.
 */
export function parseOffer(raw: unknown, itemVersion: unknown, note: Note, extensions?: unknown): Terms | FindingCode {
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
  noteInconsistencies(raw, network.isUsual, note);
  const extra_needs = listExtraNeeds({ network: network.key, extra: raw.extra }, extensions);
  return {
    network: network.key,
    scheme,
    asset: NETWORKS[network.key].usdc,
    amount,
    pay_to: payTo,
    max_timeout_seconds: readTimeout(raw.maxTimeoutSeconds, note),
    x402_version: version,
    ...(extra_needs.length > 0 && { extra_needs }),
  };
}

function noteInconsistencies(raw: Record<string, unknown>, isUsualNetwork: boolean, note: Note): void {
  const place = (code: FindingCode) => getOfferPlace(code, raw);
  if (!isUsualNetwork) note('network_spelling', undefined, '/network');
  if (typeof pickFilled(raw.amount, raw.maxAmountRequired) === 'number') {
    note('amount_as_number', undefined, place('bad_amount'));
  }
  if (isDifferent(raw.amount, raw.maxAmountRequired)) note('amount_differs', undefined, '/maxAmountRequired');
  if (isDifferent(raw.payTo, raw.recipient)) note('pay_to_differs', undefined, '/recipient');
}

function readVersion(raw: unknown, note: Note): 1 | 2 | null {
  if (raw === 1 || raw === 2) return raw;
  if (raw !== undefined && raw !== null) note('odd_version', undefined, '/x402Version');
  return null;
}

function readScheme(raw: unknown, note: Note): string | undefined {
  if (raw === undefined || raw === null || raw === '') {
    note('scheme_assumed', undefined, '/scheme');
    return 'exact';
  }
  if (typeof raw !== 'string' || !SCHEME.test(raw)) return undefined;
  const scheme = raw.toLowerCase();
  if (scheme !== 'exact') {
    note('other_scheme', `The payment scheme is ${scheme}, so the amount may be a ceiling.`, '/scheme');
  }
  return scheme;
}

/** Reads the payment time-out of an offer, in seconds; null if it is missing or odd, which is noted. */
export function readTimeout(raw: unknown, note: Note): number | null {
  if (raw === undefined || raw === null) return null;
  if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 1 && raw <= MAX_TIMEOUT_SECONDS) return raw;
  note('odd_timeout', undefined, '/maxTimeoutSeconds');
  return null;
}

/** Writes an amount as text: feeds sometimes state it as a JSON number, which x402 does not allow. */
function writeAmount(raw: unknown): unknown {
  return typeof raw === 'number' && Number.isInteger(raw) ? BigInt(raw).toString() : raw;
}

function pickFilled(first: unknown, second: unknown): unknown {
  return first === undefined || first === null || first === '' ? second : first;
}

function isDifferent(first: unknown, second: unknown): boolean {
  const [a, b] = [first, second].map((value) => writeScalar(value ?? ''));
  return a !== '' && b !== '' && a?.toLowerCase() !== b?.toLowerCase();
}

/** The field that a code is about. An offer may have one of several. */
const FIELDS: Partial<Record<FindingCode, readonly [string, ...string[]]>> = {
  bad_scheme: ['scheme'],
  no_network: ['network'],
  test_network: ['network'],
  test_network_mainnet_asset: ['network'],
  unsupported_network: ['network'],
  no_asset: ['asset', 'currency'],
  asset_not_an_address: ['asset', 'currency'],
  not_usdc: ['asset', 'currency'],
  no_amount: ['amount', 'maxAmountRequired'],
  bad_amount: ['amount', 'maxAmountRequired'],
  zero_amount: ['amount', 'maxAmountRequired'],
  implausible_price: ['amount', 'maxAmountRequired'],
  bad_pay_to: ['payTo', 'recipient'],
};

/** Returns the place in an offer that a code is about, as a JSON pointer: the offer itself if the code has no field. */
export function getOfferPlace(code: FindingCode, offer: unknown): string {
  const names = FIELDS[code] ?? [];
  const name = names.find((one) => pickFilled(findMember(offer, one), undefined) !== undefined) ?? names[0];
  return name === undefined ? '' : formatPointer(name);
}
