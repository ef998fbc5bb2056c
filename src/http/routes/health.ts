import type { Hono } from 'hono';
import type { Following } from '../../published/follow.ts';
import type { Reading } from '../../published/reading.ts';
import { getPublishedState } from '../../published/state.ts';
import { hasLostAssets } from '../../release/state.ts';
import { PATHS } from '../../views/links.ts';
import type { CatalogueFile } from '../catalogue-file.ts';
import type { CurrentRelease } from '../current-release.ts';
import type { Env } from '../env.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };

/** What readiness is judged by. */
interface Watched {
  readonly reading: Reading;
  readonly current: CurrentRelease;
  readonly catalogueFile: CatalogueFile;
  readonly releasesDir: string;
  readonly following: Following;
  readonly isShuttingDown: () => boolean;
}

/** Adds `/healthz`, which says that the process answers, and `/readyz`, which says whether it can do its work, and by what. */
export function addHealthRoutes(
  app: Hono<Env>,
  { reading, current, catalogueFile, releasesDir, following, isShuttingDown }: Watched,
): void {
  app.get(PATHS.health, (c) => c.json({ alive: true }, 200, NO_STORE));
  app.get(PATHS.ready, (c) => {
    const catalogue = findCatalogueState(reading);
    const header = current.findHeader();
    const missing = [
      isShuttingDown() && 'shutting_down',
      !catalogue && 'catalogue_unreadable',
      catalogueFile.isReplaced() && 'catalogue_replaced',
      following.findFailure() !== undefined && 'not_following',
      !header && 'no_release',
      header && hasLostAssets({ releasesDir }, header) && 'lost_assets',
    ].filter((code) => typeof code === 'string');
    const release = header && {
      id: header.id,
      revision: header.revision,
      made_at: header.made_at,
      code_version: header.code_version,
    };
    const ready = missing.length === 0;
    return c.json({ ready, missing, catalogue, release: release ?? null }, ready ? 200 : 503, NO_STORE);
  });
}

function findCatalogueState(reading: Reading): { identity: string; revision: number; revised_at: string } | null {
  try {
    const { identity, revision, revised_at } = getPublishedState(reading.published);
    return { identity, revision, revised_at };
  } catch {
    // Whatever it is, the answer is the same: it cannot be read. The pages' own requests log why.
    return null;
  }
}
