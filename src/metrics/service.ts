import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { matchPath } from '../views/routes.ts';

/** Upper bounds of the buckets: times in seconds, sizes in bytes. */
const LATENCY = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const SIZE = [1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const REBUILD = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const CHECK = [0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

/** Health of the service, as far as metrics show it. Times are ISO 8601 UTC. */
export interface ObservedHealth {
  readonly ready: boolean;
  readonly missing: readonly string[];
  readonly catalogue: { readonly revision: number; readonly revised_at: string } | null;
  readonly following: { readonly failing_since: string | null };
  readonly making: { readonly listings_done: number; readonly listings_total: number } | null;
  readonly pages: { readonly revision: number; readonly made_at: string } | null;
}

/** Sources of the metrics of the serving process. */
export interface Observed {
  readonly getHealth: () => ObservedHealth;
  /** All codes that `missing` can contain. */
  readonly faults: readonly string[];
  /**
   * Returns the number of live listings, and of those that are settlement-verified. Throws while the published
   * catalogue cannot be read.
   */
  readonly countListings: () => { live: number; verified: number };
  readonly codeVersion: string;
  readonly now: () => Date;
}

/** Counts the work of the serving process. */
export interface ServiceMetrics {
  /** Counts a request when it arrives, before it is answered. */
  countRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Counts a call of an MCP tool; `tool` is the name of one that exists, or `other`. */
  countToolCall(tool: string, outcome: 'answered' | 'refused' | 'failed'): void;
  /** Counts a rebuild started by the process; `ms` is its time in milliseconds. */
  countRebuild(outcome: 'written' | 'unchanged' | 'failed', ms?: number): void;
  /** Counts a check by the intake that ended by `done`, or a refusal by its code; `ms` is the time of a check in milliseconds. */
  countCheck(outcome: string, ms?: number): void;
  /** Returns all metrics in the text format of Prometheus. */
  read(): Promise<string>;
}

/** Creates the metrics of the serving process. Every label has few values, whatever clients send. */
export function createServiceMetrics(observed: Observed): ServiceMetrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const requests = new Counter({
    name: 'catalogue_http_requests_total',
    help: 'Requests by route and class of status; aborted: the client left before the whole answer was sent',
    labelNames: ['route', 'status'],
    registers,
  });
  const inFlight = new Gauge({
    name: 'catalogue_http_requests_in_flight',
    help: 'Requests that are being answered',
    registers,
  });
  const latency = new Histogram({
    name: 'catalogue_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer, sending included',
    labelNames: ['route'],
    buckets: LATENCY,
    registers,
  });
  const size = new Histogram({
    name: 'catalogue_http_response_size_bytes',
    help: 'Bytes sent for an answer, its head included, compressed as it was sent',
    labelNames: ['route'],
    buckets: SIZE,
    registers,
  });
  const calls = new Counter({
    name: 'catalogue_mcp_calls_total',
    help: 'Calls of MCP tools; refused: the caller can correct it; failed: a failure of ours',
    labelNames: ['tool', 'outcome'],
    registers,
  });
  const rebuilds = new Counter({
    name: 'catalogue_rebuilds_total',
    help: 'Rebuilds that this process started; those of npm run rebuild are not among them',
    labelNames: ['outcome'],
    registers,
  });
  const rebuildTime = new Histogram({
    name: 'catalogue_rebuild_duration_seconds',
    help: 'How long those took that wrote pages',
    buckets: REBUILD,
    registers,
  });
  const checks = new Counter({
    name: 'catalogue_checks_total',
    help: 'Checks of addresses that the intake was asked for: done, or refused by the code of the reason',
    labelNames: ['outcome'],
    registers,
  });
  const checkTime = new Histogram({
    name: 'catalogue_check_duration_seconds',
    help: 'How long those took that were done',
    buckets: CHECK,
    registers,
  });
  // Starts each counter at 0, since an alert compares with earlier values and would miss the first failure.
  for (const outcome of ['written', 'unchanged', 'failed']) rebuilds.inc({ outcome }, 0);
  checks.inc({ outcome: 'done' }, 0);
  const updateHealth = addHealthGauges(register, observed);
  return {
    countRequest(request, response) {
      const { route } = matchPath(request.url ?? '');
      const { socket } = request;
      const before = socket.bytesWritten;
      inFlight.inc();
      const endTimer = latency.startTimer({ route });
      response.once('close', () => {
        inFlight.dec();
        endTimer();
        size.observe({ route }, socket.bytesWritten - before);
        requests.inc({ route, status: getStatusClass(response) });
      });
    },
    countToolCall(tool, outcome) {
      calls.inc({ tool, outcome });
    },
    countRebuild(outcome, ms) {
      rebuilds.inc({ outcome });
      if (ms !== undefined) rebuildTime.observe(ms / 1000);
    },
    countCheck(outcome, ms) {
      checks.inc({ outcome });
      if (ms !== undefined) checkTime.observe(ms / 1000);
    },
    read() {
      updateHealth();
      return register.metrics();
    },
  };
}

function getStatusClass({ writableFinished, statusCode }: ServerResponse): string {
  return writableFinished ? `${Math.floor(statusCode / 100)}xx` : 'aborted';
}

/** Adds gauges that are computed when metrics are read. Returns the function that computes them. */
function addHealthGauges(
  register: Registry,
  { getHealth, faults, countListings, now, codeVersion }: Observed,
): () => void {
  const addGauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [register] });
  const ready = addGauge('catalogue_ready', '1 if /readyz answers 200');
  const missing = addGauge('catalogue_missing', '1 for each code that /readyz names as missing', ['code']);
  const revision = addGauge('catalogue_published_revision', 'The revision that readers see');
  const revisedAt = addGauge('catalogue_published_revised_timestamp_seconds', 'When that revision was made');
  const listings = addGauge('catalogue_published_listings', 'Listings that readers see: live, and verified of these', [
    'state',
  ]);
  const following = addGauge('catalogue_following', '1 while the published catalogue follows the catalogue');
  const failing = addGauge('catalogue_following_failing_seconds', 'How long following has failed; 0 while it works');
  const done = addGauge('catalogue_publication_listings_done', 'Listings written while all of them are; else left out');
  const total = addGauge('catalogue_publication_listings_total', 'Listings that are to be written then; else left out');
  const pages = addGauge('catalogue_pages_revision', 'The revision that all pages were last made from');
  const madeAt = addGauge('catalogue_pages_made_timestamp_seconds', 'When all pages were last made');
  addGauge('catalogue_build_info', 'Always 1; the label says which code runs', ['code_version']).set(
    { code_version: codeVersion },
    1,
  );
  return () => {
    const health = getHealth();
    ready.set(Number(health.ready));
    for (const code of faults) missing.set({ code }, Number(health.missing.includes(code)));
    setOrRemove(revision, health.catalogue?.revision);
    setOrRemove(revisedAt, health.catalogue && getSeconds(health.catalogue.revised_at));
    setOrRemove(done, health.making?.listings_done);
    setOrRemove(total, health.making?.listings_total);
    setOrRemove(pages, health.pages?.revision);
    setOrRemove(madeAt, health.pages && getSeconds(health.pages.made_at));
    const { failing_since } = health.following;
    following.set(Number(failing_since === null));
    failing.set(failing_since === null ? 0 : Math.max(0, now().getTime() / 1000 - getSeconds(failing_since)));
    listings.reset();
    for (const [state, count] of Object.entries(health.catalogue ? countListings() : {}))
      listings.set({ state }, count);
  };
}

/** Sets a gauge, or removes it if its value is not known, since 0 would be wrong. */
function setOrRemove(gauge: Gauge, value: number | null | undefined): void {
  if (value === null || value === undefined) gauge.remove();
  else gauge.set(value);
}

function getSeconds(at: string): number {
  return Date.parse(at) / 1000;
}
