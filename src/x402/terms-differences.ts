import type { TermsDifference, TermsField } from '../model/sample.ts';
import type { Terms } from '../model/terms.ts';

/** The fields that make an offer, the ones first by which two offers are told to be the same one, changed. */
const FIELDS = ['network', 'asset', 'scheme', 'amount', 'pay_to'] as const satisfies readonly TermsField[];

/** How much a field speaks for two offers being one: a price changes sooner than a network. */
const WEIGHTS: Readonly<Record<TermsField, number>> = { network: 8, asset: 8, scheme: 4, pay_to: 2, amount: 1 };

/**
 * Lists how the offers that were known differ from those seen. Each known offer is matched to one seen: the same first,
 * then the one most like it on its network. A payee that is not known, or known to rotate, is not compared. Nothing known
 * gives no differences.
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
    // The same offer may be known twice, from two sources.
    else if (!seen.some((after) => listFields(before, after, payeeRotates).length === 0)) differing.push(before);
  }
  const differences = differing.map((before): TermsDifference => {
    const after = findMostAlike(before, left);
    if (!after) return { kind: 'removed', fields: [], before, after: null };
    left.delete(after);
    return { kind: 'changed', fields: listFields(before, after, payeeRotates), before, after };
  });
  const added = [...left].map((after): TermsDifference => ({ kind: 'added', fields: [], before: null, after }));
  return [...differences, ...added];
}

/**
 * Finds how one offer differs from those on record: undefined where one of them is the same, `changed` against the one
 * most like it, `added` where none on its network is. Payees are compared as `listTermsDifferences` does.
 */
export function findOfferDifference(
  offer: Terms,
  known: readonly Terms[],
  { payeeRotates = false }: { payeeRotates?: boolean | undefined } = {},
): TermsDifference | undefined {
  if (known.some((before) => listFields(before, offer, payeeRotates).length === 0)) return undefined;
  const before = findMostAlike(offer, new Set(known.filter(({ network }) => network === offer.network)));
  if (!before) return { kind: 'added', fields: [], before: null, after: offer };
  return { kind: 'changed', fields: listFields(before, offer, payeeRotates), before, after: offer };
}

/** Says whether a known offer is no longer made as it was; offers besides change nothing for who knows the others. */
export function isChanged(differences: readonly TermsDifference[]): boolean {
  return differences.some(({ kind }) => kind !== 'added');
}

/** Says whether two lists ask the same of a buyer, whoever is paid. */
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

/** Finds the offer most like another; where only one is left on each side it is the same one moved to another network. */
function findMostAlike(before: Terms, candidates: ReadonlySet<Terms>): Terms | undefined {
  const getWeight = (after: Terms) =>
    FIELDS.reduce((sum, field) => sum + (before[field] === after[field] ? WEIGHTS[field] : 0), 0);
  const sorted = [...candidates].toSorted((a, b) => getWeight(b) - getWeight(a));
  const [best] = sorted;
  return best && (best.network === before.network || candidates.size === 1) ? best : undefined;
}
