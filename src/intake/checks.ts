import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { getWideNetwork } from '../http/client.ts';
import type { HostFiles } from '../probing/check-address.ts';
import { getOwnCodeVersion } from '../site/page-code.ts';
import type { KeptReports } from '../submissions/reports.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import type { CheckLine, ReportView } from '../views/provider-check.ts';
import type { Site } from '../views/site.ts';
import { buildRefusal, type openLimits, type Refusal } from './limits.ts';

/**
 * Most checks that run at once, most that wait (so that none waits for longer than one takes), and most of both from one network.
 */
const AT_ONCE = 12;
const MAX_WAITING = 12;
const MAX_OF_NETWORK = 6;

/** Longest time without data for a reader, in milliseconds. A silent connection is closed after 30 s. */
const QUIET_MS = 5_000;

/** A report that grows until it is complete. */
export interface Report {
  readonly id: string;
  /** Content of its page. The result is filled in when the check has ended. */
  readonly view: ReportView;
  /** Provider's files on the host, also filled in at the end. Undefined if none was looked for. */
  files?: HostFiles | undefined;
  readonly changes: EventEmitter;
}

/** A stored report, with the parts that fill in a provider's file, and the version of the code whose page shows it. */
export interface KeptReport extends Pick<Report, 'id' | 'view'> {
  readonly files: Pick<HostFiles, 'statement' | 'document'> | undefined;
  readonly codeVersion: string;
}

export interface ChecksOptions {
  readonly site: Site;
  readonly limits: ReturnType<typeof openLimits>;
  /** The store of complete reports. */
  readonly kept: Pick<KeptReports, 'keep' | 'find' | 'findLatest'>;
  /** Runs a check, and writes its results into the report. Returns true if the provider's own file is on the host. */
  readonly run: (report: Report) => Promise<boolean>;
  readonly onError: (error: unknown) => void;
  readonly now: () => Date;
  /** Aborted when the intake ends. */
  readonly closing: AbortSignal;
  /** Called for each check that ended, with its time in milliseconds, and for each refusal. */
  readonly onEnd: (outcome: 'done' | Refusal['code'], ms?: number) => void;
}

export type Checks = ReturnType<typeof openChecks>;

/** Opens the checks: running ones, waiting ones, and the reports of a day, all limited in number. */
export function openChecks({ site, limits, kept, run, now, closing, onEnd, onError }: ChecksOptions) {
  const waiting: Report[] = [];
  /** The running and waiting checks, by id, with the network of the client. */
  const open = new Map<string, { report: Report; network: string }>();

  const codeVersion = getOwnCodeVersion();
  const getTime = () => now().getTime();

  /** Parses a stored report; undefined if other code wrote it. */
  const readKept = (document: string | undefined): KeptReport | undefined => {
    const report: KeptReport | undefined = document === undefined ? undefined : JSON.parse(document);
    return report?.codeVersion === codeVersion ? report : undefined;
  };

  const findKept = (id: string): Report | undefined => {
    const report = readKept(kept.find(id, getTime()));
    return report && { id, view: report.view, changes: new EventEmitter() };
  };

  const keep = ({ id, view, files }: Report): void => {
    const { statement, document } = files ?? {};
    const filling = statement && document !== undefined ? { statement, document } : undefined;
    const report: KeptReport = { codeVersion, id, view, files: filling };
    const origin = new URL(view.resource).origin;
    kept.keep({ id, at: getTime(), origin, document: JSON.stringify(report) });
  };

  const start = async (report: Report): Promise<void> => {
    const started = performance.now();
    const { id, view } = report;
    Object.assign(view, { state: 'running', summary: 'Being checked.' });
    const hasFile = await run(report).catch(onError);
    view.state = 'done';
    try {
      limits.end(view.resource, hasFile === true);
      // A check that was ended by the intake itself says nothing about the host.
      if (!closing.aborted) keep(report);
    } catch (error) {
      // Those who follow the check get its report even if it cannot be stored.
      onError(error);
    }
    open.delete(id);
    report.changes.emit('change');
    onEnd('done', performance.now() - started);
    const next = waiting.shift();
    if (next) void start(next);
  };

  return {
    /** Begins a check for a client, or queues it. Returns the refusal if it may not begin. */
    begin(client: string, url: string): Report | Refusal {
      const network = getWideNetwork(client);
      const isFull =
        waiting.length >= MAX_WAITING ||
        [...open.values()].filter((one) => one.network === network).length >= MAX_OF_NETWORK;
      const full = isFull && buildRefusal('queue_full', 'As many checks wait as may.', 30_000);
      const refusal = full || limits.begin(client, url);
      if (refusal) {
        onEnd(refusal.code);
        return refusal;
      }
      const id = randomBytes(18).toString('base64url');
      const view: ReportView = {
        report_url: buildUrl(site.baseUrl, PATHS.submitted(id)),
        resource: url,
        checked_at: now().toISOString(),
        state: 'waiting',
        valid: false,
        summary: 'Waiting for its turn.',
        checks: [],
        listings: [],
        items: [],
        asked: [],
      };
      const report: Report = { id, view, changes: new EventEmitter().setMaxListeners(0) };
      open.set(id, { report, network });
      if (open.size <= AT_ONCE) void start(report);
      else waiting.push(report);
      return report;
    },
    find: (id: string): Report | undefined => open.get(id)?.report ?? findKept(id),
    /** Finds the latest complete report of an origin. */
    findLatest: (origin: string): KeptReport | undefined => readKept(kept.findLatest(origin, getTime())),
    /**
     * Yields the lines of a report as they come, until it is complete. Now and then it yields an empty list, which keeps a
     * connection open.
     */
    async *follow(report: Report): AsyncGenerator<CheckLine[]> {
      for (let seen = 0; ; ) {
        const lines = report.view.checks.slice(seen);
        seen += lines.length;
        if (lines.length > 0) yield lines;
        else if (report.view.state === 'done') return;
        else {
          await once(report.changes, 'change', { signal: AbortSignal.timeout(QUIET_MS) }).catch(() => undefined);
          yield [];
        }
      }
    },
  };
}
