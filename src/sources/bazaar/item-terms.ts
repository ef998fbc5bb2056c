import { getTermsKey, type Terms } from '../../model/terms.ts';
import { FINDING_CODES, type FindingCode, type Note } from '../finding-codes.ts';
import { parseOffer } from './offer.ts';
import { findMember, listOffers, MAX_OFFERS } from './places.ts';

/** Why an offer is not taken, the nearest miss first: an item without a good offer is refused for its nearest miss. */
const NEAREST_MISS: readonly FindingCode[] = [
  ...(['implausible_price', 'zero_amount', 'no_amount', 'bad_amount', 'bad_pay_to', 'bad_scheme'] as const),
  ...(['asset_not_an_address', 'no_asset', 'not_usdc', 'unsupported_network', 'no_network'] as const),
  ...(['test_network_mainnet_asset', 'test_network', 'bad_offer'] as const),
];

/**
 * Reads an item's offers: the good ones, and for each other one a note. Without any good one, gives why the item is
 * refused, and the message names every offer's reason.
 */
export function readItemTerms(item: unknown, note: Note): Terms[] | { code: FindingCode; message: string } {
  const offers = listOffers(item);
  if (offers.length === 0) return { code: 'no_offers', message: FINDING_CODES.no_offers };
  const accepts = findMember(item, 'accepts');
  if (Array.isArray(accepts) && accepts.length > MAX_OFFERS) note('too_many_offers');
  const good = new Map<string, Terms>();
  const misses: FindingCode[] = [];
  for (const offer of offers) {
    const read = parseOffer(offer, findMember(item, 'x402Version'), note);
    if (typeof read === 'string') misses.push(read);
    else if (!good.has(getTermsKey(read))) good.set(getTermsKey(read), read);
  }
  const codes = NEAREST_MISS.filter((code) => misses.includes(code));
  const [nearest] = codes;
  if (good.size === 0 && nearest) {
    return { code: nearest, message: `No offer can be taken. ${codes.map((code) => FINDING_CODES[code]).join(' ')}` };
  }
  for (const code of codes) note(code, `Another offer was left out. ${FINDING_CODES[code]}`);
  return [...good.values()];
}
