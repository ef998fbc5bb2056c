import type { Listing } from '../../model/listing.ts';
import { FAMILY_WORDS, NETWORKS, nameChain } from '../../model/network.ts';
import type { Correction, PublicPayment } from '../../model/payment.ts';
import { formatPaid, formatUsdc } from '../../model/usdc.ts';
import { PATHS } from '../links.ts';
import { getRouteAnchor } from '../listing/routes.ts';
import { type AgentReceipt, buildAgentReceipt, describeDelivery } from '../receipt.ts';
import type { Site } from '../site.ts';
import { formatDay, formatSecond } from '../words/figures.ts';

/** One labelled fact of a receipt. */
export interface ReceiptFact {
  readonly label: string;
  readonly value: string;
  /** Public page with the same fact; absent for a chain without an explorer, and for facts that no page shows. */
  readonly href?: string | undefined;
}

/** A settled payment on its page: the receipt, and the listing of its route. */
export interface ReceiptPage {
  readonly payment: PublicPayment;
  /** The receipt as programs get it, with ways to check it without trusting us. */
  readonly document: AgentReceipt;
  readonly route: { readonly method: string; readonly path: string };
  readonly listing: {
    /** Provider's text. */
    readonly title: string;
    /** Host of the provider's base address. */
    readonly host: string;
    /** The route on the listing's page; null if the page or the route no longer exists. */
    readonly href: string | null;
    readonly is_delisted: boolean;
  };
}

/** Builds the page of a settled payment for one route of a listing, live or removed. */
export function buildReceiptPage(
  payment: PublicPayment,
  {
    listing: { slug, title, base_url, state, routes },
    route,
    site,
    correction,
  }: {
    listing: Pick<Listing, 'slug' | 'title' | 'base_url' | 'state'> & { routes: readonly { id: string }[] };
    route: ReceiptPage['route'];
    site: Site;
    correction?: Correction | undefined;
  },
): ReceiptPage {
  const isListed = routes.some(({ id }) => id === payment.route_id);
  const anchor = isListed ? `#${getRouteAnchor({ ...route, id: payment.route_id })}` : '';
  const path = PATHS.listing(slug);
  return {
    payment,
    document: buildAgentReceipt(payment, {
      listing: slug,
      route: `${route.method} ${route.path}`,
      revision: 0,
      site,
      correction,
    }),
    route,
    listing: {
      title,
      host: new URL(base_url).host,
      href: state === 'live' ? `${path}${anchor}` : state === 'delisted' ? path : null,
      is_delisted: state === 'delisted',
    },
  };
}

/** Writes the title of the page in a few words. */
export function formatTitle({ document, listing }: ReceiptPage): string {
  return `Receipt: ${document.receipt.amount_usdc} USDC paid to ${listing.host}`;
}

/** Describes in two sentences what happened. */
export function formatSummary(page: ReceiptPage): string {
  const { payment, document, listing } = page;
  const on = `on ${nameChain(document.receipt)} for ${document.receipt.route} of ${listing.host} on ${formatDay(payment.settlement.settled_at)}`;
  return `This service paid ${formatPaid(payment)} USDC ${on}. ${describeDelivery(payment).outcome}.`;
}

/** Lists what the chain proves of a payment. */
export function listProved(page: ReceiptPage): string[] {
  const { amount_usdc, ceiling_usdc, payer, pay_to, network, settlement } = page.document.receipt;
  const block = FAMILY_WORDS[NETWORKS[network].family].block.toLowerCase();
  return [
    `That ${payer} paid ${amount_usdc} USDC to ${pay_to} on ${nameChain(page.document.receipt)}, once.`,
    `That it happened in ${block} ${settlement.block}, at ${formatSecond(settlement.settled_at)}.`,
    ...(ceiling_usdc === undefined
      ? []
      : [`That it had signed for at most ${ceiling_usdc} USDC, of which the seller took this.`]),
  ];
}

/** Lists what a receipt leaves open. */
export function listUnproved({ payment, document }: ReceiptPage): string[] {
  return [
    ...(document.receipt.public_chain
      ? []
      : ['That anything of value was paid: money on a local test chain is worth nothing.']),
    describeDelivery(payment).unproved,
    'That the request shown here is the one that was paid for: no payment names its request.',
    'That the next call is answered in the same way.',
  ];
}

/** Lists the commands that need only a node of the network, each with the text that its answer must have. */
export function listNodeCommands({ document }: ReceiptPage): { code: string; expect: string }[] {
  return document.check.json_rpc.map(({ method, params, expect }) => ({
    code: buildCommand(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
    expect,
  }));
}

/** Lists the facts of the request that was paid for. */
export function listAsked({ payment: { request } }: ReceiptPage): ReceiptFact[] {
  return [
    { label: 'Request', value: `${request.method} ${request.url}` },
    ...Object.entries(request.headers).map(([name, value]) => ({ label: `Header ${name}`, value })),
    { label: 'SHA-256 of method, address and body', value: request.hash },
  ];
}

/** Lists the facts of a payment. Those of a public chain are links to its explorer. */
export function listPaid({ payment, document }: ReceiptPage): ReceiptFact[] {
  const { settlement, network, amount, ceiling, payer, pay_to, nonce, signature } = payment;
  const { label, family, getAccountUrl, getBlockUrl, getTransactionUrl } = NETWORKS[network];
  const words = FAMILY_WORDS[family];
  const link = (href: string) => (document.receipt.public_chain ? href : undefined);
  return [
    { label: 'Amount', value: `${formatUsdc(amount)} USDC (${amount} atomic) on ${label}` },
    ...(ceiling === undefined
      ? []
      : [{ label: 'Signed for', value: `at most ${formatUsdc(ceiling)} USDC (${ceiling} atomic), by Permit2` }]),
    { label: 'Paid by', value: payer, href: link(getAccountUrl(payer)) },
    { label: 'Paid to', value: pay_to, href: link(getAccountUrl(pay_to)) },
    { label: 'Transaction', value: settlement.transaction, href: link(getTransactionUrl(settlement.transaction)) },
    { label: words.block, value: String(settlement.block), href: link(getBlockUrl(settlement.block)) },
    { label: 'Block hash', value: settlement.block_hash },
    { label: 'Time of the block', value: formatSecond(settlement.settled_at) },
    ...(settlement.log_index === null ? [] : [{ label: 'Log index', value: String(settlement.log_index) }]),
    { label: words.nonce, value: nonce },
    ...(signature === null ? [] : [{ label: "Payer's signature", value: signature }]),
    { label: 'First block of the chain', value: settlement.genesis },
  ];
}

/** Describes why no answer is on record. */
export function describeMissingAnswer({ delivered }: PublicPayment): string {
  return delivered === null
    ? 'Whether an answer came is not known: the run that paid ended before it was on record.'
    : 'No answer came, or none that could be read.';
}

const CONFORMITY = { yes: 'yes', no: 'no', undeclared: 'nothing is declared' } as const;

/** Lists the facts of the answer; empty if it is not on record. */
export function listAnswered({ payment: { answer, conforming }, document }: ReceiptPage): ReceiptFact[] {
  const agrees = document.receipt.seller_agrees;
  if (!answer) return [];
  const { status, content_type, size, hash, duration_ms, at, fields } = answer;
  return [
    { label: 'Status', value: String(status) },
    { label: 'Content type', value: content_type ?? 'none' },
    { label: 'Size', value: `${size} bytes` },
    { label: 'SHA-256 of the answer', value: hash },
    ...(fields ? [{ label: 'Its fields and their types', value: formatFields(fields) }] : []),
    { label: 'Time', value: `${formatSecond(at)}, after ${duration_ms} ms` },
    ...(conforming === null ? [] : [{ label: 'As the provider declares it', value: CONFORMITY[conforming] }]),
    {
      label: "Seller's own receipt",
      value: agrees === null ? 'names no transaction' : agrees ? 'names this transaction' : 'names another transaction',
    },
  ];
}

/** Writes the fields of an answer. Names are the seller's; values are never shown. */
function formatFields(fields: readonly { path: string; type: string }[]): string {
  return fields.map(({ path, type }) => `${path === '' ? 'the whole' : path}: ${type}`).join(', ') || 'none';
}

/** Builds a command with its JSON in single quotes. Quotes inside the JSON are escaped, so the command works in any shell. */
function buildCommand(json: string): string {
  const data = json.replaceAll("'", '\\u0027');
  return `curl -s "$RPC_URL" -H 'content-type: application/json' \\\n  -d '${data}'`;
}
