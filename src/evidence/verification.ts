import { isPublicChain, NETWORKS, type NetworkKey } from '../model/network.ts';
import type { Receipt } from '../model/receipt.ts';
import type { RouteProof, UndeliveredCall } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';

/**
 * Finds what proves a route now: its latest settled and delivered receipt, unless the terms since observed name another
 * payee, asset or network. A changed price leaves the proof standing (design contract, "States").
 */
export function findRouteProof(receipts: readonly Receipt[], terms: readonly RecordedTerms[]): RouteProof | null {
  const [latest] = listStanding(receipts, terms).toSorted((a, b) => (a.settled_at < b.settled_at ? 1 : -1));
  if (!latest) return null;
  const isPublic = isPublicChain(latest.network, latest.genesis);
  return {
    receipt_id: latest.id,
    network: latest.network,
    amount: latest.amount,
    verified_at: latest.settled_at,
    transaction: latest.transaction,
    public_chain: isPublic,
    request: latest.request,
    transaction_url: isPublic ? NETWORKS[latest.network].getTransactionUrl(latest.transaction) : null,
  };
}

/** Lists the networks on which a route stands verified: one that was paid on two is so on both, whichever came last. */
export function listVerifiedNetworks(receipts: readonly Receipt[], terms: readonly RecordedTerms[]): NetworkKey[] {
  return [...new Set(listStanding(receipts, terms).map(({ network }) => network))];
}

function listStanding(receipts: readonly Receipt[], terms: readonly RecordedTerms[]): Receipt[] {
  return receipts.filter((receipt) => receipt.settled && receipt.delivered && isStillAsked(receipt, terms));
}

/** Finds the latest paid call of a route where that settled and brought nothing; a later one that did lets it be. */
export function findUndelivered(receipts: readonly Receipt[]): UndeliveredCall | null {
  const [latest] = receipts.filter(({ settled }) => settled).toSorted((a, b) => (a.settled_at < b.settled_at ? 1 : -1));
  if (!latest || latest.delivered) return null;
  const { id, settled_at, network, amount, genesis } = latest;
  return { receipt_id: id, at: settled_at, network, amount, public_chain: isPublicChain(network, genesis) };
}

function isStillAsked(receipt: Receipt, terms: readonly RecordedTerms[]): boolean {
  const observed = terms.filter(({ current, evidence }) => current && evidence === 'observed');
  if (observed.length === 0) return true;
  return observed.some(
    ({ network, asset, pay_to }) =>
      network === receipt.network && asset === receipt.asset && (pay_to === null || pay_to === receipt.pay_to),
  );
}
