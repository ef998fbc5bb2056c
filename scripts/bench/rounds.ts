import autocannon from 'autocannon';
import type { Peer } from './peers.ts';
import { readAnswer } from './serving.ts';
import { readUsage } from './usage.ts';
import { runWrk } from './wrk.ts';

/** One request to ask again and again. */
export interface Asked {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** One server under measurement, and the requests it is asked in turn. */
export interface Contestant {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Its process, whose processor time is read. */
  readonly pid: number;
}

/** What a contestant made of it: the medians of the rounds. */
export interface Measured {
  readonly perSecond: number;
  /** Processor time of the server for each request, in microseconds; undefined where there is no `/proc`. */
  readonly cpuMicros: number | undefined;
}

/** What a load generator counted. */
export interface Counted {
  readonly requests: number;
  readonly seconds: number;
  readonly failures: number;
}

export interface RoundsOptions {
  readonly rounds: number;
  readonly secondsEach: number;
  /** Takes less of the machine than autocannon, which has to do where it is not there. */
  readonly wrk: Peer | undefined;
}

const CONNECTIONS = 8;

/**
 * Asks each contestant once, then loads each in turn, round after round, so that what else the machine does falls on all alike. Gives
 * what each made, in their order. Throws when any answer is a failure.
 */
export async function measureRounds(contestants: readonly Contestant[], options: RoundsOptions): Promise<Measured[]> {
  // What is read at the first request is no part of it.
  for (const { url, asked } of contestants) if (asked[0]) await readAnswer(url, asked[0]);
  const rates = contestants.map((): number[] => []);
  const costs = contestants.map((): number[] => []);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [at, contestant] of contestants.entries()) {
      const before = readUsage(contestant.pid).cpuMs;
      const { requests, seconds, failures } = await load(contestant, options);
      const after = readUsage(contestant.pid).cpuMs;
      if (failures > 0 || requests === 0) {
        throw new Error(`${contestant.url}${contestant.asked[0]?.path}: ${failures} of ${requests} answers failed`);
      }
      rates[at]?.push(requests / seconds);
      if (before !== undefined && after !== undefined) costs[at]?.push(((after - before) * 1000) / requests);
    }
  }
  return contestants.map((_, at) => ({
    perSecond: getMedian(rates[at] ?? []),
    cpuMicros: costs[at]?.length ? getMedian(costs[at]) : undefined,
  }));
}

async function load({ url, asked }: Contestant, { wrk, secondsEach }: RoundsOptions): Promise<Counted> {
  if (wrk) return runWrk(wrk, { url, asked, connections: CONNECTIONS, seconds: secondsEach });
  const requests = asked.map(({ path, method = 'GET', headers, body }) => ({
    ...{ path, method, headers: { ...headers } },
    ...(body !== undefined && { body }),
  }));
  const result = await autocannon({ url, requests, connections: CONNECTIONS, duration: secondsEach });
  const failures = result.non2xx + result.errors;
  return { requests: result.requests.total, seconds: result.duration, failures };
}

/** Gives the middle of some numbers (of an even count, the upper of the two). */
export function getMedian(numbers: readonly number[]): number {
  return getPercentile(numbers, 0.5);
}

/** Gives the number that a share of some numbers does not exceed, the next larger one where none is at it. */
export function getPercentile(numbers: readonly number[], share: number): number {
  const at = Math.min(numbers.length - 1, Math.floor(share * numbers.length));
  return numbers.toSorted((a, b) => a - b)[at] ?? Number.NaN;
}
