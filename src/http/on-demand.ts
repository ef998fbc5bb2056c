import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Reading } from '../published/reading.ts';
import { findPageCode, type PageCode, recordUse } from '../release/page-code.ts';
import { loadPageCode, type RenderedPage, type RenderPage } from '../release/rendering.ts';
import type { CurrentRelease } from './current-release.ts';

/** Time between marks of compiled pages as still in use: their modules are loaded one by one, when first needed. */
const STILL_IN_USE_MS = 6 * 60 * 60 * 1000;

/** Renders pages that the current release does not have, and all pages while no release can be served. */
export interface OnDemand {
  /** Renders the page at a path, with its query. Undefined without such a page, or compiled code. Throws where it fails. */
  find(path: string): Promise<RenderedPage | undefined>;
  /** Says whether there are compiled pages to render by. */
  isReady(): boolean;
  close(): void;
}

/**
 * Opens the rendering of pages on demand. They are rendered by the pages of the code that this process runs, or, until
 * those are compiled, by those of the current release. A release made by newer code is served all the same, and what it
 * lacks is still rendered by this code: a restart is due, which is logged once for each version.
 */
export function openOnDemand({
  reading,
  current,
  codeVersion,
  logger,
}: {
  reading: Reading;
  current: CurrentRelease;
  /** Version of the code that this process runs. */
  codeVersion: string;
  logger: Logger;
}): OnDemand {
  // Pieces of renderings that are under way together would follow each other without a pause in which others are answered.
  const inTurn = pLimit(1);
  const found = new Map<string, PageCode>();
  const renderers = new Map<string, Promise<RenderPage>>();
  const logged = new Set([codeVersion]);
  const inUse = new Set<PageCode>();
  const timer = setInterval(() => {
    for (const code of inUse) recordUse(code);
  }, STILL_IN_USE_MS).unref();

  /** Looked at file by file when first wanted, and then no more. */
  const findVersion = (version: string): PageCode | undefined => {
    const code = found.get(version) ?? findPageCode(version);
    if (code) found.set(version, code);
    return code;
  };

  const findCode = (): PageCode | undefined => {
    const released = current.findHeader()?.code_version;
    if (released !== undefined && !logged.has(released)) {
      logged.add(released);
      logger.warn({ running: codeVersion, release: released }, 'the release was made by other code: a restart is due');
    }
    return findVersion(codeVersion) ?? (released === undefined ? undefined : findVersion(released));
  };

  const load = (code: PageCode): Promise<RenderPage> => {
    const known = renderers.get(code.version);
    if (known) return known;
    recordUse(code);
    inUse.add(code);
    const loading = loadPageCode(code);
    renderers.set(code.version, loading);
    loading.catch(() => {
      renderers.delete(code.version);
      found.delete(code.version);
    });
    return loading;
  };

  return {
    close: () => clearInterval(timer),
    isReady: () => findCode() !== undefined,
    async find(path) {
      const code = findCode();
      const page = code && (await inTurn(async () => (await load(code))(path, reading)));
      if (!page || page.body.length === 0 || (page.status >= 300 && page.status < 400)) return undefined;
      if (page.status < 500) return page;
      throw new Error(`The page ${path.split('?')[0]} cannot be rendered (status ${page.status}).`);
    },
  };
}
