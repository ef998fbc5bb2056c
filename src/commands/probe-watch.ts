import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { findNextDue } from '../catalogue/probe-tasks.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { getFailure } from './failure.ts';
import type { ProbeReport } from './probe-run.ts';

/** New listings are due as soon as they are there, so somebody looks at least so often; in milliseconds. */
const LONGEST_SLEEP_MS = 60_000;

/** What falls due within so little is probed together. */
const SHORTEST_SLEEP_MS = 5_000;

/** After a run in which the fault was ours, and after each that follows it, the next waits twice as long: up to this. */
const LONGEST_BACKOFF_MS = 30 * 60_000;

/** What may be better in a while: somebody else writes to the catalogue, or the disk is full. */
const MENDING: readonly ErrorCode[] = ['unavailable', 'conflict'];

export interface WatchOptions {
  now: () => Date;
  signal: AbortSignal;
  run: () => Promise<ProbeReport>;
  /** Tells the operator one line. */
  say: (line: string) => void;
}

/**
 * Probes what falls due until it is stopped, and gives what all runs came to together. What is wrong with one run, such
 * as a catalogue that is being written to, is said and tried again; what will not mend by itself is thrown.
 */
export async function watchProbes(catalogue: Catalogue, { now, signal, run, say }: WatchOptions): Promise<ProbeReport> {
  let total: ProbeReport | undefined;
  let backoffMs = 0;
  for (;;) {
    try {
      const report = await run();
      total = total ? addReports(total, report) : report;
      if (report.routes.probed > 0) say(describeRun(report));
      backoffMs = report.fault_is_ours ? getBackoff(backoffMs) : 0;
    } catch (error) {
      const { code, message } = getFailure(error);
      if (!MENDING.includes(code)) throw error;
      say(`A probe run failed and will be tried again: ${message}`);
      backoffMs = getBackoff(backoffMs);
    }
    if (signal.aborted) break;
    const at = now();
    const left = Date.parse(findNextDue(catalogue, at.toISOString()) ?? '9999-01-01T00:00:00.000Z') - at.getTime();
    const pauseMs = Math.max(Math.min(Math.max(left, SHORTEST_SLEEP_MS), LONGEST_SLEEP_MS), backoffMs);
    // Stopping is the way out of a watch, so it ends well.
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
  }
  if (!total) throw new ServiceError('unavailable', 'No probe run came to its end before the watch was stopped.');
  return { ...total, complete: true };
}

function getBackoff(backoffMs: number): number {
  return Math.min(Math.max(backoffMs * 2, LONGEST_SLEEP_MS), LONGEST_BACKOFF_MS);
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
    doors: addCounts(a.doors, b.doors),
    revision: { before: a.revision.before, after: b.revision.after },
    took_ms: a.took_ms + b.took_ms,
  };
}

function addCounts<Name extends string>(a: Record<Name, number>, b: Record<Name, number>): Record<Name, number> {
  const sum = { ...a };
  for (const name in b) sum[name] += b[name];
  return sum;
}
