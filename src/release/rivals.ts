import { ServiceError } from '../errors.ts';
import { isMadeFrom, isSameKind, type MadeFrom } from './base.ts';
import type { ReleaseHeader } from './release.ts';

/** Watches over releases that others make in the same folder. */
export interface Rivalry {
  /** Remembers the release that is the watcher's own: current, and of what the catalogue holds. */
  hold(own: ReleaseHeader): void;
  /**
   * Says what to do about a current release that is not one's own. `yield`: leave it, since its maker came back once
   * before. With the first `yield` for each maker comes the error to report.
   */
  judge(current: ReleaseHeader | undefined, madeFrom: MadeFrom): { action: 'rebuild' | 'yield'; report?: ServiceError };
}

/**
 * Opens the watch over rivals: makers of releases for other settings, of another catalogue or by other code in the folder
 * `releasesDir`. Each would replace what the other makes, for ever. A release that was replaced is made again once, since
 * somebody may have rebuilt with other settings by mistake; a maker that then replaces it again is left to it until the
 * catalogue moves.
 */
export function openRivalry(releasesDir: string): Rivalry {
  let own: ReleaseHeader | undefined;
  const met = new Set<string>();
  const reported = new Set<string>();
  return {
    hold(header) {
      own = header;
    },
    judge(current, madeFrom) {
      const isReplaced = own !== undefined && isMadeFrom(own, madeFrom) && current?.id !== own.id;
      if (!isReplaced || !current || isSameKind(current, madeFrom)) return { action: 'rebuild' };
      const rival = `${current.identity} ${current.settings_hash} ${current.code_version}`;
      const isBack = met.has(rival);
      met.add(rival);
      if (!isBack) return { action: 'rebuild' };
      if (reported.has(rival)) return { action: 'yield' };
      reported.add(rival);
      return { action: 'yield', report: buildRivalError(current, madeFrom, releasesDir) };
    },
  };
}

function buildRivalError(current: ReleaseHeader, madeFrom: MadeFrom, releasesDir: string): ServiceError {
  const differences = [
    current.identity !== madeFrom.identity && 'of another catalogue',
    current.settings_hash !== madeFrom.settings_hash && 'for another BASE_URL, title or contact',
    current.code_version !== madeFrom.code_version && 'by other code',
  ].filter((difference) => difference !== false);
  return new ServiceError(
    'conflict',
    `Another process makes releases in ${releasesDir}, ${differences.join(' and ')}; this one leaves them until the catalogue changes.`,
    {
      hint: 'Give each its own RELEASES folder, or the same CATALOGUE, BASE_URL, title and contact.',
      reason: 'releases_shared',
    },
  );
}
