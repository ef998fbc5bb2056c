import { createRequire } from 'node:module';
import type { default as robots } from 'robots-parser';
import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { ROBOT_NAME } from '../model/robot.ts';

// The package is CommonJS and its types are not, so what it exports is found one name deeper than it is.
const robotsParser: typeof robots.default = createRequire(import.meta.url)('robots-parser');

/** Longest wait for a robots.txt, in milliseconds, and most bytes of one. */
const LONGEST_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** Longest pause between requests that a host can ask for, in seconds: a longer one would keep a run waiting. */
const MAX_DELAY_SECONDS = 30;

/** What a host's robots.txt says to us. */
export interface Robots {
  isAllowed(url: string): boolean;
  /** Pause that it asks for between requests, in milliseconds; 0 where it asks for none. */
  delayMs: number;
}

/**
 * Fetches the robots.txt of an origin; empty where it has none (RFC 9309 section 2.3.1.3). Undefined where nobody answers
 * or the answer is a failure: the RFC would have such a host left alone, but whether it answers is what probes are for.
 */
export async function fetchRobots(
  client: GuardedClient,
  origin: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<string | undefined> {
  const limits = { totalMs: Math.min(timeoutMs, LONGEST_MS), bodyBytes: MAX_BYTES, decodedBytes: MAX_BYTES };
  try {
    const { status, body } = await client.fetch(`${origin}/robots.txt`, { signal, limits });
    if (status >= 500 || status === 429) return undefined;
    return status >= 200 && status < 300 ? new TextDecoder().decode(body) : '';
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** Parses a robots.txt. Rules for us by name come before rules for everybody; what is no robots.txt allows everything. */
export function parseRobots(origin: string, text: string): Robots {
  const rules = robotsParser(`${origin}/robots.txt`, text);
  const delay = rules.getCrawlDelay(ROBOT_NAME) ?? 0;
  return {
    isAllowed: (url) => rules.isAllowed(url, ROBOT_NAME) ?? true,
    delayMs: Math.min(Math.max(delay, 0), MAX_DELAY_SECONDS) * 1000 || 0,
  };
}
