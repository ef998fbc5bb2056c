import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { findNextDue } from '../catalogue/read/probe-plan.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { LONGEST_PAUSE_MS } from '../evidence/schedule.ts';
import { getFailure } from '../model/failure.ts';
import type { ProbeReport } from './run.ts';

/** Shortest pause between runs, in milliseconds: listings that become due within it are probed together. */
const SHORTEST_SLEEP_MS = 5_000;

/** Time between two looks for submitted hosts during a pause, in milliseconds. */
const ARRIVALS_EVERY_MS = 5_000;

/** Longest pause after runs with a fault of our own, in milliseconds: it doubles with each such run. */
const LONGEST_BACKOFF_MS = 30 * 60_000;

/** Failures that may pass: another process writes to the catalogue, or the disk is full. */
const TEMPORARY: readonly ErrorCode[] = ['unavailable', 'conflict'];

interface WatchOptions {
  now: () => Date;
  signal: AbortSignal;
  run: () => Promise<ProbeReport>;
  /** Returns whether hosts were submitted whose file is to be read. */
  hasArrived?: () => Promise<boolean>;
  /** Shows one line to the operator. */
  say: (line: string) => void;
}

/**
 * Probes routes as they become due until it is stopped, and returns the sum of all runs. A temporary failure of one
 * run, such as a locked catalogue, is shown and tried again; other failures are thrown.
 */
export async function watchProbes(
  catalogue: Catalogue,
  { now, signal, run, hasArrived, say }: WatchOptions,
): Promise<ProbeReport> {
  let total: ProbeReport | undefined;
  let backoffMs = 0;
  for (;;) {
    let hasListed = false;
    try {
      const report = await run();
      total = total ? addReports(total, report) : report;
      if (report.routes.probed > 0) say(describeRun(report));
      hasListed = report.statements.changed > 0;
      backoffMs = report.fault_is_ours ? getBackoff(backoffMs) : 0;
    } catch (error) {
      const { code, message } = getFailure(error);
      if (!TEMPORARY.includes(code)) throw error;
      say(`A probe run failed and will be tried again: ${message}`);
      backoffMs = getBackoff(backoffMs);
    }
    if (signal.aborted) break;
    const at = now();
    const left =
      Date.parse((await findNextDue(catalogue, at.toISOString())) ?? '9999-01-01T00:00:00.000Z') - at.getTime();
    const pauseMs = Math.max(Math.min(Math.max(left, SHORTEST_SLEEP_MS), LONGEST_PAUSE_MS), backoffMs);
    // New listings of a provider's file are due at once.
    const waitMs = hasListed ? Math.max(SHORTEST_SLEEP_MS, backoffMs) : pauseMs;
    for (let waitedMs = 0; waitedMs < waitMs && !signal.aborted; waitedMs += ARRIVALS_EVERY_MS) {
      // A watch always ends by a stop, so that is not a failure.
      await sleep(Math.min(waitMs - waitedMs, ARRIVALS_EVERY_MS), undefined, { signal }).catch(() => undefined);
      // If the catalogue cannot be read, the next run says so.
      if (await hasArrived?.().catch(() => false)) break;
    }
    if (signal.aborted) break;
  }
  if (!total) throw new ServiceError('unavailable', 'No probe run was completed before the watch was stopped.');
  return { ...total, complete: true };
}

function getBackoff(backoffMs: number): number {
  return Math.min(Math.max(backoffMs * 2, LONGEST_PAUSE_MS), LONGEST_BACKOFF_MS);
}

function describeRun({ routes, hosts, listings, outcomes }: ProbeReport): string {
  const counts = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const moved = `${listings.changed} listings changed, ${listings.delisted} delisted, ${listings.relisted} put back`;
  return `Probed ${routes.probed} routes on ${hosts} hosts: ${counts.join(', ')}. ${moved}.`;
}

function addReports(a: ProbeReport, b: ProbeReport): ProbeReport {
  const outcomes = { ...a.outcomes };
  for (const [name, count] of Object.entries(b.outcomes)) {
    const outcome = name as keyof typeof outcomes;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  }
  return {
    ...b,
    hosts: Math.max(a.hosts, b.hosts),
    routes: addCounts(a.routes, b.routes),
    outcomes,
    listings: addCounts(a.listings, b.listings),
    statements: addCounts(a.statements, b.statements),
    revision: { before: a.revision.before, after: b.revision.after },
    took_ms: a.took_ms + b.took_ms,
  };
}

function addCounts<Name extends string>(a: Record<Name, number>, b: Record<Name, number>): Record<Name, number> {
  const sum = { ...a };
  for (const name in b) sum[name] += b[name];
  return sum;
}
