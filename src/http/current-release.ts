import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { getErrorMessage } from '../errors.ts';
import { getFailure } from '../model/failure.ts';
import type { Published } from '../published/file.ts';
import { getHash } from '../published/hash.ts';
import type { Reading } from '../published/reading.ts';
import { getPublishedState, type PublishedState } from '../published/state.ts';
import { isMissing } from '../release/folders.ts';
import type { Form } from '../release/forms.ts';
import { findCurrentId, findCurrentRelease, type Release, type ReleaseHeader } from '../release/release.ts';
import { findShard, getShardName, type ReleasePage, type Shard } from '../release/shards.ts';
import { isOfSite, isServable } from '../release/state.ts';

/** Time between looks at `current`, each of which reads one link. */
const FOLLOW_MS = 200;

/** Number of pages known at once by their lists, at some 250 bytes each. */
const KNOWN_PAGES = 150_000;

/** A page as a release holds it. */
export interface FoundPage {
  readonly body: Buffer;
  /** The form that the body is in; its own where left out. */
  readonly form?: Form | undefined;
  /** Hash of the page itself, whatever its form. */
  readonly hash: string;
  readonly type: string;
}

/** Follows the `current` release. */
export interface CurrentRelease {
  /** Finds the header of the release that is served. Undefined while none was made from this catalogue and these settings. */
  findHeader(): ReleaseHeader | undefined;
  /** Says whether the release lists a page, even if its file is lost. */
  hasPage(path: string): boolean;
  /** Reads a page, in a form if it has that one. Undefined where the release has no such page, or has lost it. */
  findPage(path: string, form?: Form): FoundPage | undefined;
  /** Looks at `current` now instead of a moment later. */
  follow(): void;
  close(): void;
}

/**
 * Opens the `current` release and follows it. A release of another catalogue, of other settings, or of a state that this
 * catalogue has not been through (it was restored from a backup) is not served: its pages would be of wrong listings.
 */
export function openCurrentRelease({
  releasesDir,
  reading,
  findCatalogue,
  logger,
}: {
  releasesDir: string;
  reading: Reading;
  /** Finds the state of the catalogue, by which a release is judged while no published catalogue can be read. */
  findCatalogue: () => PublishedState | undefined;
  logger: Logger;
}): CurrentRelease {
  const { findListed, readBody, logLoss } = openReleaseReader(releasesDir, logger);
  let link: string | undefined;
  let loaded: Release | undefined;
  let served: Release | undefined;
  let state = '';
  let failure = '';

  const load = () => {
    const target = findCurrentId(releasesDir);
    if (target === link) return;
    loaded = findCurrentRelease(releasesDir);
    link = target;
    state = '';
    if (loaded || target === undefined || target !== findCurrentId(releasesDir)) return;
    logger.error(
      { release: target },
      'the current release is damaged or of another format; the next rebuild replaces it',
    );
  };

  /** Chooses again whenever the published catalogue changed: it may be of another catalogue now. */
  const choose = () => {
    const published = findPublishedState(reading.published);
    const of = published ?? findCatalogue();
    const now = `${of?.identity} ${published?.revision}`;
    if (now === state) return;
    state = now;
    const before = served?.header.id;
    const isFitting = (header: ReleaseHeader) =>
      published ? isServable(header, reading) : of !== undefined && isOfSite(header, of, reading.site);
    served = loaded && isFitting(loaded.header) ? loaded : undefined;
    if (served?.header.id === before) return;
    const release = served?.header.id ?? null;
    logger.info({ release }, served ? 'serving a release' : 'no release fits this catalogue');
  };

  const follow = () => {
    try {
      load();
      choose();
      failure = '';
    } catch (error) {
      // Looked at several times a second, so each cause is logged once.
      const message = getErrorMessage(error);
      if (message !== failure) logger.error({ err: error }, 'the current release cannot be read');
      failure = message;
    }
  };

  const findPage = (path: string, form?: Form): FoundPage | undefined => {
    const release = served;
    const page = release && findListed(release, path);
    if (!release || !page) return undefined;
    const compressed = form && page.forms?.[form] && form;
    const body = readBody(release, page, compressed);
    if (body) return { body, hash: page.hash, type: page.type, form: compressed };
    // Cleared away while it was read, it has been followed by another.
    follow();
    if (served !== release) return findPage(path, form);
    logLoss(release, compressed ? `${path} as ${compressed}` : path);
    return compressed ? findPage(path) : undefined;
  };

  follow();
  const timer = setInterval(follow, FOLLOW_MS).unref();
  return {
    findHeader: () => served?.header,
    hasPage: (path) => served !== undefined && findListed(served, path) !== undefined,
    findPage,
    follow,
    close: () => clearInterval(timer),
  };
}

/** Opens the reading of the pages of releases, which checks each by its hash. */
function openReleaseReader(releasesDir: string, logger: Logger) {
  /** Lists of pages by their hashes, read when a page of each is first asked for; the next release has most of them, too. */
  const lists = new LRUCache<string, Shard>({
    maxSize: KNOWN_PAGES,
    sizeCalculation: ({ pages }) => Math.max(1, pages.size),
  });
  const lost = new WeakMap<Release, Set<string>>();

  /** Logs what a release lost, once each; one that was cleared away meanwhile is complete no more, and no loss. */
  const logLoss = (release: Release, what: string): void => {
    const { id } = release.header;
    const known = lost.get(release) ?? new Set();
    if (known.has(what) || id !== findCurrentId(releasesDir)) return;
    lost.set(release, known.add(what));
    const mend = 'is made again whenever it is asked for; npm run rebuild -- --force mends it';
    logger.error({ release: id }, `${what} of the release is lost or damaged, and ${mend}`);
  };

  /** Finds a page in the lists of a release. */
  const findListed = (release: Release, path: string): ReleasePage | undefined => {
    const name = getShardName(path);
    const hash = release.header.shards[name];
    if (hash === undefined) return undefined;
    const known = lists.get(hash);
    if (known || lost.get(release)?.has(name)) return known?.pages.get(path);
    const list = findShard(join(release.folder, name), hash);
    if (list) lists.set(hash, list);
    else logLoss(release, name);
    return list?.pages.get(path);
  };

  /** Reads a page in a form that it has, else as it is. Undefined where its file is lost or damaged. */
  const readBody = ({ folder }: Release, page: ReleasePage, form: Form | undefined): Buffer | undefined => {
    const { hash } = (form && page.forms?.[form]) ?? page;
    const body = readIfThere(join(folder, form ? `${page.file}.${form}` : page.file));
    return body && getHash(body) === hash ? body : undefined;
  };

  return { findListed, readBody, logLoss };
}

/** Reads a small file, which takes less time than handing it to another thread. Undefined where the file does not exist. */
export function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Finds the state of the published catalogue; undefined while it is not made, or is of the tables of other code. */
function findPublishedState(published: Published): PublishedState | undefined {
  try {
    return getPublishedState(published);
  } catch (error) {
    if (getFailure(error).reason === 'not_published') return undefined;
    throw error;
  }
}
