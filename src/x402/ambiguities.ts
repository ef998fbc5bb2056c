import { isObject, writeScalar } from '../model/json.ts';
import { findAccount, findOfferNetwork, isMainnetUsdc } from './offer-fields.ts';

/**
 * Something that two honest readers of a challenge read differently. `duplicate_key`: a key appears twice in one object.
 * `pay_to_differs`, `amount_differs`: one offer names two payees or amounts under several names, or is made twice to two
 * payees. `bad_amount`: an amount that some readers take and others refuse. `body_differs`: header and body ask different
 * things on one network.
 */
export interface Ambiguity {
  code: 'duplicate_key' | 'pay_to_differs' | 'amount_differs' | 'bad_amount' | 'body_differs';
  /** JSON pointer in the challenge, after `header` or `body` if the challenge is read from the other one. */
  place: string;
}

/** Names under which readers look for the payee and the amount of an offer, in lower case without separators. */
export const PAYEE_NAMES: readonly string[] = [
  ...['payto', 'recipient', 'payee', 'receiver', 'wallet', 'walletaddress', 'paymentaddress', 'receivingaddress'],
  ...['payoutaddress', 'receivingwallet'],
];
const AMOUNT_NAMES: readonly string[] = ['amount', 'maxamountrequired'];

/** Most ambiguities listed: one is enough not to pay. */
const MAX_LISTED = 8;

/**
 * Lists the parts of a challenge that readers may read differently, each with its place; `duplicateKeys` are those found in its
 * text.
 */
export function listAmbiguities(accepts: readonly unknown[], duplicateKeys: readonly string[]): Ambiguity[] {
  const payees = new Map<string, string>();
  const inOffers = accepts.flatMap((entry, index) => {
    if (!isObject(entry)) return [];
    const placed = (names: readonly string[]) =>
      Object.entries(entry)
        .filter(([name, value]) => names.includes(name.toLowerCase().replace(/[^a-z]/g, '')) && isFilled(value))
        .map(([name, value]) => ({ place: `/accepts/${index}/${name.replaceAll('/', '~1')}`, value }));
    const amounts = placed(AMOUNT_NAMES);
    const accounts = placed(PAYEE_NAMES).flatMap(({ place, value }) => {
      const account = parseAccount(value);
      return account === undefined ? [] : { place, value: account };
    });
    const [payee] = accounts;
    const key = getOfferKey(entry, amounts[0]?.value);
    const other = payees.get(key);
    if (payee && other === undefined) payees.set(key, payee.value);
    const isOther = payee !== undefined && other !== undefined && payee.value !== other;
    return [
      ...(isOther ? [{ code: 'pay_to_differs', place: payee.place } as const] : []),
      ...listDiffering('pay_to_differs', accounts),
      ...listDiffering('amount_differs', amounts),
      ...amounts
        .filter(({ value }) => !isPlainAmount(value))
        .map(({ place }) => ({ code: 'bad_amount', place }) as const),
    ];
  });
  const repeated = duplicateKeys.map((place) => ({ code: 'duplicate_key', place }) as const);
  return [...repeated, ...inOffers].slice(0, MAX_LISTED);
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Parses an account of any network; undefined for any other name, such as that of a company. */
function parseAccount(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : value;
  return isMainnetUsdc(text) ? undefined : findAccount(text)?.account;
}

/** Returns true if all readers read an amount the same way: decimal digits, or a number that is exact everywhere. */
function isPlainAmount(value: unknown): boolean {
  return typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : /^(?:0|[1-9]\d*)$/.test(writeScalar(value));
}

function listDiffering(code: Ambiguity['code'], values: readonly { place: string; value: unknown }[]): Ambiguity[] {
  const other = values.find(({ value }) => writeScalar(value) !== writeScalar(values[0]?.value));
  return other ? [{ code, place: other.place }] : [];
}

/** Builds the key of an offer's terms apart from the payee. A network may be spelled as in either version. */
function getOfferKey({ scheme, network, asset }: Record<string, unknown>, amount: unknown): string {
  const found = findOfferNetwork(network, null);
  return JSON.stringify(['key' in found ? found.key : network, scheme, asset, writeScalar(amount)]).toLowerCase();
}
