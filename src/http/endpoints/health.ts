import type { Hono } from 'hono';
import type { Progress } from '../../published/follow.ts';
import type { Following } from '../../published/live-file.ts';
import type { Reading } from '../../published/reading.ts';
import { getPublishedState, type PublishedState } from '../../published/state.ts';
import { PATHS } from '../../views/links.ts';
import type { Env } from '../request.ts';
import type { SiteFiles } from '../site-files.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };

/** The sources of the readiness check. */
interface Watched {
  readonly reading: Reading;
  readonly files: SiteFiles;
  readonly following: Following;
  readonly isShuttingDown: () => boolean;
}

/** Possible faults. With `down`, answers are wrong or missing; with `degraded`, they are correct as of the last revision. */
export const FAULTS = {
  shutting_down: 'down',
  catalogue_unreadable: 'down',
  published_damaged: 'down',
  published_being_made: 'down',
  not_following: 'degraded',
  no_pages: 'down',
} as const;

/** The code of a fault. */
type Fault = keyof typeof FAULTS;

/** All fault codes. */
export const FAULT_CODES = Object.keys(FAULTS) as Fault[];

/** State of the service. Times are ISO 8601 UTC, ages whole seconds. */
export interface Health {
  /** False if requests should go elsewhere. */
  readonly ready: boolean;
  /** `degraded`: everything is answered, but not everything is up to date. */
  readonly state: 'ready' | 'degraded' | 'down';
  readonly missing: readonly Fault[];
  /** The catalogue that readers see; null if it cannot be read. */
  readonly catalogue: (PublishedState & { readonly age_seconds: number }) | null;
  /** `failing_since`: time of the last reading of the catalogue. */
  readonly following: { readonly works: boolean; readonly failing_since: string | null };
  /** Progress of the published catalogue that is being made, for the first time or by other code; null if none is. */
  readonly making: Progress | null;
  /** The last completed rebuild; null if it was of another catalogue or for other settings. */
  readonly pages: {
    readonly revision: number;
    readonly made_at: string;
    readonly code_version: string;
    readonly age_seconds: number;
  } | null;
}

/** Returns the current state of the service. */
export function getHealth({ reading, files, following, isShuttingDown }: Watched): Health {
  const now = reading.now();
  const obstacle = following.findObstacle();
  const catalogue = obstacle === 'published_being_made' ? undefined : findState(reading);
  const build = files.findBuild();
  const age = following.findAge();
  const since = age === undefined ? undefined : new Date(now.getTime() - age);
  const isMissing: Record<Fault, boolean> = {
    shutting_down: isShuttingDown(),
    catalogue_unreadable: catalogue === null,
    published_damaged: obstacle === 'published_damaged',
    published_being_made: obstacle === 'published_being_made',
    not_following: since !== undefined,
    no_pages: !build,
  };
  const missing = FAULT_CODES.filter((code) => isMissing[code]);
  const isDown = missing.some((code) => FAULTS[code] === 'down');
  const pages = build && {
    revision: build.revision,
    made_at: build.at,
    code_version: build.code_version,
    age_seconds: getAge(build.at, now),
  };
  return {
    ready: !isDown,
    state: isDown ? 'down' : missing.length > 0 ? 'degraded' : 'ready',
    missing,
    catalogue: catalogue ? { ...catalogue, age_seconds: getAge(catalogue.revised_at, now) } : null,
    following: { works: since === undefined, failing_since: since?.toISOString() ?? null },
    making: following.findProgress() ?? null,
    pages: pages ?? null,
  };
}

/** Adds `/healthz`, which answers while the process runs, and `/readyz`, which says whether it can serve, with reasons. */
export function addHealthRoutes(app: Hono<Env>, readHealth: () => Health): void {
  app.get(PATHS.health, (c) => c.json({ alive: true }, 200, NO_STORE));
  app.get(PATHS.ready, (c) => {
    const health = readHealth();
    return c.json(health, health.ready ? 200 : 503, NO_STORE);
  });
}

function getAge(at: string, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - Date.parse(at)) / 1000));
}

function findState(reading: Reading): PublishedState | null {
  try {
    const { identity, revision, revised_at } = getPublishedState(reading.published);
    return { identity, revision, revised_at };
  } catch {
    // Whatever the failure is, the catalogue cannot be read. Requests for pages log the reason.
    return null;
  }
}
