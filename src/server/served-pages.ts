import { join } from 'node:path';
import { createLatest } from '../live/latest.ts';
import type { Release } from '../release/release.ts';
import type { ReleasePage } from '../release/release-pages.ts';
import { findShard, getShardName, type Shard } from '../release/shards.ts';

/** The pages of a release that is served. */
export interface ServedPages {
  /** Undefined where the release has no such page, or has lost its list. */
  get(path: string): ReleasePage | undefined;
}

/** How many pages are known at once, of the lists used of late. */
const KNOWN_PAGES = 40_000;

/**
 * Opens the pages of a release: their lists are read one by one, when a page of each is first asked for, so that a start
 * does not wait for all. Lists are known by their hashes, so the next release finds those that it shares. `onLost` is told
 * of one that is not there, or not what the release names.
 */
export function createServedPages(): (release: Release, onLost: (shard: string) => void) => ServedPages {
  const known = createLatest<Shard>(KNOWN_PAGES, ({ pages }) => pages.size);
  return ({ header, folder }, onLost) => {
    const lost = new Set<string>();
    const findList = (name: string): Shard | undefined => {
      const hash = header.shards[name];
      if (hash === undefined || lost.has(name)) return undefined;
      const read = known.find(hash);
      if (read) return read;
      const shard = findShard(join(folder, name), hash);
      if (shard) {
        known.add(hash, shard);
      } else {
        lost.add(name);
        onLost(name);
      }
      return shard;
    };
    return { get: (path) => findList(getShardName(path))?.pages.get(path) };
  };
}
