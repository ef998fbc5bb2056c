import { isFaultOurs, TELLING_HOSTS } from './delisting.ts';
import { ROUND_MS } from './pace.ts';

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

/** What a round is judged by besides how its hosts came out. */
export interface RoundContext {
  /** How many hosts of the whole catalogue used to answer, heard in this round or not. */
  known_good: number;
  /** Whether the round before was put down to ourselves. */
  was_ours: boolean;
}

/**
 * Says whether the failures of a round are our own: most of the hosts failed that used to answer. A catalogue may be full
 * of hosts that are simply dead, so only where fewer than five ever answered are all hosts counted, and then whichever of
 * them answers shows that we can be reached. Fewer than five tell
 * nothing of us, as at the beginning of a round: then what was our fault before still is, while most of them fail.
 */
export function isRoundOurs(hosts: readonly RoundHost[], { known_good, was_ours }: RoundContext): boolean {
  const telling = known_good >= TELLING_HOSTS ? hosts.filter((host) => host.valid || host.known_good) : hosts;
  const failing = telling.filter(({ valid }) => !valid).length;
  if (known_good < TELLING_HOSTS && failing < telling.length) return false;
  if (telling.length < TELLING_HOSTS) return was_ours && failing * 2 > telling.length;
  return isFaultOurs({ probed: telling.length, failing });
}
