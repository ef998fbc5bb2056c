import type { Catalogue } from '../catalogue/database.ts';
import { listDeclarations } from '../catalogue/derivation.ts';
import { countSpent } from '../catalogue/payments.ts';
import type { Config, PayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { type GuardedClient, openGuardedClient } from '../fetching/client.ts';
import type { SourceKind } from '../model/declaration.ts';
import type { Listing } from '../model/listing.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import type { Payment, PreparedPayment } from '../model/payment.ts';
import { formatRoute, type Route } from '../model/route.ts';
import type { TermsDifference } from '../model/sample.ts';
import type { Terms } from '../model/terms.ts';
import type { Ledger } from '../settlement/ledger.ts';
import { payForCall } from '../settlement/pay.ts';
import type { DeclaredProduct } from '../settlement/product.ts';
import { fetchQuote, type Quote } from '../settlement/quote.ts';
import type { Rail } from '../settlement/rail.ts';
import { type PayEvent, reconcilePayments } from '../settlement/reconcile.ts';
import { findStop } from '../settlement/stop-file.ts';
import { getUserAgent } from '../views/user-agent.ts';
import { isChanged } from '../x402/terms-differences.ts';
import { buildCall, getNamedRoute } from './paid-route.ts';
import { runProbing } from './probe-run.ts';
import { openRails } from './rails.ts';
import { openWallets } from './wallets.ts';

export interface PayerOptions {
  config: Config;
  payer: PayerConfig;
  /** Whether anything is to be paid: then the wallets are locked, and earlier attempts resolved first. */
  pay: boolean;
  now: () => Date;
  signal: AbortSignal;
  /** Tells the operator one line. */
  say: (line: string) => void;
}

/** A payer at work: its wallets, opened and held, and what became of attempts that were left open. */
export interface Payer extends PayerOptions {
  readonly catalogue: Catalogue;
  readonly client: GuardedClient;
  readonly rails: readonly Rail[];
  /** The ledger of each wallet; empty where nothing is to be paid. */
  readonly ledgers: ReadonlyMap<Rail, Ledger>;
  /** Earlier attempts that were left open, as the chain has them now. */
  readonly reconciled: readonly Payment[];
}

/** Which call is looked at: the only route of the listing where none is named, and its example where no file is given. */
export interface VerifyRequest {
  route: string | undefined;
  input: string | undefined;
  /** What the call may cost at most, in atomic USDC, where that is less than the cap for a call. */
  most?: number;
  onPrepared?: (payment: PreparedPayment) => void;
}

/** What a verification found, and what it did. Amounts are atomic USDC. */
export interface VerifyResult {
  slug: string;
  route: string;
  request: { method: string; url: string };
  /** Status of the unpaid request. */
  status: number;
  asked: Terms[];
  on_record: Terms[];
  differences: TermsDifference[];
  would_pay: { network: NetworkKey; amount: number; pay_to: string | null } | null;
  /** Why nothing would be paid; null where something would be. */
  refused: Quote['refused'];
  /** The balance is null where the node could no longer be asked after a payment. */
  wallets: { network: NetworkKey; payer: string; balance: number | null }[];
  caps: { per_call: number; per_day: number; spent: number };
  /** Earlier attempts that were left open, as the chain has them now. */
  reconciled: Payment[];
  /** Null where nothing was paid. */
  payment: Payment | null;
}

/** Opens a payer for some work, and closes it. Throws what opening wallets and reading the chain throw. */
export async function withPayer<Result>(
  catalogue: Catalogue,
  options: PayerOptions,
  work: (payer: Payer) => Promise<Result>,
): Promise<Result> {
  const { config, payer, pay, now, signal, say } = options;
  const rails = await openRails(payer);
  const onWait = () => say('Another payment is being made from the wallet; waiting for its end.');
  const wallets = pay ? await openWallets(catalogue, rails, { folder: payer.folder, now, onWait, signal }) : undefined;
  const ledgers = new Map((wallets?.ledgers ?? []).map((ledger, index) => [rails[index] as Rail, ledger]));
  const client = openGuardedClient({
    allowPrivateNetworks: config.allowPrivateNetworks,
    userAgent: getUserAgent(config),
  });
  try {
    const reconciled: Payment[] = [];
    for (const [rail, ledger] of ledgers) reconciled.push(...(await reconcilePayments({ rail, ledger, now })));
    return await work({ ...options, catalogue, client, rails, ledgers, reconciled });
  } finally {
    await client.close();
    wallets?.close();
  }
}

/**
 * Looks at the live 402 of a route, and where the payer pays, makes the call and pays for it. Throws what paying
 * throws.
 */
export async function verifyRoute(payer: Payer, listing: Listing, request: VerifyRequest): Promise<VerifyResult> {
  const { catalogue, client, rails, ledgers, now, signal, pay } = payer;
  const { maxPerCall, maxPerDay, stopFile } = payer.payer;
  const route = getNamedRoute(listing, request.route);
  const call = buildCall(listing, route, request.input);
  const known = getCurrentTerms(route.terms);
  const networks = rails.length > 0 ? rails.map(({ network }) => network) : listNetworks();
  const payeeRotates = route.payee === 'rotating';
  const quote = await fetchQuote({ client, call, known, payeeRotates, networks, signal });
  if (isChanged(quote.differences)) await recordDifference(listing, route.id, payer);
  const refused = quote.refused ?? (pay && rails.length === 0 ? 'no_wallet' : null);
  const { chosen } = quote;
  const rail = rails.find(({ network }) => network === chosen?.terms.network);
  const ledger = rail && ledgers.get(rail);
  const payment =
    refused === null && chosen && rail && ledger
      ? await payForCall({
          ...{ client, rail, ledger, call, now, signal },
          caps: { per_call: Math.min(maxPerCall, request.most ?? maxPerCall), per_day: maxPerDay },
          route_id: route.id,
          requirement: chosen,
          declared: route,
          own: listOwn(catalogue, listing, route),
          findStop: () => findStop(stopFile),
          onEvent: (event) => {
            if (event.type === 'prepared') request.onPrepared?.(event.payment);
            payer.say(describeEvent(event));
          },
        })
      : null;
  return {
    slug: listing.slug,
    route: formatRoute(route),
    request: { method: call.method, url: call.url.href },
    status: quote.status,
    asked: quote.offered,
    on_record: quote.known,
    differences: quote.differences,
    would_pay: chosen ? getPrice(chosen.terms) : null,
    refused,
    wallets: await readWallets(rails, { isPaid: payment !== null }),
    caps: { per_call: maxPerCall, per_day: maxPerDay, spent: countSpent(catalogue, now().toISOString()) },
    reconciled: [...payer.reconciled],
    payment,
  };
}

/** Sources whose words are the provider's own: only those can speak against what it delivers. */
const OWN_SOURCES: readonly SourceKind[] = ['provider', 'openapi'];

function listOwn(catalogue: Catalogue, { id }: Listing, { method, path }: Route): DeclaredProduct[] {
  return listDeclarations(catalogue, id)
    .filter(({ declaration, withdrawn_at }) => withdrawn_at === null && OWN_SOURCES.includes(declaration.source.kind))
    .flatMap(({ declaration }) => declaration.routes)
    .filter((route) => route.method === method && route.path === path)
    .map(({ mime_type, output_schema }) => ({ mime_type, output_schema }));
}

function listNetworks(): NetworkKey[] {
  return Object.values(NETWORKS).map(({ key }) => key);
}

function getPrice({ network, amount, pay_to }: Terms) {
  return { network, amount, pay_to };
}

async function readWallets(rails: readonly Rail[], { isPaid }: { isPaid: boolean }): Promise<VerifyResult['wallets']> {
  return Promise.all(
    rails.map(async ({ network, payer, chain }) => {
      const balance = await chain.getBalance(payer).catch((error: unknown) => {
        // What was paid is told even where the node went away meanwhile.
        if (isPaid && error instanceof ServiceError) return null;
        throw error;
      });
      return { network, payer, balance };
    }),
  );
}

/** A difference is evidence like any other, so a probe of the route puts it on record. */
async function recordDifference({ slug }: Listing, routeId: string, payer: Payer): Promise<void> {
  const { catalogue, config, now, signal, say } = payer;
  say('The live 402 differs from the record; probing the route to put that on record.');
  await runProbing(
    catalogue,
    { kind: 'chosen', slugs: [slug], routeIds: [routeId] },
    {
      config,
      now,
      signal,
      random: Math.random,
      atOnce: 1,
      pauseMs: 1000,
      timeoutMs: 15_000,
      onProgress: () => undefined,
    },
  );
}

function describeEvent(event: PayEvent): string {
  switch (event.type) {
    case 'prepared':
      return `Written down as ${event.payment.id}, valid until ${event.payment.expires_at}.`;
    case 'sent':
      return 'Signed and sent.';
    case 'answered':
      return `Answered with status ${event.answer.answer?.status}.`;
    case 'unanswered':
      return `No answer that could be taken came (${event.reason}).`;
    case 'waiting':
      return `Waiting for the chain, until ${event.until} at the latest.`;
  }
}
