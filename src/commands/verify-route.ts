import { existsSync } from 'node:fs';
import type { Catalogue } from '../catalogue/database.ts';
import { listDeclarations } from '../catalogue/derivation.ts';
import { countSpent, openLedger } from '../catalogue/payments.ts';
import type { Config, PayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { openGuardedClient } from '../fetching/client.ts';
import type { SourceKind } from '../model/declaration.ts';
import type { Listing } from '../model/listing.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import type { Payment } from '../model/payment.ts';
import { formatRoute, type Route } from '../model/route.ts';
import type { TermsDifference } from '../model/sample.ts';
import type { Terms } from '../model/terms.ts';
import { acquireLock } from '../release/lock.ts';
import type { Ledger } from '../settlement/ledger.ts';
import { type PayEvent, payForCall } from '../settlement/pay.ts';
import type { DeclaredProduct } from '../settlement/product.ts';
import { fetchQuote, type Quote } from '../settlement/quote.ts';
import type { Rail } from '../settlement/rail.ts';
import { reconcilePayments } from '../settlement/reconcile.ts';
import { getUserAgent } from '../views/user-agent.ts';
import { isChanged } from '../x402/terms-differences.ts';
import { buildCall, getNamedRoute } from './paid-route.ts';
import { runProbing } from './probe-run.ts';
import { openRails } from './rails.ts';

export interface VerifyOptions {
  route: string | undefined;
  input: string | undefined;
  pay: boolean;
  config: Config;
  payer: PayerConfig;
  now: () => Date;
  signal: AbortSignal;
  /** Tells the operator one line. */
  say: (line: string) => void;
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

/** Looks at the live 402 of a route, and with `pay` makes the call and pays for it. Throws what paying throws. */
export async function verifyRoute(
  catalogue: Catalogue,
  listing: Listing,
  options: VerifyOptions,
): Promise<VerifyResult> {
  const { config, payer, now, signal, pay } = options;
  const route = getNamedRoute(listing, options.route);
  const call = buildCall(listing, route, options.input);
  const rails = await openRails(payer);
  const ledger: Ledger = openLedger(catalogue);
  const lock = pay
    ? await acquireLock(
        `${catalogue.file}.paying`,
        () => options.say('Another payment is being made; waiting for its end.'),
        signal,
      )
    : undefined;
  const client = openGuardedClient({
    allowPrivateNetworks: config.allowPrivateNetworks,
    userAgent: getUserAgent(config),
  });
  try {
    const reconciled: Payment[] = [];
    if (pay) for (const rail of rails) reconciled.push(...(await reconcilePayments({ rail, ledger, now })));
    const known = getCurrentTerms(route.terms);
    const networks = rails.length > 0 ? rails.map(({ network }) => network) : listNetworks();
    const payeeRotates = route.payee === 'rotating';
    const quote = await fetchQuote({ client, call, known, payeeRotates, networks, signal });
    if (isChanged(quote.differences)) await recordDifference(catalogue, listing, route.id, options);
    const refused = quote.refused ?? (pay && rails.length === 0 ? 'no_wallet' : null);
    const { chosen } = quote;
    const rail = rails.find(({ network }) => network === chosen?.terms.network);
    const payment =
      pay && refused === null && chosen && rail
        ? await payForCall({
            ...{ client, rail, ledger, call, now, signal },
            caps: { per_call: payer.maxPerCall, per_day: payer.maxPerDay },
            route_id: route.id,
            requirement: chosen,
            declared: route,
            own: listOwn(catalogue, listing, route),
            isStopped: () => payer.stopFile !== null && existsSync(payer.stopFile),
            onEvent: (event) => options.say(describeEvent(event)),
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
      caps: {
        per_call: payer.maxPerCall,
        per_day: payer.maxPerDay,
        spent: countSpent(catalogue, now().toISOString()),
      },
      reconciled,
      payment,
    };
  } finally {
    await client.close();
    lock?.release();
  }
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
async function recordDifference(
  catalogue: Catalogue,
  { slug }: Listing,
  routeId: string,
  { config, now, signal, say }: VerifyOptions,
): Promise<void> {
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
