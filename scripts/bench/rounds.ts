import autocannon from 'autocannon';

/** One server under measurement. */
export interface Contestant {
  name: string;
  url: string;
}

export interface Measured {
  name: string;
  /** Requests a second, the median of the rounds. */
  perSecond: number;
}

/**
 * Loads each contestant in turn, round after round, so that what else the machine does falls on all alike, and gives the
 * median of each. Throws when any answer is not 2xx.
 */
export async function measureRounds(
  contestants: readonly Contestant[],
  options: { headers: Record<string, string>; connections: number; rounds: number; secondsEach: number },
): Promise<Measured[]> {
  const rates = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < options.rounds; round += 1) {
    for (const { name, url } of contestants) {
      const { headers, connections, secondsEach } = options;
      const result = await autocannon({ url, headers, connections, duration: secondsEach });
      if (result.non2xx + result.errors > 0)
        throw new Error(`${url}: ${result.non2xx} not 2xx, ${result.errors} errors`);
      rates.get(name)?.push(result.requests.total / result.duration);
    }
  }
  return contestants.map(({ name }) => ({ name, perSecond: getMedian(rates.get(name) ?? []) }));
}

/** Gives the middle of some numbers (of an even count, the upper of the two). */
export function getMedian(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
