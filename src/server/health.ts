import { statSync } from 'node:fs';
import { hasLostAssets } from '../release/state.ts';
import type { Reading } from '../snapshot/reading.ts';
import type { CurrentRelease } from './current-release.ts';

/** Whether the service can do its work, and what it works with. */
export interface Readiness {
  readonly ready: boolean;
  /** Stable codes of what is missing: `shutting_down`, `catalogue_unreadable`, `catalogue_replaced`, `no_release`, `lost_assets`. */
  readonly missing: readonly string[];
  readonly catalogue: { identity: string; revision: number; revised_at: string } | null;
  readonly release: { id: string; revision: number; made_at: string; code_version: string } | null;
}

/**
 * Opens the watch over readiness. The catalogue's file is remembered as it was opened: once another lies in its place,
 * what this process reads is nobody's catalogue any more.
 */
export function openReadiness(
  reading: Reading,
  current: CurrentRelease,
  releasesDir: string,
): (shuttingDown: boolean) => Readiness {
  const { file } = reading.catalogue;
  const opened = findFileNumber(file);
  return (shuttingDown) => {
    const catalogue = findCatalogueState(reading);
    const release = current.find()?.header;
    const missing = [
      shuttingDown && 'shutting_down',
      !catalogue && 'catalogue_unreadable',
      findFileNumber(file) !== opened && 'catalogue_replaced',
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
    const { identity, revision, revised_at } = reading.getSnapshot();
    return { identity, revision, revised_at };
  } catch {
    // Whatever it is, the answer is the same: it cannot be read. The pages' own requests log why.
    return null;
  }
}

function findFileNumber(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
