import { HOUR_MS } from '../model/duration.ts';

/**
 * Returns the number of the round that a time falls in. Rounds are counted from 1970 and begin at 0, 6, 12 and 18
 * o'clock UTC.
 */
export function getRound(at: string): number {
  return Math.floor(Date.parse(at) / ROUND_MS);
}

/** Returns when a round begins, ISO 8601 UTC. */
export function getRoundStart(round: number): string {
  return new Date(round * ROUND_MS).toISOString();
}

/**
 * The result of one host in one round: whether any conclusive sample was a valid 402, and whether it ever answered with
 * one before.
 */
export interface RoundHost {
  valid: boolean;
  known_good: boolean;
}

/** The facts by which a round is judged, besides the results of its hosts. */
interface RoundContext {
  /** Number of hosts of the whole catalogue that used to answer, whether probed in this round or not. */
  known_good: number;
  /** True if the failures of the previous round were our own fault. */
  was_ours: boolean;
}

/**
 * Returns whether the failures of a round are our own fault: most of the hosts that used to answer failed. Dead hosts
 * are left out, because a catalogue may be full of them. All hosts are counted only if fewer than five hosts ever
 * answered, and then one host that answers shows that our network works. Fewer than five results, as at the beginning
 * of a round, are too few to judge by: then the fault is ours if it was ours in the previous round and most of them
 * fail.
 */
export function isRoundOurFault(hosts: readonly RoundHost[], { known_good, was_ours }: RoundContext): boolean {
  const telling = known_good >= MIN_HOSTS_TO_JUDGE ? hosts.filter((host) => host.valid || host.known_good) : hosts;
  const failing = telling.filter(({ valid }) => !valid).length;
  if (known_good < MIN_HOSTS_TO_JUDGE && failing < telling.length) return false;
  const isMostFailing = failing * 2 > telling.length;
  return telling.length < MIN_HOSTS_TO_JUDGE ? was_ours && isMostFailing : isMostFailing;
}

/** Fewest hosts by which our own network can be judged. */
const MIN_HOSTS_TO_JUDGE = 5;

/** Length of a round, and time between two samples of a listing that answers, in milliseconds: six hours. */
export const ROUND_MS = 6 * HOUR_MS;
