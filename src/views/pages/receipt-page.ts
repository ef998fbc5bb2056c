import type { Listing } from '../../model/listing.ts';
import { FAMILY_WORDS, NETWORKS } from '../../model/network.ts';
import { type Correction, type PublicPayment, UNRECOGNISED } from '../../model/payment.ts';
import { formatPaid, formatUsdc } from '../../model/usdc.ts';
import { PATHS } from '../links.ts';
import { getRouteAnchor } from '../listing/routes.ts';
import { buildAgentReceipt } from '../receipt.ts';
import type { Site } from '../site.ts';
import { formatDay, formatSecond } from '../words/figures.ts';

/** One labelled fact of a receipt. */
export interface ReceiptFact {
  readonly label: string;
  readonly value: string;
  /** Public page that shows the same; absent for a chain without an explorer, and for facts that no page shows. */
  readonly href?: string | undefined;
}

/** The page of one settled payment: request, payment and answer, and ways to check them without trust in us. */
export interface ReceiptPage {
  readonly id: string;
  readonly path: string;
  /** Title in a few words. */
  readonly title: string;
  /** The event in one sentence. */
  readonly summary: string;
  readonly method: string;
  /** Path of the route; the provider's words. */
  readonly route_path: string;
  /** True where a product came back for the money. */
  readonly delivered: boolean;
  /** `Delivered`, or the result in its place. */
  readonly outcome: string;
  /** Meaning of the outcome for the route. */
  readonly outcome_note: string;
  /** Amount in USDC. */
  readonly price: string;
  /** Most that was signed for, in USDC; null where it was exactly the price. */
  readonly ceiling: string | null;
  /** `Base`, or `a local test chain for Base`. */
  readonly network: string;
  /** Day of the payment. */
  readonly paid_on: string;
  /** True where the money is real. */
  readonly is_public: boolean;
  readonly listing: {
    /** Provider's text. */
    readonly title: string;
    /** Host of the provider's base address. */
    readonly host: string;
    /** The route on the listing's page; null where the page or its route is gone. */
    readonly href: string | null;
    readonly is_delisted: boolean;
  };
  readonly asked: readonly ReceiptFact[];
  /** Note on the shown part of the request. */
  readonly asked_note: string;
  /** Body of the request; null where it had none. */
  readonly request_body: string | null;
  readonly paid: readonly ReceiptFact[];
  /** Empty where no answer is on record. */
  readonly answered: readonly ReceiptFact[];
  /** Reason why no answer is on record. */
  readonly unanswered: string;
  readonly proves: readonly string[];
  readonly leaves_open: readonly string[];
  /** Command of this project that recomputes everything. */
  readonly command: string;
  /** Commands that need only a node of the network, each with the text that its answer must have. */
  readonly calls: readonly { readonly code: string; readonly expect: string }[];
  /** Address of the same as JSON. */
  readonly json_href: string;
  /** Correction by the operator, where the record is wrong. */
  readonly correction: { readonly on: string; readonly because: string } | null;
}

/** Builds the page of a settled payment for one route of a listing. */
export function buildReceiptPage(
  paid: PublicPayment,
  {
    listing,
    route,
    site,
    correction,
  }: {
    /** Its listing, live or removed. */
    listing: Pick<Listing, 'slug' | 'title' | 'base_url' | 'state'> & { routes: readonly { id: string }[] };
    route: { method: string; path: string };
    site: Site;
    correction?: Correction | undefined;
  },
): ReceiptPage {
  const { slug, title, base_url, state } = listing;
  const call = `${route.method} ${route.path}`;
  const { check, receipt } = buildAgentReceipt(paid, { listing: slug, route: call, revision: 0, site });
  const { label, family } = NETWORKS[paid.network];
  const price = formatUsdc(paid.amount);
  const network = receipt.public_chain ? label : `a local test chain for ${label}`;
  const { outcome, note } = describeOutcome(paid);
  const { host } = new URL(base_url);
  const isListed = listing.routes.some(({ id }) => id === paid.route_id);
  const anchor = isListed ? `#${getRouteAnchor({ ...route, id: paid.route_id })}` : '';
  return {
    id: paid.id,
    path: PATHS.receipt(paid.id),
    title: `Receipt: ${price} USDC paid to ${host}`,
    summary: `This service paid ${formatPaid(paid)} USDC on ${network} for ${call} of ${host} on ${formatDay(paid.settlement.settled_at)}. ${outcome}.`,
    method: route.method,
    route_path: route.path,
    delivered: paid.delivered === true,
    outcome,
    outcome_note: note,
    price,
    ceiling: paid.ceiling === undefined ? null : formatUsdc(paid.ceiling),
    network,
    paid_on: formatDay(paid.settlement.settled_at),
    is_public: receipt.public_chain,
    listing: {
      title,
      host,
      href: state === 'live' ? `${PATHS.listing(slug)}${anchor}` : state === 'delisted' ? PATHS.listing(slug) : null,
      is_delisted: state === 'delisted',
    },
    asked: listAsked(paid),
    asked_note: paid.request.values_withheld
      ? 'What the operator of this service sent is not published: types stand in place of the values.'
      : 'The request as it was sent, without the payment and without secrets.',
    request_body: paid.request.body,
    paid: listPaid(paid, receipt.public_chain),
    answered: listAnswered(paid, receipt.seller_agrees),
    unanswered:
      paid.delivered === null
        ? 'Whether an answer came is not known: the run that paid ended before it was on record.'
        : 'No answer came, or none that could be read.',
    proves: [
      `That ${paid.payer} paid ${price} USDC to ${paid.pay_to} ${receipt.public_chain ? `on ${label}` : `on ${network}`}, once.`,
      `That it happened in ${FAMILY_WORDS[family].block.toLowerCase()} ${paid.settlement.block}, at ${formatSecond(paid.settlement.settled_at)}.`,
      ...(receipt.ceiling_usdc === undefined
        ? []
        : [`That it had signed for at most ${receipt.ceiling_usdc} USDC, of which the seller took this.`]),
    ],
    leaves_open: [
      ...(receipt.public_chain
        ? []
        : ['That anything of value was paid: money on a local test chain is worth nothing.']),
      describeOwnWord(paid),
      'That the request shown here is the one that was paid for: no payment names its request.',
      'That the next call is answered in the same way.',
    ],
    command: check.command,
    calls: check.json_rpc.map(({ method, params, expect }) => ({
      code: buildCommand(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
      expect,
    })),
    json_href: PATHS.agentReceipt(paid.id),
    correction: correction ? { on: formatDay(correction.at), because: correction.because } : null,
  };
}

function describeOutcome({ delivered, unrecognised, answer }: PublicPayment): { outcome: string; note: string } {
  if (delivered) return { outcome: 'Delivered', note: 'The payment settled, and the product came back.' };
  const note = 'The payment settled, so the seller has the money. This receipt does not verify the route.';
  if (delivered === null) return { outcome: 'Not known whether it was delivered: the answer was not judged', note };
  if (unrecognised !== null) {
    return { outcome: `Answered, product not recognised: ${UNRECOGNISED[unrecognised]}`, note };
  }
  if (!answer) return { outcome: 'Not delivered: no answer came', note };
  const isGood = answer.status >= 200 && answer.status < 300;
  return { outcome: `Not delivered: the answer was ${isGood ? 'empty' : `status ${answer.status}`}`, note };
}

/** Names the facts of the delivery that no chain can show. */
function describeOwnWord({ delivered, unrecognised }: PublicPayment): string {
  if (delivered) {
    return 'That the product came back: that is our own word. Size and hash of the answer are given, and the call can be repeated.';
  }
  if (delivered === null) return 'Whether a product came back: that is not known.';
  return unrecognised === null
    ? 'That nothing was delivered: that is our own word.'
    : 'That the answer was not the product: that is our own word.';
}

function listAsked({ request }: PublicPayment): ReceiptFact[] {
  return [
    { label: 'Request', value: `${request.method} ${request.url}` },
    ...Object.entries(request.headers).map(([name, value]) => ({ label: `Header ${name}`, value })),
    { label: 'SHA-256 of method, address and body', value: request.hash },
  ];
}

function listPaid(paid: PublicPayment, isPublic: boolean): ReceiptFact[] {
  const { settlement, network, amount, ceiling, payer, pay_to, nonce, signature } = paid;
  const { label, family, getAccountUrl, getBlockUrl, getTransactionUrl } = NETWORKS[network];
  const words = FAMILY_WORDS[family];
  const link = (href: string) => (isPublic ? href : undefined);
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

const CONFORMITY = { yes: 'yes', no: 'no', undeclared: 'nothing is declared' } as const;

function listAnswered({ answer, conforming }: PublicPayment, agrees: boolean | null): ReceiptFact[] {
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

/** Builds a command. Single quotes hold its JSON in any shell, because quotes inside it are escaped. */
function buildCommand(json: string): string {
  const data = json.replaceAll("'", '\\u0027');
  return `curl -s "$RPC_URL" -H 'content-type: application/json' \\\n  -d '${data}'`;
}
