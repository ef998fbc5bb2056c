import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { findPayment, listPayments } from '../catalogue/payment-records.ts';
import { openLedger } from '../catalogue/payments.ts';
import { readPayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Payment } from '../model/payment.ts';
import { formatUsdc } from '../model/usdc.ts';
import { acquireLock } from '../release/lock.ts';
import { checkReceipt, type ReceiptCheck } from '../settlement/receipt-check.ts';
import { reconcilePayments } from '../settlement/reconcile.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { readWith, writeWith } from './opening.ts';
import { openChain, openRails } from './rails.ts';
import { formatTime } from './terminal/listing-words.ts';
import type { Page } from './terminal/page.ts';
import { describePayment } from './verify-report.ts';

/** Payments that are listed, the latest. */
const LISTED = 100;

const input = z
  .object({
    action: z.enum(['check', 'reconcile'], 'check or reconcile').optional(),
    id: z.string().min(1).optional(),
    rpc: z.url('an http(s) address').optional(),
  })
  .refine(({ action, id }) => (action === 'check') === (id !== undefined), 'check takes the id of a receipt.')
  .refine(({ action, rpc }) => rpc === undefined || action === 'check', '--rpc goes with check.');

type ReceiptsResult = { payments: Payment[] } | { receipt: Payment; checks: ReceiptCheck[] };

export const receipts: Command = defineCommand({
  summary: 'List payments, check one against the chain alone, or find out what became of open ones',
  details:
    'check asks the chain again for everything that a receipt says: the nonce, the transfer, the block. Give any node of ' +
    'the network with --rpc; it needs no wallet. reconcile resolves attempts that a crash or a stop left open.',
  arguments: [
    ['[action]', 'check or reconcile; the list without it'],
    ['[id]', 'the receipt to check'],
  ],
  options: [['--rpc <url>', 'the node to ask; without it EVM_RPC_URL or SOLANA_RPC_URL']],
  examples: [
    ['receipts', 'every attempt and what became of it'],
    ['receipts check 5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01 --rpc https://mainnet.base.org', 'one, from the chain alone'],
  ],
  input,
  run: ({ action, id = '', rpc }, context): Promise<ReceiptsResult> => {
    if (action === 'check') return readWith(context, (catalogue) => check(catalogue, id, rpc));
    if (action === 'reconcile')
      return writeWith(context, { create: false }, (catalogue) => reconcile(catalogue, context));
    return readWith(context, (catalogue) => ({ payments: listPayments(catalogue, LISTED) }));
  },
  render: renderReceipts,
  isDone: (result) => !('checks' in result) || result.checks.every(({ passed }) => passed),
});

async function check(catalogue: Catalogue, id: string, rpc: string | undefined): Promise<ReceiptsResult> {
  const receipt = findPayment(catalogue, id);
  if (!receipt) {
    throw new ServiceError('not_found', `There is no receipt ${id}.`, { hint: 'The command receipts lists them.' });
  }
  const { evmRpcUrls, solanaRpcUrl } = readPayerConfig();
  const [url] = [rpc, ...(receipt.network === 'base' ? evmRpcUrls : [solanaRpcUrl])].filter((given) => given != null);
  if (url === undefined) {
    throw new ServiceError('bad_input', `No node of ${receipt.network} is given.`, {
      hint: `Add --rpc <url>, or set ${receipt.network === 'base' ? 'EVM_RPC_URL' : 'SOLANA_RPC_URL'}.`,
      reason: 'usage',
    });
  }
  return { receipt, checks: await checkReceipt(await openChain(receipt.network, url), receipt) };
}

async function reconcile(catalogue: Catalogue, { now }: CommandContext): Promise<ReceiptsResult> {
  const lock = await acquireLock(`${catalogue.file}.paying`);
  try {
    const ledger = openLedger(catalogue);
    const payments: Payment[] = [];
    for (const rail of await openRails(readPayerConfig())) {
      payments.push(...(await reconcilePayments({ rail, ledger, now })));
    }
    return { payments };
  } finally {
    lock.release();
  }
}

function renderReceipts(result: ReceiptsResult, page: Page): void {
  if ('checks' in result) {
    page.title(`Receipt ${result.receipt.id}`);
    page.say(describePayment(result.receipt));
    page.blank();
    page.table(
      [{ heading: '' }, { heading: 'what' }, { heading: 'on the chain', cut: true }],
      result.checks.map(({ what, passed, found }) => [passed ? 'yes' : { text: 'NO', style: 'red' }, what, found]),
    );
    return;
  }
  if (result.payments.length === 0) {
    page.say('There is no payment.');
    return;
  }
  page.table(
    [
      { heading: 'time' },
      { heading: 'USDC', align: 'right' },
      { heading: 'network' },
      { heading: 'state' },
      { heading: 'delivered' },
      { heading: 'id' },
      { heading: 'request', cut: true },
    ],
    result.payments.map(({ id, prepared_at, amount, network, state, reason, delivered, request }) => [
      formatTime(prepared_at),
      formatUsdc(amount),
      network,
      reason === null ? state : `${state} (${reason})`,
      delivered === null ? '–' : delivered ? 'yes' : 'no',
      id,
      `${request.method} ${request.url}`,
    ]),
  );
}
