import { join } from 'node:path';
import type { Catalogue } from '../catalogue/database.ts';
import { acquireLock } from '../catalogue/lock.ts';
import { type Ledger, openLedger } from '../catalogue/write/payments.ts';
import type { NetworkKey } from '../model/network.ts';
import { type Journal, openJournal, recoverPayments } from './journal.ts';

/** The public part of a wallet. */
export interface WalletName {
  readonly network: NetworkKey;
  readonly payer: string;
}

export interface OpenWalletsOptions {
  /** The folder with the journals and locks of wallets, shared by all catalogues. */
  folder: string;
  now: () => Date;
  /** Called when another process pays from one of the wallets and must be waited for. */
  onWait?: () => void;
  signal?: AbortSignal;
}

/**
 * Locks wallets, opens their journals, and restores payments that the catalogue lacks. Returns the ledger of each
 * wallet, in the given order. The lock belongs to the wallet's address, so two catalogues on one machine cannot pay
 * from one wallet at the same time.
 */
export async function openWallets(
  catalogue: Catalogue,
  wallets: readonly WalletName[],
  { folder, now, onWait, signal }: OpenWalletsOptions,
): Promise<{ ledgers: Ledger[]; close: () => void }> {
  const opened: (() => void)[] = [];
  const close = () => {
    for (const end of opened.splice(0).reverse()) end();
  };
  const ledgers = new Map<string, Ledger>();
  try {
    // All processes lock in the same order, so that no two wait for each other.
    const named = wallets.map((wallet) => ({ name: getFileName(wallet), payer: wallet.payer }));
    for (const { name, payer } of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const lock = await acquireLock(join(folder, `${name}.lock`), onWait, signal);
      opened.push(lock.release);
      const journal: Journal = openJournal(join(folder, `${name}.jsonl`));
      opened.push(journal.close);
      const ledger = openLedger(catalogue, journal.append);
      await recoverPayments(journal, ledger, payer, now().toISOString());
      ledgers.set(name, ledger);
    }
    return { ledgers: wallets.flatMap((wallet) => ledgers.get(getFileName(wallet)) ?? []), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Returns the name of a wallet's files, without ending. */
function getFileName({ network, payer }: WalletName): string {
  return `${network}-${payer}`;
}
