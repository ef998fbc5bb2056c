import type { Catalogue } from '../src/catalogue/database.ts';
import { findListing } from '../src/catalogue/read/listings.ts';
import { openLedger } from '../src/catalogue/write/payments.ts';
import { NETWORKS } from '../src/model/network.ts';
import type { AnswerField } from '../src/model/payment.ts';
import { getRequestHash } from '../src/model/request.ts';
import { makeTerms, NOW } from './records.ts';

/** What is paid for, and what comes of it; a product with status 200 where nothing else is said. */
export interface Paid {
  path: string;
  /** Id of the payment, and of its receipt. */
  id: string;
  status?: number;
  body?: string | null;
  /** Names and types of its answer, which is plain text without any. */
  fields?: AnswerField[] | null;
  at?: string;
  /** Time of the steps after it was prepared. */
  later?: string;
}

/** Records a payment on Base for the route of a listing with that path: prepared, sent, answered and settled. */
export async function recordPaid(
  catalogue: Catalogue,
  slug: string,
  { path, id, status = 200, body = null, fields = null, at = NOW, later = at }: Paid,
): Promise<void> {
  const listing = await findListing(catalogue, { slug });
  const route = listing?.routes.find((candidate) => candidate.path === path);
  if (!listing || !route) throw new Error(`no route ${path} in ${slug}`);
  const ledger = openLedger(catalogue, () => undefined);
  const { asset, amount, pay_to } = makeTerms();
  const request = { method: route.method, url: `${listing.base_url}${path}?of=gold`, headers: {}, body };
  await ledger.prepare(
    {
      ...{ id, route_id: route.id, network: 'base', scheme: 'exact', x402_version: 2, asset, amount },
      ...{ payer: `0x${'2'.repeat(40)}`, pay_to: pay_to ?? '', nonce: `0x${'7'.repeat(64)}` },
      ...{ from_block: 1, head_at: at, expires_at: at, expires_block: null, prepared_at: at },
      request: { ...request, hash: getRequestHash(request) },
    },
    { per_call: amount, per_day: 10 * amount },
  );
  await ledger.record(id, { step: 'sent', signature: null }, later);
  const answer = {
    ...{ delivered: status === 200, conforming: status === 200 ? ('undeclared' as const) : null, seller_receipt: null },
    unrecognised: null,
    answer: {
      ...{ at, duration_ms: 5, status, size: 3, hash: 'b'.repeat(64), fields },
      content_type: fields ? 'application/json' : 'text/plain',
    },
  };
  await ledger.record(id, { step: 'answered', answer }, later);
  const settlement = {
    ...{ transaction: `0x${id.replaceAll('-', '').repeat(2)}`, block: 255, block_hash: `0x${'d'.repeat(64)}` },
    ...{ log_index: 3, settled_at: at, read_from: 1, genesis: NETWORKS.base.genesis },
  };
  await ledger.record(id, { step: 'resolved', resolution: { state: 'settled', settlement } }, later);
}
