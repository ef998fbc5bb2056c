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

/** What one contestant made beside another. */
export interface Compared {
  readonly unit: 'requests/s';
  /** The medians of the rounds. */
  readonly ours: number;
  readonly theirs: number;
  /** The median of the ratios of each round. */
  readonly ratio: number;
  /** The same of processor time for each request, theirs by ours; undefined where there is no `/proc`. */
  readonly cpu_ratio: number | undefined;
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
 * Asks both contestants once, then loads one right after the other, round after round. What else the machine does comes and
 * goes within seconds, so it is the two of one round that are compared. Throws when any answer is a failure.
 */
export async function compare(ours: Contestant, theirs: Contestant, options: RoundsOptions): Promise<Compared> {
  // What is read at the first request is no part of it.
  for (const { url, asked } of [ours, theirs]) if (asked[0]) await readAnswer(url, asked[0]);
  const rounds: { ours: Round; theirs: Round }[] = [];
  const sum = (whose: 'ours' | 'theirs') => rounds.reduce((total, round) => total + round[whose].requests, 0);
  for (let round = 0; round < options.rounds; round += 1) {
    rounds.push({
      theirs: await measure(goOn(theirs, sum('theirs')), options),
      ours: await measure(goOn(ours, sum('ours')), options),
    });
  }
  const cpuRatios = rounds.flatMap(({ ours, theirs }) =>
    ours.cpuMicros && theirs.cpuMicros ? [theirs.cpuMicros / ours.cpuMicros] : [],
  );
  return {
    unit: 'requests/s',
    ours: getMedian(rounds.map((round) => round.ours.perSecond)),
    theirs: getMedian(rounds.map((round) => round.theirs.perSecond)),
    ratio: getMedian(rounds.map((round) => round.ours.perSecond / round.theirs.perSecond)),
    cpu_ratio: cpuRatios.length === 0 ? undefined : getMedian(cpuRatios),
  };
}

/** Goes on in the list where the round before ended, so that what is another request each time stays so. */
function goOn({ asked, ...contestant }: Contestant, requests: number): Contestant {
  const at = requests % asked.length;
  return { ...contestant, asked: [...asked.slice(at), ...asked.slice(0, at)] };
}

interface Round {
  readonly requests: number;
  readonly perSecond: number;
  /** Processor time of the server for each request, in microseconds. */
  readonly cpuMicros: number | undefined;
}

async function measure(contestant: Contestant, options: RoundsOptions): Promise<Round> {
  const before = readUsage(contestant.pid).cpuMs;
  const { requests, seconds, failures } = await load(contestant, options);
  const after = readUsage(contestant.pid).cpuMs;
  if (failures > 0 || requests === 0) {
    throw new Error(`${contestant.url}${contestant.asked[0]?.path}: ${failures} of ${requests} answers failed`);
  }
  const isKnown = before !== undefined && after !== undefined;
  return {
    requests,
    perSecond: requests / seconds,
    cpuMicros: isKnown ? ((after - before) * 1000) / requests : undefined,
  };
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
