import type { Logger } from 'pino';
import { getCodeVersion } from '../release/code-version.ts';
import { getHash } from '../release/hash.ts';
import { findPageCode, type PageCode, recordUse } from '../release/page-code.ts';
import { loadPageCode, type RenderPage } from '../release/rendering.ts';
import type { Reading } from '../snapshot/reading.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { createForms } from './content.ts';
import type { CurrentRelease } from './current-release.ts';
import type { Page } from './page-files.ts';

/** How many rendered pages are kept; all go when the catalogue moves. */
const KEPT_PAGES = 500;

/** How often compiled pages are marked as still in use: their modules are loaded one by one, when first needed. */
const STILL_IN_USE_MS = 6 * 60 * 60 * 1000;

/** Renders pages that no release has, or whose release is out of date. */
export interface OnDemand {
  /**
   * Undefined where there is no such page, or no compiled pages yet (`isReady` tells). A path with a query is rendered each
   * time and not kept: there is no end of queries.
   */
  find(path: string): Promise<Page | undefined>;
  /** Is to be asked soon after the start: reading all sources for their version takes time that the start has not. */
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
  logger,
}: {
  reading: Reading;
  current: CurrentRelease;
  logger: Logger;
}): OnDemand {
  let ownVersion: string | undefined;
  const found = new Map<string, PageCode>();
  const renderers = new Map<string, Promise<RenderPage>>();
  const told = new Set<string>();
  const inUse = new Set<PageCode>();
  const timer = setInterval(() => {
    for (const code of inUse) recordUse(code);
  }, STILL_IN_USE_MS).unref();
  let kept: { snapshot: Snapshot; pages: Map<string, Page> } | undefined;

  /** Looked at file by file when first wanted, and then no more. */
  const findVersion = (version: string): PageCode | undefined => {
    const code = found.get(version) ?? findPageCode(version);
    if (code) found.set(version, code);
    return code;
  };

  const findCode = (): PageCode | undefined => {
    ownVersion ??= getCodeVersion();
    told.add(ownVersion);
    const released = current.find()?.header.code_version;
    if (released !== undefined && !told.has(released)) {
      told.add(released);
      logger.warn({ running: ownVersion, release: released }, 'the release was made by other code: a restart is due');
    }
    return findVersion(ownVersion) ?? (released === undefined ? undefined : findVersion(released));
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
      const snapshot = reading.getSnapshot();
      if (kept?.snapshot !== snapshot) kept = { snapshot, pages: new Map() };
      const { pages } = kept;
      const known = pages.get(path);
      if (known) return known;
      const code = findCode();
      if (!code) return undefined;
      const rendered = await (await load(code))(path, reading);
      if (!rendered || rendered.body.length === 0 || (rendered.status >= 300 && rendered.status < 400))
        return undefined;
      const { status, type, body } = rendered;
      const page = { status, type, content: { hash: getHash(body), body, forms: createForms() } };
      if (status < 500 && pages.size < KEPT_PAGES && !path.includes('?')) pages.set(path, page);
      return page;
    },
  };
}
