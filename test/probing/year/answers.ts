import type { FetchFailureReason } from '../../../src/fetching/failure.ts';
import type { NetworkKey } from '../../../src/model/network.ts';
import type { ProbeOutcome } from '../../../src/model/probe.ts';

/** How a seller answers for a while. */
export type Answer =
  | {
      kind: 'ask';
      /** Price of its first route, in atomic USDC; the second costs twice as much, and so on. */
      price: number;
      networks: readonly NetworkKey[];
      /** A number stands for an address; `rotating`: a fresh one in each challenge. */
      payee: number | 'rotating';
      /** It answers 402 to every address. */
      wildcard?: boolean;
      /** Its offer is on a chain that is not listed here. */
      elsewhere?: boolean;
    }
  | { kind: 'down'; reason: FetchFailureReason }
  | { kind: 'status'; status: number; retryAfterSeconds?: number };

/** From an hour on. A timeline is in order, and its first entry is from hour 0. */
export interface Phase {
  from: number;
  answer: Answer;
}

export const ask = (price: number, rest: Partial<Extract<Answer, { kind: 'ask' }>> = {}): Answer => ({
  ...{ kind: 'ask', price, networks: ['base'], payee: 1 },
  ...rest,
});
export const down = (reason: FetchFailureReason = 'timeout'): Answer => ({ kind: 'down', reason });
export const status = (code: number, retryAfterSeconds?: number): Answer => ({
  ...{ kind: 'status', status: code },
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

/** Returns how a seller answers at an hour. */
export function getAnswer(timeline: readonly Phase[], hours: number): Answer {
  const phase = timeline.findLast(({ from }) => from <= hours);
  if (!phase) throw new Error('a timeline begins at hour 0');
  return phase.answer;
}

const BY_STATUS: Readonly<Record<number, ProbeOutcome>> = {
  200: 'no_402',
  400: 'input_rejected',
  404: 'no_402',
  429: 'rate_limited',
  500: 'server_error',
};

const BY_REASON: Partial<Record<FetchFailureReason, ProbeOutcome>> = {
  timeout: 'timeout',
  refused: 'refused',
  tls: 'tls',
  name_not_resolved: 'name_not_resolved',
  disconnected: 'server_error',
};

/** Returns the outcome that a probe must get; every valid 402 is `payable` here. */
export function getTrueOutcome(answer: Answer): ProbeOutcome {
  if (answer.kind === 'down') return BY_REASON[answer.reason] ?? 'internal';
  if (answer.kind === 'status') return BY_STATUS[answer.status] ?? 'internal';
  if (answer.elsewhere) return 'unsupported_network';
  return answer.wildcard ? 'wildcard_402' : 'payable';
}
