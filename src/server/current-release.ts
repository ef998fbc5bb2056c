import type { Logger } from 'pino';
import { getCatalogueState } from '../catalogue/write.ts';
import { getErrorMessage } from '../errors.ts';
import { findCurrentId, findCurrentRelease, type Release } from '../release/release.ts';
import { isServable } from '../release/state.ts';
import type { Reading } from '../snapshot/reading.ts';
import { createServedPages, type ServedPages } from './served-pages.ts';

/** How often `current` is looked at: one read of a link. */
const FOLLOW_MS = 200;

/** A release with its pages, as the server serves it. */
export interface ServedRelease extends Release {
  readonly pages: ServedPages;
}

/** Follows the `current` release. */
export interface CurrentRelease {
  /** The release to serve from. Undefined while there is none that was made from this catalogue and these settings. */
  find(): ServedRelease | undefined;
  /** Looks at `current` now instead of a moment later. */
  follow(): void;
  close(): void;
}

/**
 * Follows the release that `current` names, from now on and without a break: a request is answered wholly from the one it
 * began with. A release of another catalogue, of other settings, or of a state that this catalogue has not been through
 * (it was restored from a backup) is not served: its pages would be of wrong listings.
 */
export function openCurrentRelease({
  releasesDir,
  reading,
  logger,
}: {
  releasesDir: string;
  reading: Reading;
  logger: Logger;
}): CurrentRelease {
  const openPages = createServedPages();
  let link: string | undefined;
  let loaded: ServedRelease | undefined;
  let served: ServedRelease | undefined;
  let state = '';
  let complaint = '';

  const complain = (release: string, shard: string) => {
    // One that is cleared away loses its lists, too.
    if (release !== findCurrentId(releasesDir)) return;
    logger.error(
      { release, shard },
      'a list of pages is lost or damaged, which are rendered on demand; npm run rebuild -- --force mends it',
    );
  };

  const load = () => {
    const target = findCurrentId(releasesDir);
    if (target === link) return;
    const release = findCurrentRelease(releasesDir);
    loaded = release && { ...release, pages: openPages(release, (shard) => complain(release.header.id, shard)) };
    link = target;
    state = '';
    if (loaded || target === undefined || target !== findCurrentId(releasesDir)) return;
    logger.error(
      { release: target },
      'the current release is damaged or of another format; the next rebuild replaces it',
    );
  };

  /** Asked again whenever the catalogue moved, since it may have become another one. */
  const choose = () => {
    const { identity, revision } = getCatalogueState(reading.catalogue);
    const now = `${identity} ${revision}`;
    if (now === state) return;
    state = now;
    const before = served?.header.id;
    served = loaded && isServable(loaded.header, reading) ? loaded : undefined;
    if (served?.header.id !== before)
      logger.info(
        { release: served?.header.id ?? null },
        served ? 'serving a release' : 'no release fits this catalogue',
      );
  };

  const follow = () => {
    try {
      load();
      choose();
      complaint = '';
    } catch (error) {
      // Looked at several times a second, so each cause is told once.
      const message = getErrorMessage(error);
      if (message !== complaint) logger.error({ err: error }, 'the current release cannot be read');
      complaint = message;
    }
  };

  follow();
  const timer = setInterval(follow, FOLLOW_MS).unref();
  return { find: () => served, follow, close: () => clearInterval(timer) };
}
