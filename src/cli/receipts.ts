import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { findPaidRoute, findPayment, listPayments } from '../catalogue/read/payments.ts';
import { isLoopback, readPayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import { fetchJson, parseJsonBody } from '../fetching/json.ts';
import { NETWORKS, type NetworkKey, nameChain } from '../model/network.ts';
import { isOpen, isUnconfirmed, type Payment } from '../model/payment.ts';
import { openChain, openChainReader, openRails } from '../paying/networks.ts';
import type { RpcUrls } from '../paying/nodes.ts';
import { checkReceipt, checkUnsettled, type NamedReader, type ReceiptCheck } from '../paying/receipt-check.ts';
import { reconcilePayments } from '../paying/reconcile.ts';
import { openWallets } from '../paying/wallets.ts';
import { getSite } from '../site/settings.ts';
import { readDocumentFile } from '../sources/document-text.ts';
import { isWebAddress } from '../sources/source-name.ts';
import { PATHS } from '../views/links.ts';
import { type AgentReceipt, agentReceipt, buildAgentReceipt } from '../views/receipt.ts';
import { getUserAgent } from '../views/site.ts';
import { because, type Command, type CommandContext, defineCommand } from './command.ts';
import { withReadableCatalogue, withWritableCatalogue } from './open-catalogue.ts';
import { formatTime } from './terminal/format.ts';
import type { Page } from './terminal/page.ts';
import { describePayment, describeUnconfirmed, formatAmount } from './verify-report.ts';

/** Number of the latest payments that are listed. */
const MAX_LISTED = 100;

/** Largest receipt, in bytes. Real ones have some 4 KB, plus the body of the request. */
const MAX_BYTES = 256 * 1024;

/** Most nodes for one check. */
const MAX_NODES = 8;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The path of a receipt's page or document. */
const RECEIPT_PATH = /^(?<before>.*?)(?<agent>\/agent)?\/receipts\/(?<id>[0-9a-f-]{36})\/?$/i;

const RECEIPT_HINT =
  `A receipt has at most ${MAX_BYTES / 1024} KB, and its address ends in ` +
  `${PATHS.agentReceipt('{id}')} or ${PATHS.receipt('{id}')}.`;

const httpAddress = z.url({ protocol: /^https?$/, error: 'an http(s) address' });

const input = z
  .object({
    action: z.enum(['check', 'reconcile', 'settle'], 'check, reconcile or settle').optional(),
    receipt: z.string().min(1, 'an address, a file or an id').optional(),
    rpc: z.array(httpAddress, 'http(s) addresses').max(MAX_NODES, `at most ${MAX_NODES} nodes`).optional(),
    as: z.enum(['settled', 'not_settled'], 'settled or not_settled').optional(),
    because: because.optional(),
  })
  .refine(
    ({ action, receipt }) => action === 'settle' || (action === 'check') === (receipt !== undefined),
    'check takes the address of a receipt, a file that holds one, or the id of one of your own; nothing else does.',
  )
  .refine(
    ({ action, receipt, as, because }) =>
      action === 'settle'
        ? UUID.test(receipt ?? '') && as !== undefined && because !== undefined
        : as === undefined && because === undefined,
    'settle takes the id of a payment, --as settled or not_settled, and --because <reason>; nothing else does.',
  )
  .refine(({ action, rpc }) => rpc === undefined || action === 'check', '--rpc goes with check.');

/** A checked receipt: a payment of the own catalogue, or a document and its source. */
type CheckedReceipt = { receipt: Payment | AgentReceipt['receipt']; source?: string; checks: ReceiptCheck[] };
type ReceiptsResult = { payments: Payment[] } | CheckedReceipt;

export const receipts: Command = defineCommand({
  summary: 'List payments, check any receipt on the chain, or resolve open payments',
  details:
    'check takes the address of a receipt that any such catalogue serves, or a file with that document, and ' +
    'trusts nothing in it: it must be consistent, and every node given with --rpc must show the same payment. ' +
    'This needs no catalogue, no wallet and no account. With an id it checks a payment of your own catalogue. ' +
    'Addresses on this machine are fetched where BASE_URL is on it, too, as by default; elsewhere only with ' +
    'ALLOW_PRIVATE_NETWORKS=on.\n\n' +
    'reconcile resolves payments that a crash or a stop left open.\n\n' +
    'settle closes an open payment that no rule can decide, and frees its wallet. It rests on your decision ' +
    'alone: it verifies nothing, counts against nobody, and is shown as yours. A payment closed as settled counts ' +
    'as spent. It can be closed as not_settled once it can no longer settle.',
  arguments: [
    ['[action]', 'check, reconcile or settle; without it, the list'],
    ['[receipt]', 'the receipt to check: its address, a file, or the id of one of your own; the payment to settle'],
  ],
  options: [
    ['--rpc <url...>', 'one or more nodes to ask; default: EVM_RPC_URL or SOLANA_RPC_URL'],
    ['--as <state>', 'settled or not_settled, with settle'],
    ['--because <reason>', 'why, with settle'],
  ],
  examples: [
    ['receipts', 'every payment and its state'],
    [
      'receipts check https://apis.example/receipts/5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01 --rpc https://mainnet.base.org',
      'a public one, by the chain alone',
    ],
    ['receipts check receipt.json --rpc https://mainnet.base.org --rpc https://base.example', 'a file, with two nodes'],
    ['receipts check 5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01', 'one of your own'],
    [
      'receipts settle 5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01 --as not_settled --because "Both explorers show nothing."',
      'close a payment that stays unknown',
    ],
  ],
  input,
  run: ({ action, receipt = '', rpc = [], as, because }, context): Promise<ReceiptsResult> => {
    if (action === 'check') {
      return UUID.test(receipt)
        ? withReadableCatalogue(context, (catalogue) => checkOwnPayment(catalogue, receipt.toLowerCase(), rpc, context))
        : checkGivenReceipt(receipt, rpc, context);
    }
    if (action === 'reconcile')
      return withWritableCatalogue(context, { create: false }, (catalogue) => reconcile(catalogue, context));
    if (as !== undefined && because !== undefined) {
      const word = { id: receipt.toLowerCase(), as, because };
      return withWritableCatalogue(context, { create: false }, (catalogue) => settle(catalogue, word, context));
    }
    return withReadableCatalogue(context, async (catalogue) => ({
      payments: await listPayments(catalogue, MAX_LISTED),
    }));
  },
  render: renderReceipts,
  isDone: (result) => !('checks' in result) || result.checks.every(({ passed }) => passed),
});

async function checkOwnPayment(
  catalogue: Catalogue,
  id: string,
  rpc: readonly string[],
  { getConfig }: CommandContext,
): Promise<CheckedReceipt> {
  const payment = await findPayment(catalogue, id);
  if (!payment) {
    throw new ServiceError('not_found', `There is no receipt ${id}.`, {
      hint: `The command receipts lists yours. ${RECEIPT_HINT}`,
    });
  }
  if (payment.by_operator) {
    throw new ServiceError('refused', `You closed the payment ${id} yourself; no chain shows it.`, {
      hint: `You said: ${payment.by_operator.because}`,
      reason: 'operator',
    });
  }
  const urls = getNodeUrls(payment.network, rpc);
  if (!payment.settlement) {
    const chain = await openChain(payment.network, urls);
    return { receipt: payment, checks: await askForReceipt(payment.network, () => checkUnsettled(chain, payment)) };
  }
  const paid = await findPaidRoute(catalogue, payment.route_id);
  if (!paid) throw new Error('a payment is for a route on record');
  const { receipt } = buildAgentReceipt(
    { ...payment, settlement: payment.settlement },
    { listing: paid.slug, route: `${paid.method} ${paid.path}`, revision: 0, site: getSite(getConfig()) },
  );
  return { receipt: payment, checks: await checkByNodes(receipt, urls) };
}

/** Checks a receipt at an address or in a file, without opening a catalogue. */
async function checkGivenReceipt(
  source: string,
  rpc: readonly string[],
  context: CommandContext,
): Promise<CheckedReceipt> {
  const { receipt, id } = isWebAddress(source) ? await fetchReceipt(source, context) : await readReceipt(source);
  const checks = await checkByNodes(receipt, getNodeUrls(receipt.network, rpc));
  if (id !== undefined) {
    const passed = id === receipt.id;
    const found = passed ? 'fits the address' : `the address is that of ${id}`;
    checks.unshift({ field: 'id', what: `receipt ${receipt.id}`, passed, found, node: null });
  }
  return { receipt, source, checks };
}

interface GivenReceipt {
  receipt: AgentReceipt['receipt'];
  /** The id in its address; undefined if there is none. */
  id?: string | undefined;
}

/** Fetches a receipt by its own address, or by that of its page. Anything else fails with a plain message. */
async function fetchReceipt(address: string, { getConfig, signal }: CommandContext): Promise<GivenReceipt> {
  const { baseUrl, allowPrivateNetworks } = getConfig();
  const url = URL.parse(address);
  if (!url) throw new ServiceError('bad_input', 'The address of the receipt cannot be read.', { hint: RECEIPT_HINT });
  const { before = '', agent, id } = RECEIPT_PATH.exec(url.pathname)?.groups ?? {};
  if (id !== undefined && agent === undefined) url.pathname = `${before}${PATHS.agentReceipt(id.toLowerCase())}`;
  // Who runs a service on this machine, such as the demo, may fetch its receipts.
  const isOwn = [url, new URL(baseUrl)].every(({ hostname }) => isLoopback(hostname));
  const client = openGuardedClient({
    allowPrivateNetworks: allowPrivateNetworks || isOwn,
    userAgent: getUserAgent({ baseUrl }),
  });
  try {
    const limits = { bodyBytes: MAX_BYTES, decodedBytes: MAX_BYTES };
    const json = await fetchJson(client, url, { signal, limits });
    return { receipt: parseReceipt(json, `What ${url.host} answers`), id: id?.toLowerCase() };
  } catch (error) {
    throw error instanceof ServiceError ? explainFetchFailure(error, url.host) : error;
  } finally {
    await client.close();
  }
}

/** Adds a hint to the failure of fetching a receipt, but for an address that may not be fetched. */
function explainFetchFailure(error: ServiceError, host: string): ServiceError {
  const { code, message, reason, details, cause } = error;
  if (details.status === 404 || details.status === 410) {
    return new ServiceError('not_found', `${host} has no such receipt.`, {
      hint: RECEIPT_HINT,
      reason: 'no_receipt',
      cause,
    });
  }
  if (code !== 'unavailable' && reason !== 'too_large') return error;
  return new ServiceError(code, message, { hint: RECEIPT_HINT, reason, details, cause });
}

async function readReceipt(path: string): Promise<GivenReceipt> {
  const bytes = await readDocumentFile(path, MAX_BYTES).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, reason, cause } = error;
    const hint = `Give a file that holds a receipt, or the address of one. ${RECEIPT_HINT}`;
    throw new ServiceError(code, message, { hint, reason, cause });
  });
  return { receipt: parseReceipt(parseJsonBody(bytes, null, 'The file holds'), 'The file') };
}

/** Parses a receipt. Unknown fields are ignored, because later versions may add some; known fields must be valid. */
function parseReceipt(json: unknown, subject: string): AgentReceipt['receipt'] {
  const parsed = agentReceipt.safeParse(json);
  if (parsed.success) return parsed.data.receipt;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') || 'the whole of it';
  throw new ServiceError('bad_input', `${subject} is not a receipt: ${place} is invalid.`, {
    hint: RECEIPT_HINT,
    reason: 'no_receipt',
  });
}

/**
 * Returns the nodes to ask: the given ones, else those of the settings. Throws `bad_input` (`usage`) without any node.
 */
function getNodeUrls(network: NetworkKey, rpc: readonly string[]): RpcUrls {
  const [first, ...others] = rpc.length > 0 ? rpc : readPayerConfig().rpcUrls[network];
  if (first !== undefined) return [first, ...others];
  throw new ServiceError('bad_input', `No node of ${NETWORKS[network].label} is given.`, {
    hint: `Add --rpc <url>, or set ${NETWORKS[network].nodeSetting}.`,
    reason: 'usage',
  });
}

async function checkByNodes(receipt: AgentReceipt['receipt'], urls: readonly string[]): Promise<ReceiptCheck[]> {
  const { network } = receipt;
  const nodes = await Promise.all(
    urls.map(async (url, at): Promise<NamedReader> => {
      return { name: getNodeName(url, at, urls), reader: await openChainReader(network, url) };
    }),
  );
  return askForReceipt(network, () => checkReceipt(receipt, nodes));
}

/**
 * Returns the name of a node: its host, because path and query may contain a key, and its position if two nodes have
 * one host.
 */
function getNodeName(url: string, at: number, urls: readonly string[]): string {
  const { host } = new URL(url);
  const isAlone = urls.filter((other) => new URL(other).host === host).length === 1;
  return isAlone ? host : `${host} (${at + 1})`;
}

/** Replaces the hints of a failure, which are for payers, by one for checking receipts. */
async function askForReceipt<Answer>(network: NetworkKey, question: () => Promise<Answer>): Promise<Answer> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, reason, details, cause } = error;
    const hint = `The receipt is of ${NETWORKS[network].label}: give the address of a node of ${NETWORKS[network].label} with --rpc.`;
    throw new ServiceError(code, message, { hint, reason, details, cause });
  }
}

async function reconcile(catalogue: Catalogue, { now }: CommandContext): Promise<ReceiptsResult> {
  const config = readPayerConfig();
  const rails = await openRails(config);
  const wallets = await openWallets(catalogue, rails, { folder: config.folder, now });
  try {
    const payments: Payment[] = [];
    for (const [index, rail] of rails.entries()) {
      const ledger = wallets.ledgers[index];
      if (ledger) payments.push(...(await reconcilePayments({ rail, ledger, now })));
    }
    return { payments };
  } finally {
    wallets.close();
  }
}

/** Closes an open payment by the operator's decision, under the lock of its wallet. This needs no key and no node. */
async function settle(
  catalogue: Catalogue,
  { id, as, because }: { id: string; as: 'settled' | 'not_settled'; because: string },
  { now }: CommandContext,
): Promise<ReceiptsResult> {
  const known = await findPayment(catalogue, id);
  if (!known) {
    throw new ServiceError('not_found', `There is no payment ${id}.`, {
      hint: 'The command receipts lists yours; receipts reconcile restores what a catalogue has lost.',
      reason: 'no_payment',
    });
  }
  const wallets = await openWallets(catalogue, [known], { folder: readPayerConfig().folder, now });
  try {
    const [ledger] = wallets.ledgers;
    const payment = await ledger?.findPayment(id);
    if (!ledger || !payment) throw new Error('the payment was just found');
    if (!isOpen(payment)) {
      throw new ServiceError('conflict', `The payment ${id} is not open: it is ${payment.state}.`, {
        hint: 'Only what is still open can be settled by hand.',
        reason: 'not_open',
      });
    }
    if (as === 'not_settled' && payment.state !== 'prepared' && now().toISOString() <= payment.expires_at) {
      throw new ServiceError('conflict', `The payment ${id} can still settle, until ${payment.expires_at}.`, {
        hint: 'Wait until then; receipts reconcile asks the chain again.',
        reason: 'not_expired',
      });
    }
    await ledger.record(id, { step: 'closed', as, because }, now().toISOString());
    return { payments: [(await ledger.findPayment(id)) ?? payment] };
  } finally {
    wallets.close();
  }
}

function renderReceipts(result: ReceiptsResult, page: Page): void {
  if ('checks' in result) {
    renderChecks(result, page);
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
    result.payments.map((payment) => {
      const { id, prepared_at, network, delivered, request } = payment;
      return [
        formatTime(prepared_at),
        formatAmount(payment),
        network,
        describeState(payment),
        delivered === null ? '–' : delivered ? 'yes' : 'no',
        id,
        `${request.method} ${request.url}`,
      ];
    }),
  );
}

function describeState(payment: Payment): string {
  const { state, reason, by_operator } = payment;
  if (isUnconfirmed(payment)) return `${reason} (${describeUnconfirmed(payment)})`;
  if (by_operator) return `${state} (decided by the operator: ${by_operator.because})`;
  return reason === null ? state : `${state} (${reason})`;
}

function renderChecks({ receipt, checks }: CheckedReceipt, page: Page): void {
  page.title(`Receipt ${receipt.id}`);
  page.say('state' in receipt ? describePayment(receipt) : describeClaim(receipt));
  page.blank();
  const showsNodes = new Set(checks.flatMap(({ node }) => node ?? [])).size > 1;
  page.table(
    [
      { heading: '' },
      ...(showsNodes ? [{ heading: 'node' }] : []),
      { heading: 'it says' },
      { heading: 'found', cut: true },
    ],
    checks.map(({ what, passed, found, node }) => [
      passed ? 'yes' : { text: 'NO', style: 'red' as const },
      ...(showsNodes ? [node ?? '–'] : []),
      what,
      found,
    ]),
  );
  page.blank();
  const wrong = [...new Set(checks.filter(({ passed }) => !passed).map(({ field }) => field.replaceAll('_', ' ')))];
  page.say(
    wrong.length === 0
      ? 'The chain shows this payment as in the receipt. No chain can show which request it was for, or what was answered.'
      : { text: `The receipt is not correct: ${wrong.join(', ')}.`, style: 'red' },
  );
}

function describeClaim(receipt: AgentReceipt['receipt']): string {
  const { amount, ceiling, payer, pay_to } = receipt;
  const most = ceiling === undefined ? '' : ` of at most ${ceiling}`;
  return `It says that ${payer} paid ${amount}${most} atomic USDC to ${pay_to} on ${nameChain(receipt)}.`;
}
