import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Reading } from '../published/reading.ts';
import { ASSETS_FOLDER } from '../site/paths.ts';
import { openPageRenderer, type RenderedPage } from '../site/rendering.ts';
import { PATHS } from '../views/links.ts';

/** Path of an asset: its name has no slash and does not begin with a dot. */
const ASSET = new RegExp(`^/${ASSETS_FOLDER}/([\\w-][\\w.-]{0,100})$`);

/** Renders pages that the site folder does not have. */
export interface OnDemand {
  /** Renders the page at a path with its query. Undefined if there is no such page, or no compiled code. Throws if it fails. */
  find(path: string): Promise<RenderedPage | undefined>;
  /** Finds the file of an asset of these pages by its path. */
  findAsset(path: string): string | undefined;
  /** Returns true if there are compiled pages to render with. */
  isReady(): boolean;
}

/** Opens the rendering of pages on demand, with the compiled pages of this process's code version, once they exist. */
export function openOnDemand({ reading, codeVersion }: { reading: Reading; codeVersion: string }): OnDemand {
  // Several renderings at once would run their steps without a pause in which other requests are answered.
  const inTurn = pLimit(1);
  const { findCode, load } = openPageRenderer(codeVersion);
  return {
    isReady: () => findCode() !== undefined,
    findAsset(path) {
      const name = ASSET.exec(path)?.[1];
      const { clientDir } = findCode() ?? {};
      return name && clientDir && join(clientDir, ASSETS_FOLDER, name);
    },
    async find(path) {
      reading.refresh();
      const render = await load();
      const page = render && (await inTurn(() => render(path, reading)));
      if (!page || page.body.length === 0 || (page.status >= 300 && page.status < 400)) return undefined;
      if (page.status === 404 && path.split('?')[0] !== PATHS.notFound) return undefined;
      if (page.status < 500) return page;
      throw new Error(`The page ${path.split('?')[0]} cannot be rendered (status ${page.status}).`);
    },
  };
}
