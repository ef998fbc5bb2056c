import { ABILITY_KINDS, type Ability } from '../model/ability.ts';
import { isEvm, NETWORKS } from '../model/network.ts';
import type { Terms } from '../model/terms.ts';

/** The usual transfer on EVM if an offer does not say (the schemes' specifications for EVM). */
const USUAL_TRANSFER: Readonly<Record<string, Ability>> = {
  exact: 'eip3009',
  upto: 'permit2',
  'batch-settlement': 'eip3009',
  'auth-capture': 'eip3009',
};

/** Lists what a client must be able to do to pay an offer. `isTool`: the offer is for the tool of an MCP server. */
export function listNeeds(
  { network, scheme, x402_version, extra_needs = [] }: Terms,
  { isTool = false }: { isTool?: boolean } = {},
): string[] {
  const transfer = extra_needs.some(isTransfer) ? undefined : USUAL_TRANSFER[scheme];
  return [
    ...(x402_version === null ? [] : [`v${x402_version}`]),
    NETWORKS[network].family,
    scheme,
    ...(isEvm(network) && transfer ? [transfer] : []),
    ...extra_needs,
    ...(isTool ? ['mcp'] : []),
  ];
}

function isTransfer(need: string): boolean {
  return need === 'permit2' || need.startsWith('transfer-');
}

/** Kinds of which every offer needs one ability. A client that names none of a kind is not compared. */
const ALTERNATIVES: readonly (readonly string[])[] = [
  ABILITY_KINDS.version,
  ABILITY_KINDS.family,
  ABILITY_KINDS.scheme,
  ABILITY_KINDS.transfer,
];

/**
 * Lists the needs of an offer that a client lacks. A kind of which the client names nothing (such as the version of
 * x402) is not compared; a client has any other need, an unknown scheme included, only if it says so.
 */
export function listMissing(needs: readonly string[], can: ReadonlySet<string>): string[] {
  return needs.filter((need) => {
    if (can.has(need)) return false;
    const kind = ALTERNATIVES.find((abilities) => abilities.includes(need));
    return kind === undefined || kind.some((ability) => can.has(ability));
  });
}
