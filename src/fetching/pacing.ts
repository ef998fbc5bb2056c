import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedClient } from './client.ts';

/** Keeps the pause between requests to one host. Times are milliseconds. */
export interface Pace {
  /** Waits until the host may be asked again. Throws the reason of the signal when that is aborted meanwhile. */
  wait(): Promise<void>;
  /** Records that a request ended. `askedMs` is the wait that the host asks for. */
  end(askedMs?: number): void;
}

/** Opens the pace of one host: a pause of `pauseMs` from the end of a request to the start of the next. */
export function openPace(pauseMs: number, signal: AbortSignal): Pace {
  let readyAt = 0;
  return {
    async wait() {
      signal.throwIfAborted();
      const left = readyAt - performance.now();
      if (left > 0) await sleep(left, undefined, { signal });
    },
    end(askedMs = 0) {
      readyAt = performance.now() + Math.max(pauseMs, askedMs);
    },
  };
}

/** Builds a client for one host. Every request, including redirects, waits for the pace. */
export function buildPacedClient(
  client: Pick<GuardedClient, 'fetch'>,
  pace: Pace,
  delayMs = 0,
): Pick<GuardedClient, 'fetch'> {
  return {
    fetch: async (...request) => {
      await pace.wait();
      try {
        return await client.fetch(...request);
      } finally {
        pace.end(delayMs);
      }
    },
  };
}
