import { NETWORKS } from '../../model/network.ts';
import { formatUsdc } from '../../model/usdc.ts';
import { buildAgentReceipt, type SettledPayment } from '../agent-receipt.ts';
import type { Site } from '../site.ts';
import { formatSecond } from '../times.ts';

/** A receipt as its listing's page shows it: what it says, and how to check it without trusting us. */
export interface ReceiptView {
  /** What it proves and what not. */
  readonly statement: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Recomputes everything with this project's own command. */
  readonly command: string;
  /** The same with nothing but a node of the network: a command each, and what its answer has to hold. */
  readonly calls: readonly { readonly code: string; readonly expect: string }[];
}

/** Builds the view of a settled payment for one route of a listing. */
export function buildReceiptView(
  paid: SettledPayment,
  { slug, route, site }: { slug: string; route: string; site: Site },
): ReceiptView {
  const { check, receipt } = buildAgentReceipt(paid, { listing: slug, route, revision: 0, site });
  return {
    statement: check.statement,
    facts: listFacts(paid, receipt.seller_agrees),
    command: check.command,
    calls: check.json_rpc.map(({ method, params, expect }) => ({
      code: buildCommand(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
      expect,
    })),
  };
}

function listFacts(paid: SettledPayment, agrees: boolean | null): [string, string][] {
  const { settlement, answer, request, network } = paid;
  const facts: [string, string | null][] = [
    ['Paid by', paid.payer],
    ['Paid to', paid.pay_to],
    ['Amount', `${formatUsdc(paid.amount)} USDC (${paid.amount} atomic) on ${NETWORKS[network].label}`],
    ['Transaction', settlement.transaction],
    [network === 'base' ? 'Block' : 'Slot', `${settlement.block}, ${formatSecond(settlement.settled_at)}`],
    ['Log index', settlement.log_index === null ? null : String(settlement.log_index)],
    [network === 'base' ? 'Nonce' : 'Memo', paid.nonce],
    ['Request', `${request.method} ${request.url}`],
    ['Request, SHA-256', request.hash],
    ['Answer', answer && `status ${answer.status}, ${answer.content_type ?? 'no type'}, ${answer.size} bytes`],
    ['Answer, SHA-256', answer?.hash ?? null],
    ['As declared', paid.conforming === 'undeclared' ? 'nothing is declared' : paid.conforming],
    [
      "Seller's own receipt",
      agrees === null ? 'names no transaction' : agrees ? 'agrees' : 'names another transaction',
    ],
  ];
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value]]));
}

/** A quote cannot stand in such JSON but escaped, so single quotes hold it in any shell. */
function buildCommand(json: string): string {
  const data = json.replaceAll("'", '\\u0027');
  return `curl -s "$RPC_URL" -H 'content-type: application/json' \\\n  -d '${data}'`;
}
