import { join } from 'node:path';
import type { Release } from '../release/release.ts';
import type { ReleasePage } from '../release/release-pages.ts';
import { findShard, getShardName, type Shard } from '../release/shards.ts';

/** The pages of a release that is served. */
export interface ServedPages {
  /** Undefined where the release has no such page, or has lost its list. */
  get(path: string): ReleasePage | undefined;
}

/** How many pages are known at once, the lists used last. */
const KNOWN_PAGES = 40_000;

/**
 * Opens the pages of a release: their lists are read one by one, when a page of each is first asked for, so that a start
 * does not wait for all. Lists are known by their hashes, so the next release finds those that it shares. `onLost` is told
 * of one that is not there, or not what the release names.
 */
export function createServedPages(): (release: Release, onLost: (shard: string) => void) => ServedPages {
  const known = new Map<string, Shard>();
  let pages = 0;
  const forgetOldest = () => {
    for (const [hash, shard] of known) {
      if (pages <= KNOWN_PAGES || known.size === 1) return;
      known.delete(hash);
      pages -= shard.pages.size;
    }
  };
  return ({ header, folder }, onLost) => {
    const lost = new Set<string>();
    const findList = (name: string): Shard | undefined => {
      const hash = header.shards[name];
      if (hash === undefined || lost.has(name)) return undefined;
      const shard = known.get(hash) ?? findShard(join(folder, name), hash);
      if (!shard) {
        lost.add(name);
        onLost(name);
        return undefined;
      }
      if (known.delete(hash) === false) pages += shard.pages.size;
      known.set(hash, shard);
      forgetOldest();
      return shard;
    };
    return { get: (path) => findList(getShardName(path))?.pages.get(path) };
  };
}
