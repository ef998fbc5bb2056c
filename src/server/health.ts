import { getCatalogueState } from '../catalogue/write.ts';
import { hasLostAssets } from '../release/state.ts';
import type { Reading } from '../snapshot/reading.ts';
import type { CatalogueFile } from './catalogue-file.ts';
import type { CurrentRelease } from './current-release.ts';

/** Whether the service can do its work, and what it works with. */
export interface Readiness {
  readonly ready: boolean;
  /** Stable codes of what is missing: `shutting_down`, `catalogue_unreadable`, `catalogue_replaced`, `no_release`, `lost_assets`. */
  readonly missing: readonly string[];
  readonly catalogue: { identity: string; revision: number; revised_at: string } | null;
  readonly release: { id: string; revision: number; made_at: string; code_version: string } | null;
}

/** What readiness is judged by. */
interface Parts {
  readonly reading: Reading;
  readonly current: CurrentRelease;
  readonly catalogueFile: CatalogueFile;
  readonly releasesDir: string;
}

/** Opens the watch over readiness. */
export function openReadiness({
  reading,
  current,
  catalogueFile,
  releasesDir,
}: Parts): (shuttingDown: boolean) => Readiness {
  return (shuttingDown) => {
    const catalogue = findCatalogueState(reading);
    const release = current.find()?.header;
    const missing = [
      shuttingDown && 'shutting_down',
      !catalogue && 'catalogue_unreadable',
      catalogueFile.isReplaced() && 'catalogue_replaced',
      !release && 'no_release',
      release && hasLostAssets({ releasesDir }, release) && 'lost_assets',
    ].filter((code) => typeof code === 'string');
    return {
      ready: missing.length === 0,
      missing,
      catalogue,
      release: release
        ? {
            id: release.id,
            revision: release.revision,
            made_at: release.made_at,
            code_version: release.code_version,
          }
        : null,
    };
  };
}

function findCatalogueState(reading: Reading): Readiness['catalogue'] {
  try {
    const { identity, revision, revised_at } = getCatalogueState(reading.catalogue);
    return { identity, revision, revised_at };
  } catch {
    // Whatever it is, the answer is the same: it cannot be read. The pages' own requests log why.
    return null;
  }
}
