import { z } from 'zod';
import { category } from '../model/catalogue.ts';
import { nameNetworks } from '../model/network.ts';
import type { AgentItem } from './listing/item.ts';

/** One line of a report, with our own field names and those of Coinbase's `validate`. Fields that do not apply are absent. */
export const checkLine = z.object({
  check: z.string().describe('What was checked: reachable, documents, returns_402, terms, example, limits, or parse'),
  passed: z.boolean(),
  severity: z.enum(['required', 'advisory']).describe('required: buyers cannot pay without it'),
  item: z.string().describe('The address, route or document that it is about'),
  detail: z.string(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  code: z.string().optional().describe('Stable word for what is wrong'),
  place: z.string().optional().describe('JSON pointer, line, header or part of the answer'),
  fix: z.string().optional(),
  example: z.string().optional(),
});
export type CheckLine = z.infer<typeof checkLine>;

const listedRoute = z.object({
  method: z.string(),
  url: z.string(),
  price_usdc: z.string().optional(),
  networks: z.array(z.string()),
  needs: z.array(z.string()).describe('What a client must be able to do to pay it'),
  listable: z.boolean(),
});
export type ListedRoute = z.infer<typeof listedRoute>;

/** The result of a check. */
const checkResult = z.object({
  valid: z.boolean().describe('True if every route that was found can be listed'),
  summary: z.string(),
  checks: z.array(checkLine),
  listings: z.array(
    z.object({
      base_url: z.string(),
      title: z.string(),
      tagline: z.string(),
      category,
      routes: z.array(listedRoute),
    }),
  ),
});
export type CheckResult = z.infer<typeof checkResult>;

/** The report of a check. */
export const providerCheck = checkResult.extend({
  report_url: z.url().describe('Page of this report, for a day'),
  resource: z.string().describe('What was checked'),
  checked_at: z.iso.datetime(),
  state: z.enum(['waiting', 'running', 'done']),
  asked: z
    .array(z.object({ method: z.string(), url: z.string(), came: z.string() }))
    .describe('Every request that was made, with status, type and size of the answer'),
});
export type ProviderCheck = z.infer<typeof providerCheck>;

const address = z.string().max(2048).describe('A host such as api.example.com, or the address of a route or document');

/** The request for a check: `resource` is the field of Coinbase's `validate`, `url` is ours. */
export const checkRequest = z.object({ url: address.optional(), resource: address.optional() });

/** A report on its page. */
export interface ReportView extends ProviderCheck {
  readonly items: readonly AgentItem[];
}

/** The content of the check's page. */
export interface SubmitPage {
  /** Address in the form. */
  readonly url: string;
  readonly problem?: { readonly detail: string; readonly hint?: string | undefined };
  readonly report?: ReportView;
  /** Part of a report to render, instead of the whole page. */
  readonly part?: 'lines' | 'result';
}

/** Marks at which the page of an unfinished report is split: lines go to the first as they come, the result to the second. */
export const LINES_END = '<!-- lines -->';

const NEEDS: Readonly<Record<string, string>> = {
  v1: 'x402 version 1',
  v2: 'x402 version 2',
  evm: 'an EVM wallet',
  svm: 'a Solana wallet',
  mcp: 'payment inside MCP tool calls',
  'usdc-domain': 'the EIP-712 domain of USDC by heart, since extra leaves it out',
  facilitator: 'more than any client has: extra names no facilitator',
  'fee-payer': 'more than any client has: extra names no feePayer',
};

/** Describes which clients can pay the listable routes, once for each kind. */
export function listPayers({ listings }: Pick<ProviderCheck, 'listings'>): string[] {
  const payable = listings
    .flatMap(({ routes }) => routes)
    .filter(({ listable, needs }) => listable && needs.length > 0);
  const kinds = new Map(payable.map(({ needs }) => [needs.join(' '), needs.map((need) => NEEDS[need] ?? need)]));
  return [...kinds.values()].map((needs) => `Clients with ${needs.join(', ')}`);
}

/** Writes how many routes can be listed. */
export function summariseRoutes(listable: number, total: number): string {
  if (total === 0) return `No route was found that can be paid in USDC on ${nameNetworks()}.`;
  return `${listable} of ${total} ${total === 1 ? 'route' : 'routes'} can be listed.`;
}
