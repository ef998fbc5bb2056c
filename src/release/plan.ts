import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PageRef } from '../snapshot/pages.ts';
import type { Base } from './base.ts';
import { linkPage, type ReleasePage } from './release-pages.ts';
import type { EarlierPage, RenderJob } from './render-pages.ts';

/** What is left to do for a release: pages already linked, and the job of rendering the others. */
export interface ReleasePlan {
  readonly linked: readonly (readonly [path: string, page: ReleasePage])[];
  readonly job: RenderJob;
  /** The folders inside the release's, which now exist. */
  readonly folders: readonly string[];
}

/**
 * Makes the folders of a release and links every page that the base has under the same key. A file that the base turns
 * out to lack, or that is not what was rendered, is rendered like a new one.
 */
export function planRelease(refs: readonly PageRef[], folder: string, base: Base | undefined): ReleasePlan {
  const folders = [...new Set(refs.map(({ file }) => dirname(join(folder, file))))].filter((name) => name !== folder);
  for (const name of folders) mkdirSync(name, { recursive: true });
  const linked: [string, ReleasePage][] = [];
  const pages: PageRef[] = [];
  const earlier = new Map<string, EarlierPage>();
  for (const ref of refs) {
    const page = base?.pages.get(ref.path);
    const from = base && page && { page, path: join(base.folder, page.file) };
    const kept = from?.page.key === ref.key ? linkPage(from.path, join(folder, ref.file), from.page) : undefined;
    if (kept) {
      linked.push([ref.path, { ...kept, file: ref.file }]);
      continue;
    }
    pages.push(ref);
    if (from) earlier.set(ref.path, from);
  }
  return { linked, folders, job: { folder, pages, earlier, next: new SharedArrayBuffer(4) } };
}
