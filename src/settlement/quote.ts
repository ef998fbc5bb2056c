import type { FetchResponse, GuardedClient } from '../fetching/client.ts';
import type { NetworkKey } from '../model/network.ts';
import type { TermsDifference } from '../model/sample.ts';
import type { Terms } from '../model/terms.ts';
import { listRequirements, type Requirement } from '../x402/requirements.ts';
import { chooseOffer, type OfferRefusal } from './offers.ts';
import type { Call } from './paid-call.ts';

/** Limits of one request of a verification: what a product may weigh, and how long it may take. */
export const CALL_LIMITS = { totalMs: 60_000, bodyBytes: 5 * 1024 * 1024, decodedBytes: 20 * 1024 * 1024 };

/** What a live 402 asks now, beside what is on record, and what of it would be paid. */
export interface Quote {
  /** Status of the answer; only a 402 can be paid. */
  status: number;
  offered: Terms[];
  known: Terms[];
  differences: TermsDifference[];
  /** What would be paid; null where nothing is. */
  chosen: Requirement | null;
  /** Why nothing is paid; null where something would be. */
  refused: OfferRefusal | 'not_402' | null;
}

/**
 * Reads the live 402 of a route and says what would be paid for it. Follows no redirect: a payment is for the address
 * on record. Throws what the guarded client throws.
 */
export async function fetchQuote({
  client,
  call,
  known,
  payeeRotates,
  networks,
  signal,
}: {
  client: GuardedClient;
  call: Call;
  known: readonly Terms[];
  payeeRotates: boolean;
  /** Networks that there is a wallet for. */
  networks: readonly NetworkKey[];
  signal: AbortSignal;
}): Promise<Quote> {
  const { method, url, headers, body } = call;
  const response = await client.fetch(url, { method, headers, body, redirect: 'manual', signal, limits: CALL_LIMITS });
  const requirements = response.status === 402 ? listRequirements(response) : [];
  const offered = requirements.map(({ terms }) => terms);
  const shared = { status: response.status, offered, known: [...known] };
  if (response.status !== 402) return { ...shared, differences: [], chosen: null, refused: 'not_402' };
  const choice = chooseOffer(requirements, known, { networks, payeeRotates });
  if ('refused' in choice) return { ...shared, ...choice, chosen: null };
  return { ...shared, ...choice, refused: null };
}

/** Makes the paid request. A redirect is given back as the answer: a payment goes to one address alone. */
export async function fetchPaid(
  client: GuardedClient,
  { method, url, headers, body }: Call,
  paymentHeaders: Record<string, string>,
): Promise<FetchResponse> {
  const all = { ...headers, ...paymentHeaders };
  return client.fetch(url, { method, headers: all, body, redirect: 'manual', limits: CALL_LIMITS });
}
