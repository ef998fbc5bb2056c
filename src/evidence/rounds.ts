import { isFaultOurs } from './delisting.ts';

/** A listing is sampled once a round (design contract, "Reliability"). */
export const ROUND_MS = 6 * 60 * 60 * 1000;

/** Gives the round that a time falls in: rounds are numbered from 1970 on and begin at 0, 6, 12 and 18 o'clock UTC. */
export function getRound(at: string): number {
  return Math.floor(Date.parse(at) / ROUND_MS);
}

/** Gives when a round begins, ISO 8601 UTC. */
export function getRoundStart(round: number): string {
  return new Date(round * ROUND_MS).toISOString();
}

/** How one host came out in one round: whether any conclusive sample of it was a valid 402, and whether one ever was before. */
export interface RoundHost {
  valid: boolean;
  known_good: boolean;
}

/**
 * Says whether the failures of a round are our own: most of the hosts failed that used to answer. A catalogue may be full
 * of hosts that are simply dead, so only where fewer than five ever answered are all hosts counted.
 */
export function isRoundOurs(hosts: readonly RoundHost[]): boolean {
  const good = hosts.filter(({ valid, known_good }) => valid || known_good);
  const telling = good.length >= 5 ? good : hosts;
  return isFaultOurs({ probed: telling.length, failing: telling.filter(({ valid }) => !valid).length });
}
