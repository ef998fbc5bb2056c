import type { Terms, TermsDifference, TermsField } from '../model/terms.ts';

/** The fields of an offer. */
const FIELDS = ['network', 'asset', 'scheme', 'amount', 'pay_to'] as const satisfies readonly TermsField[];

/** The weight of an equal field when finding the offer that changed: a price changes more often than a network. */
const WEIGHTS: Readonly<Record<TermsField, number>> = { network: 8, asset: 8, scheme: 4, pay_to: 2, amount: 1 };

/**
 * Lists the differences between known offers and those seen now. Each known offer is matched to an equal one, else to
 * the most similar one on its network. A payee that is not known, or that rotates, is not compared. Without known
 * offers there are no differences.
 */
export function listTermsDifferences(
  known: readonly Terms[],
  seen: readonly Terms[],
  { payeeRotates = false }: { payeeRotates?: boolean | undefined } = {},
): TermsDifference[] {
  if (known.length === 0) return [];
  const left = new Set(seen);
  const differing: Terms[] = [];
  for (const before of known) {
    const same = [...left].find((after) => listFields(before, after, payeeRotates).length === 0);
    if (same) left.delete(same);
    // The same offer may be known from two sources.
    else if (!seen.some((after) => listFields(before, after, payeeRotates).length === 0)) differing.push(before);
  }
  const differences = differing.map((before): TermsDifference => {
    const after = findMostSimilar(before, left);
    if (!after) return { kind: 'removed', fields: [], before, after: null };
    left.delete(after);
    return { kind: 'changed', fields: listFields(before, after, payeeRotates), before, after };
  });
  const added = [...left].map((after): TermsDifference => ({ kind: 'added', fields: [], before: null, after }));
  return [...differences, ...added];
}

/**
 * Finds the difference of one offer from those on record: undefined if one of them is equal, `changed` compared with
 * the most similar one, `added` if there is none on its network. Payees are compared as in `listTermsDifferences`.
 */
export function findOfferDifference(
  offer: Terms,
  known: readonly Terms[],
  { payeeRotates = false }: { payeeRotates?: boolean | undefined } = {},
): TermsDifference | undefined {
  if (known.some((before) => listFields(before, offer, payeeRotates).length === 0)) return undefined;
  const before = findMostSimilar(offer, new Set(known.filter(({ network }) => network === offer.network)));
  if (!before) return { kind: 'added', fields: [], before: null, after: offer };
  return { kind: 'changed', fields: listFields(before, offer, payeeRotates), before, after: offer };
}

/** Returns whether a known offer was changed or removed. Added offers do not matter to a buyer who uses a known one. */
export function isChanged(differences: readonly TermsDifference[]): boolean {
  return differences.some(({ kind }) => kind !== 'added');
}

/** Returns whether two lists of offers ask the same, apart from the payee. */
export function isSamePrice(some: readonly Terms[], others: readonly Terms[]): boolean {
  const [a, b] = [some, others].map((list) =>
    [...new Set(list.map(({ network, scheme, asset, amount }) => `${network}|${scheme}|${asset}|${amount}`))]
      .sort()
      .join(),
  );
  return a === b;
}

function listFields(before: Terms, after: Terms, payeeRotates: boolean): TermsField[] {
  const isPayeeIgnored = payeeRotates || before.pay_to === null || after.pay_to === null;
  return FIELDS.filter((field) => before[field] !== after[field] && !(field === 'pay_to' && isPayeeIgnored));
}

/** Finds the most similar offer. If only one is left, it counts as the same offer moved to another network. */
function findMostSimilar(before: Terms, candidates: ReadonlySet<Terms>): Terms | undefined {
  const getWeight = (after: Terms) =>
    FIELDS.reduce((sum, field) => sum + (before[field] === after[field] ? WEIGHTS[field] : 0), 0);
  const sorted = [...candidates].toSorted((a, b) => getWeight(b) - getWeight(a));
  const [best] = sorted;
  return best && (best.network === before.network || candidates.size === 1) ? best : undefined;
}
