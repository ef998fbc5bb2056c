import { ServiceError } from '../errors.ts';
import { FAMILY_WORDS, isEvm, isPublicChain, isSameOn, isUsdc, NETWORKS } from '../model/network.ts';
import { isUnconfirmed, type Payment, type Settlement } from '../model/payment.ts';
import { getRequestHash } from '../model/request.ts';
import { isCeiling } from '../model/terms.ts';
import { formatUsdc } from '../model/usdc.ts';
import type { Chain, ChainReader, PaymentOnChain } from './rail.ts';

/** The claims of a receipt document. None of them is trusted. */
export interface ReceiptClaims
  extends Pick<
    Payment,
    | 'id'
    | 'network'
    | 'scheme'
    | 'asset'
    | 'payer'
    | 'pay_to'
    | 'nonce'
    | 'signature'
    | 'from_block'
    | 'expires_at'
    | 'delivered'
    | 'request'
    | 'answer'
    | 'seller_receipt'
  > {
  settlement: Settlement;
  network_id: string;
  public_chain: boolean;
  /** Atomic USDC, in decimal. */
  amount: string;
  amount_usdc: string;
  /** The ceiling that was signed, in atomic USDC in decimal; absent for an exact amount. */
  ceiling?: string | undefined;
  ceiling_usdc?: string | undefined;
  transaction_url: string | null;
  seller_agrees: boolean | null;
  /** Method and path. */
  route: string;
}

/** One claim of a receipt, and the result of checking it. */
export interface ReceiptCheck {
  /** The checked field of the receipt; `node` and `agreement` are about the nodes. */
  field: string;
  what: string;
  passed: boolean;
  found: string;
  /** The node that was asked; null if only the receipt was checked. */
  node: string | null;
}

/** A node, and its name in reports. */
export interface NamedReader {
  name: string;
  reader: ChainReader;
}

/**
 * Checks all claims of a receipt: first for consistency, then with each node of its network. If nodes disagree, a separate check
 * fails. With one node, throws what the node's reader throws; with several, a node that cannot be asked is a failed check.
 */
export async function checkReceipt(receipt: ReceiptClaims, nodes: readonly NamedReader[]): Promise<ReceiptCheck[]> {
  const answers = await Promise.allSettled(nodes.map(({ name, reader }) => checkOnChain(reader, receipt, name)));
  const [only] = answers;
  if (answers.length === 1 && only?.status === 'rejected') throw only.reason;
  const checks = answers.map((answer, at): ReceiptCheck[] => {
    if (answer.status === 'fulfilled') return answer.value;
    if (!(answer.reason instanceof ServiceError)) throw answer.reason;
    const node = nodes[at]?.name ?? null;
    return [{ field: 'node', what: 'the node answers', passed: false, found: answer.reason.message, node }];
  });
  return [...checkItself(receipt), ...checks.flat(), ...listDisagreements(checks)];
}

/** Checks that a receipt is consistent, without asking a chain. */
function checkItself(receipt: ReceiptClaims): ReceiptCheck[] {
  const { network, asset, amount, settlement, request, answer, delivered, seller_receipt: word } = receipt;
  const isPublic = isPublicChain(network, settlement.genesis);
  const link = isPublic ? NETWORKS[network].getTransactionUrl(settlement.transaction) : null;
  const agrees = word?.transaction ? word.transaction.toLowerCase() === settlement.transaction.toLowerCase() : null;
  const hash = getRequestHash(request);
  const isWhole = (value: string) => /^[1-9]\d{0,14}$/.test(value);
  const writeUsdc = (value: string) => (isWhole(value) ? formatUsdc(Number(value)) : null);
  const usdc = writeUsdc(amount);
  const check = (field: string, what: string, passed: boolean, found: string): ReceiptCheck => {
    return { field, what, passed, found, node: null };
  };
  const compare = (field: string, what: string, said: unknown, found: unknown): ReceiptCheck =>
    check(
      field,
      `${what} ${said ?? 'none'}`,
      said === found,
      said === found ? 'fits' : `it would be ${found ?? 'none'}`,
    );
  const brought = answer !== null && answer.status >= 200 && answer.status < 300 && answer.size > 0;
  // Permit2 accepts a permit in the last second of its time, too; USDC does not accept an authorisation then.
  const lastMs = Date.parse(receipt.expires_at) - (isCeiling(receipt) ? 0 : 1);
  const isInTime = !isEvm(network) || Date.parse(settlement.settled_at) <= lastMs;
  return [
    check('amount', `amount ${amount} atomic USDC`, usdc !== null, usdc === null ? 'it is no amount' : 'fits'),
    compare('amount_usdc', 'amount in USDC', receipt.amount_usdc, usdc),
    ...checkCeiling(receipt, writeUsdc),
    compare('network_id', 'network', receipt.network_id, NETWORKS[network].id),
    check(
      'asset',
      `asset ${asset}`,
      isUsdc(network, asset),
      isUsdc(network, asset)
        ? `USDC of ${NETWORKS[network].label}`
        : `USDC of ${NETWORKS[network].label} is ${NETWORKS[network].usdc}`,
    ),
    compare('request', 'hash of the request', request.hash, hash),
    check(
      'route',
      `route ${receipt.route}`,
      receipt.route.startsWith(`${request.method} /`),
      receipt.route.startsWith(`${request.method} /`) ? 'fits the request' : `the request was a ${request.method}`,
    ),
    compare('public_chain', 'public chain:', receipt.public_chain ? 'yes' : 'no', isPublic ? 'yes' : 'no'),
    compare('transaction_url', 'explorer page', receipt.transaction_url, link),
    check(
      'from_block',
      `found after block ${receipt.from_block}`,
      receipt.from_block <= settlement.block,
      receipt.from_block <= settlement.block ? 'fits' : `the payment is in the earlier block ${settlement.block}`,
    ),
    check(
      'expires_at',
      `could settle until ${receipt.expires_at}`,
      isInTime,
      isInTime ? 'fits' : `it settled later, at ${settlement.settled_at}`,
    ),
    compare(
      'seller_agrees',
      'seller names the same transaction:',
      describeAgreement(receipt.seller_agrees),
      describeAgreement(agrees),
    ),
    check(
      'delivered',
      `delivered: ${delivered ? 'yes' : 'no'}`,
      delivered !== true || brought,
      delivered !== true || brought ? 'fits the answer' : 'the answer has no status 2xx with a body',
    ),
  ];
}

/** Checks that a receipt has a ceiling if its scheme has one, and that no more was taken. Amounts are in decimal. */
function checkCeiling(
  { amount, ceiling, ceiling_usdc, scheme }: ReceiptClaims,
  writeUsdc: (value: string) => string | null,
): ReceiptCheck[] {
  if (ceiling === undefined && !isCeiling({ scheme })) return [];
  const usdc = ceiling === undefined ? null : writeUsdc(ceiling);
  const isWithin = isCeiling({ scheme }) && usdc !== null && Number(amount) <= Number(ceiling);
  const found = isWithin ? 'fits' : `${amount} atomic USDC of the scheme ${scheme} cannot be what was paid below it`;
  const what = `at most ${ceiling ?? 'none'} atomic USDC`;
  const isSame = ceiling_usdc === (usdc ?? undefined);
  return [
    { field: 'ceiling', what, passed: isWithin, found, node: null },
    {
      field: 'ceiling_usdc',
      what: `ceiling in USDC ${ceiling_usdc ?? 'none'}`,
      passed: isSame,
      found: isSame ? 'fits' : `it would be ${usdc ?? 'none'}`,
      node: null,
    },
  ];
}

function describeAgreement(agrees: boolean | null): string {
  return agrees === null ? 'it names none' : agrees ? 'yes' : 'no';
}

/** Checks a receipt with one node. */
async function checkOnChain(reader: ChainReader, receipt: ReceiptClaims, node: string): Promise<ReceiptCheck[]> {
  const { settlement, network, scheme, payer, pay_to, amount, nonce } = receipt;
  const { transaction } = settlement;
  const genesis = await reader.getGenesis();
  const isSameChain = genesis === settlement.genesis;
  const first: ReceiptCheck = {
    field: 'genesis',
    what: `first block ${settlement.genesis}`,
    passed: isSameChain,
    found: isSameChain ? genesis : `${genesis}: the node serves another chain than that of the receipt`,
    node,
  };
  const paid = await reader.findPayment({ transaction, scheme, payer, pay_to, amount, nonce });
  if (!paid) {
    const found = 'the node has no such transaction; one that does not keep old transactions cannot tell';
    return [first, { field: 'transaction', what: `transaction ${transaction}`, passed: false, found, node }];
  }
  const checks: ReceiptCheck[] = [
    first,
    {
      field: 'transaction',
      what: `transaction ${transaction}`,
      passed: paid.final,
      found: paid.final ? 'there, and it succeeded' : 'there, but it failed, or it may still be reverted',
      node,
    },
  ];
  for (const [field, what, said, found] of listFacts(receipt, paid)) {
    checks.push({
      field,
      what: `${what} ${said}`,
      passed: found !== null && isSameOn(network, said, found),
      found: found ?? 'none',
      node,
    });
  }
  return checks;
}

type Fact = readonly [field: string, what: string, said: string, found: string | null];

function listFacts({ network, settlement, ...receipt }: ReceiptClaims, paid: PaymentOnChain): Fact[] {
  const words = FAMILY_WORDS[NETWORKS[network].family];
  const facts: Fact[] = [
    ['payer', 'payer', receipt.payer, paid.payer],
    ['pay_to', 'payee', receipt.pay_to, paid.pay_to],
    ['amount', 'atomic USDC', receipt.amount, paid.amount],
    ['nonce', words.nonce.toLowerCase(), receipt.nonce, paid.nonce],
    ['block', words.block.toLowerCase(), String(settlement.block), String(paid.block)],
    ['block_hash', 'block hash', settlement.block_hash, paid.block_hash],
    ['settled_at', 'time', settlement.settled_at, paid.settled_at],
  ];
  const known = (value: number | string | null) => (value === null ? 'none' : String(value));
  facts.push(['log_index', 'log index', known(settlement.log_index), known(paid.log_index)]);
  facts.push(['signature', "payer's signature", known(receipt.signature), known(paid.signature)]);
  const { ceiling } = receipt;
  if (ceiling !== undefined) facts.push(['ceiling', 'signed for at most', ceiling, paid.ceiling]);
  if (paid.expires_at !== null) facts.push(['expires_at', 'signed to hold until', receipt.expires_at, paid.expires_at]);
  return facts;
}

/** Builds one check that says whether the nodes agree, and lists their differences. */
function listDisagreements(checks: readonly (readonly ReceiptCheck[])[]): ReceiptCheck[] {
  if (checks.length < 2) return [];
  const answers = checks.map((list) => new Map(list.map((check) => [check.field, check])));
  const fields = new Set(checks.flatMap((list) => list.map(({ field }) => field)));
  const disputed = [...fields].flatMap((field) => {
    const said = answers.map((answer) => answer.get(field));
    if (said.every((check) => check?.found === said[0]?.found)) return [];
    return said.flatMap((check, at) => {
      const name = check?.node ?? checks[at]?.[0]?.node ?? '';
      return [`${name} says of ${field.replaceAll('_', ' ')}: ${check?.found ?? 'nothing'}`];
    });
  });
  const found = disputed.length === 0 ? 'they say the same' : disputed.join('; ');
  return [{ field: 'agreement', what: 'the nodes agree', passed: disputed.length === 0, found, node: null }];
}

/** Checks on the chain that a payment did not settle, as the catalogue has it. */
export async function checkUnsettled(chain: Chain, payment: Payment): Promise<ReceiptCheck[]> {
  const finding = await chain.findSettlement(payment);
  const what = `${payment.amount} atomic USDC from ${payment.payer} to ${payment.pay_to}`;
  const isAsRecorded = finding.state === 'not_settled' && (payment.state === 'not_settled' || isUnconfirmed(payment));
  return [{ field: 'state', what, passed: isAsRecorded, found: describeFinding(finding), node: null }];
}

function describeFinding(finding: Awaited<ReturnType<Chain['findSettlement']>>): string {
  if (finding.state === 'settled') return `settled in the transaction ${finding.settlement.transaction}`;
  if (finding.state === 'open') return 'nothing, so far';
  return `${finding.state === 'disputed' ? 'something else' : 'not settled'}: ${finding.reason}`;
}
