import type { Catalogue } from '../catalogue/database.ts';
import type { Ledger } from '../catalogue/write/payments.ts';
import type { Config, PayerConfig } from '../config.ts';
import { type GuardedClient, openGuardedClient } from '../fetching/client.ts';
import type { Payment } from '../model/payment.ts';
import { getUserAgent } from '../views/site.ts';
import { openRails } from './networks.ts';
import type { Rail } from './rail.ts';
import { reconcilePayments } from './reconcile.ts';
import { openWallets } from './wallets.ts';

interface PayerOptions {
  config: Config;
  payer: PayerConfig;
  /** True to pay. If so, the wallets are locked and earlier payments are resolved first. */
  pay: boolean;
  now: () => Date;
  signal: AbortSignal;
  /** Shows one line to the operator. */
  say: (line: string) => void;
}

/** A payer: its opened wallets, and the result of earlier payments that were left open. */
export interface Payer extends PayerOptions {
  readonly catalogue: Catalogue;
  readonly client: GuardedClient;
  readonly rails: readonly Rail[];
  /** The ledger of each wallet; empty if nothing is to be paid. */
  readonly ledgers: ReadonlyMap<Rail, Ledger>;
  /** Earlier attempts that were left open, in their current state on the chain. */
  readonly reconciled: readonly Payment[];
}

/** Opens a payer, runs `work`, and closes it. Throws what opening wallets and reading the chain throw. */
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
