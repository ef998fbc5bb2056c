import { mkdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { PageRef } from '../published/pages.ts';
import type { Base } from './base.ts';
import { isIntact, linkPage } from './release-pages.ts';
import type { EarlierPage } from './render-pages.ts';
import { getPlace, getShardName, type ReleasePage, type Shard } from './shards.ts';

/** What is left to do for a release: shards that stay, pages that were put into new ones, and those to be rendered. */
export interface ReleasePlan {
  /** Shards of the base that stay as they are, by name. */
  readonly kept: ReadonlyMap<string, Shard>;
  /** Names of the new shards; their folders exist. */
  readonly made: readonly string[];
  /** Pages of the base that are in the new shards already. */
  readonly linked: readonly (readonly [path: string, page: ReleasePage])[];
  readonly pages: readonly PageRef[];
  /** The versions that the base has of pages to be rendered, by path. */
  readonly earlier: ReadonlyMap<string, EarlierPage>;
}

/**
 * Keeps every shard of the base whose pages all have the same keys. The others are made again in `folder`, with links to
 * those pages that stay. A file that the base turns out to lack, or that is not what was rendered, is rendered
 * like a new one.
 */
export function planRelease(refs: readonly PageRef[], folder: string, base: Base | undefined): ReleasePlan {
  const kept = new Map<string, Shard>();
  const made: string[] = [];
  const linked: [string, ReleasePage][] = [];
  const pages: PageRef[] = [];
  const earlier = new Map<string, EarlierPage>();
  for (const [name, members] of Map.groupBy(refs, ({ path }) => getShardName(path))) {
    const shard = base?.pages.shards.get(name);
    if (base && shard && isSame(members, shard, join(base.folder, name))) {
      kept.set(name, shard);
      continue;
    }
    made.push(name);
    mkdirSync(join(folder, name), { recursive: true });
    for (const page of members) {
      const { path } = page;
      const before = shard?.pages.get(path);
      const from = base && before && { page: before, path: join(base.folder, before.file) };
      if (from && from.page.key === page.key) {
        const file = getPlace(path, page.file);
        const stays = linkPage(from.path, join(folder, file), from.page);
        if (stays) {
          linked.push([path, { ...stays, file }]);
          continue;
        }
      }
      pages.push(page);
      if (from) earlier.set(path, from);
    }
  }
  return { kept, made, linked, pages, earlier };
}

/** Says whether a shard has just these pages under these keys, and their files are what was rendered. */
function isSame(members: readonly PageRef[], { pages }: Shard, place: string): boolean {
  if (members.length !== pages.size) return false;
  // Each file is looked at, which takes a quarter longer by way of the link to the shard.
  const folder = realpathSync(place);
  return members.every(({ path, key }) => {
    const page = pages.get(path);
    return page?.key === key && isIntact(join(folder, basename(page.file)), page);
  });
}
