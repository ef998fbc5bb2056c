import { join } from 'node:path';
import type { Catalogue } from '../catalogue/database.ts';
import { openLedger } from '../catalogue/payments.ts';
import type { NetworkKey } from '../model/network.ts';
import { acquireLock } from '../release/lock.ts';
import { type Journal, openJournal, recoverPayments } from '../settlement/journal.ts';
import type { Ledger } from '../settlement/ledger.ts';

/** A wallet by what everybody may know of it. */
export interface WalletName {
  readonly network: NetworkKey;
  readonly payer: string;
}

export interface OpenWalletsOptions {
  /** Where journals and locks of wallets are, whichever catalogue pays from them. */
  folder: string;
  now: () => Date;
  /** Called where somebody else pays from one of the wallets, and is waited for. */
  onWait?: () => void;
  signal?: AbortSignal;
}

/**
 * Takes the locks of some wallets, opens their journals, and puts back what the catalogue lacks of them. Returns the
 * ledger of each, in the order asked for. A lock goes by the wallet's address: two catalogues of one machine cannot pay
 * from one wallet at once.
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
    // In one order for everybody, so that two that want the same wallets never wait for each other.
    for (const { name, payer } of wallets.map(withName).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const lock = await acquireLock(join(folder, `${name}.lock`), onWait, signal);
      opened.push(lock.release);
      const journal: Journal = openJournal(join(folder, `${name}.jsonl`));
      opened.push(journal.close);
      const ledger = openLedger(catalogue, journal.append);
      recoverPayments(journal, ledger, payer, now().toISOString());
      ledgers.set(name, ledger);
    }
    return { ledgers: wallets.flatMap((wallet) => ledgers.get(withName(wallet).name) ?? []), close };
  } catch (error) {
    close();
    throw error;
  }
}

function withName({ network, payer }: WalletName): { name: string; payer: string } {
  return { name: `${network}-${payer}`, payer };
}
