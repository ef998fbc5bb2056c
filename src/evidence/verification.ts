import { isPublicChain, NETWORKS, type NetworkKey } from '../model/network.ts';
import type { Receipt } from '../model/receipt.ts';
import type { RouteProof, UndeliveredCall } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';

/**
 * Lists what proves a route now, the latest first: of each network the latest paid call that was delivered, unless the
 * terms since observed name another payee, asset or network. A changed price leaves the proof as it is. A later paid call
 * of the route that was not delivered, on whichever network, ends every proof before it.
 */
export function listRouteProofs(receipts: readonly Receipt[], terms: readonly RecordedTerms[]): RouteProof[] {
  const counted = listCounted(receipts);
  const failedAt = counted.find(({ delivered }) => !delivered)?.settled_at ?? '';
  const proving = counted.filter(
    (receipt) => receipt.delivered && receipt.settled_at > failedAt && isStillAsked(receipt, terms),
  );
  const latest = Map.groupBy(proving, ({ network }) => network);
  return [...latest.values()]
    .flatMap(([first]) => first ?? [])
    .map(buildProof)
    .sort((a, b) => (a.verified_at < b.verified_at ? 1 : -1));
}

/** Lists the networks on which a route is verified now. */
export function listVerifiedNetworks(receipts: readonly Receipt[], terms: readonly RecordedTerms[]): NetworkKey[] {
  return listRouteProofs(receipts, terms).map(({ network }) => network);
}

/** Finds the latest paid call of a route where that settled and was not delivered. */
export function findUndelivered(receipts: readonly Receipt[]): UndeliveredCall | null {
  const [latest] = listCounted(receipts);
  if (!latest || latest.delivered) return null;
  const { id, settled_at, network, amount, genesis, unrecognised } = latest;
  const public_chain = isPublicChain(network, genesis);
  return { receipt_id: id, at: settled_at, network, amount, public_chain, unrecognised };
}

/** Lists the receipts that speak for a route or against it, the latest first: settled, and not corrected by the operator. */
export function listCounted(receipts: readonly Receipt[]): Receipt[] {
  return receipts.filter(({ settled, correction }) => settled && correction === null).toSorted(compareReceipts);
}

/** Of two that settled in the same second, the one that was not delivered counts as the later. */
function compareReceipts(a: Receipt, b: Receipt): number {
  if (a.settled_at !== b.settled_at) return a.settled_at < b.settled_at ? 1 : -1;
  if (a.delivered !== b.delivered) return a.delivered ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}

function buildProof(receipt: Receipt): RouteProof {
  const { id, network, amount, pay_to, settled_at, transaction, genesis, request } = receipt;
  const isPublic = isPublicChain(network, genesis);
  return {
    receipt_id: id,
    network,
    amount,
    pay_to,
    verified_at: settled_at,
    transaction,
    public_chain: isPublic,
    request,
    transaction_url: isPublic ? NETWORKS[network].getTransactionUrl(transaction) : null,
  };
}

function isStillAsked(receipt: Receipt, terms: readonly RecordedTerms[]): boolean {
  const observed = terms.filter(({ current, evidence }) => current && evidence === 'observed');
  if (observed.length === 0) return true;
  return observed.some(
    ({ network, asset, pay_to }) =>
      network === receipt.network && asset === receipt.asset && (pay_to === null || pay_to === receipt.pay_to),
  );
}
