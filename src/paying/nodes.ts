import type { Chain, ChainFinding } from './rail.ts';

/** Addresses of the nodes of one chain: one or two. */
export type RpcUrls = readonly [string, ...string[]];

/** Opens a chain at its nodes. Only what all of them say is believed, and the lowest balance counts. */
export function joinNodes([first, ...others]: RpcUrls, openNode: (url: string) => Chain): Chain {
  const nodes = [openNode(first), ...others.map(openNode)] as const;
  return {
    network: nodes[0].network,
    getBalance: async (account) => Math.min(...(await Promise.all(nodes.map((node) => node.getBalance(account))))),
    findSettlement: async (payment) =>
      combineFindings(await Promise.all(nodes.map((node) => node.findSettlement(payment)))),
  };
}

/**
 * Combines the findings of two nodes. If one is still `open`, that node may be behind. If they differ otherwise, one of
 * them is wrong.
 */
function combineFindings(findings: readonly ChainFinding[]): ChainFinding {
  const [first] = findings;
  if (!first || findings.some(({ state }) => state === 'open')) return { state: 'open' };
  const says = (finding: ChainFinding) => JSON.stringify({ ...finding, head_at: undefined });
  const isAgreed = findings.every((finding) => says(finding) === says(first));
  if (!isAgreed) return { state: 'disputed', reason: 'nodes_disagree' };
  const read_from = findings.length;
  if (first.state === 'settled') return { ...first, settlement: { ...first.settlement, read_from } };
  if (first.state !== 'not_settled') return first;
  const [head_at] = findings
    .flatMap((finding) => ('head_at' in finding && finding.head_at) || [])
    .sort()
    .reverse();
  return { ...first, ...(head_at && { head_at }), read_from };
}
