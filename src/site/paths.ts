import { join } from 'node:path';

/** The folder of hashed assets, in the compiled pages and in the site folder: what the pages load from `/_astro/`. */
export const ASSETS_FOLDER = '_astro';

/** Returns the paths of a site folder, and of the files beside it, which are not served. */
export function getSitePaths(siteDir: string) {
  return {
    folder: siteDir,
    /** Pages that are not in place yet. The folder is on the same file system, so that they can be renamed. */
    unfinished: join(siteDir, '.new'),
    /** The record of the pages, see `record.ts`. */
    record: `${siteDir}.sqlite`,
    /** The copy of the published catalogue for download. */
    download: `${siteDir}.download`,
    /** Pictures of links that were requested. */
    pictures: `${siteDir}.pictures`,
    lock: `${siteDir}.lock`,
  } as const;
}
