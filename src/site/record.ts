import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { findFileNumber, isDamage, removeSqliteFiles } from '../catalogue/sqlite-file.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import type { Published } from '../published/file.ts';
import { findRevisionTime, getPublishedState } from '../published/state.ts';
import type { Site } from '../views/site.ts';
import { FORMS } from './forms.ts';
import { ASSETS_FOLDER } from './paths.ts';
import { getSettingsHash } from './settings.ts';

/** Version of the tables. Raise it with each change of them; a record of another version is made again. */
const VERSION = 1;

const SCHEMA = `
  CREATE TABLE builds (
    step TEXT PRIMARY KEY CHECK (step IN ('begun', 'done')),
    identity TEXT NOT NULL,
    revision INTEGER NOT NULL,
    revised_at TEXT NOT NULL,
    code_version TEXT NOT NULL,
    settings_hash TEXT NOT NULL,
    at TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE pages (
    path TEXT PRIMARY KEY,
    file TEXT NOT NULL,
    key TEXT NOT NULL,
    etag TEXT NOT NULL
  ) WITHOUT ROWID;
`;

/** The input that pages are made from. */
export interface MadeFrom {
  /** The identity of the catalogue, its revision, and the time of that revision. */
  readonly identity: string;
  readonly revision: number;
  readonly revised_at: string;
  /** Version of the code that renders the pages. */
  readonly code_version: string;
  /** Hash of the page-visible settings. */
  readonly settings_hash: string;
}

/** A rebuild of the site folder. */
export interface Build extends MadeFrom {
  /** Time when it began, or was done. */
  readonly at: string;
}

/** The latest rebuild that began, or the latest after which every page was of one state. */
export type Step = 'begun' | 'done';

/** A page in the site folder, or an asset that pages load. */
export interface RecordedPage {
  /** Path from the base address: `/api/x`. */
  readonly path: string;
  /** File in the site folder: `api/x.html`. */
  readonly file: string;
  /**
   * Key of the page's content: same key, same page. Empty while the page is being replaced. For an asset, the time of its last
   * use.
   */
  readonly key: string;
  /** Hash of its uncompressed bytes. Empty while it is being replaced. */
  readonly etag: string;
}

/**
 * The record of a site folder: what was written into it, and from which input. It lies beside the folder, and is the only source
 * for this.
 */
export interface SiteRecord {
  findBuild(step: Step): Build | undefined;
  writeBuild(step: Step, build: Build): void;
  listPages(): RecordedPage[];
  listAssets(): RecordedPage[];
  findPage(path: string): RecordedPage | undefined;
  writePages(pages: readonly RecordedPage[]): void;
  forgetPages(pages: readonly RecordedPage[]): void;
  close(): void;
}

/** Opens the record of a site folder for writing. A damaged record, or one of another version, is made again. */
export function openRecord(file: string): SiteRecord {
  mkdirSync(dirname(file), { recursive: true });
  const known = findSound(file);
  if (known) return buildRecord(known);
  removeSqliteFiles(file);
  const sqlite = new Sqlite(file);
  // With a WAL, readers never wait for a rebuild, which has a low priority.
  sqlite.pragma('journal_mode = WAL');
  sqlite.transaction(() => {
    sqlite.exec(SCHEMA);
    sqlite.pragma(`user_version = ${VERSION}`);
  })();
  return buildRecord(sqlite);
}

/** Opens the record of a site folder for reading. Returns undefined for a folder without a record and for a record of another version. Throws if the record cannot be read. */
export function findRecord(file: string): SiteRecord | undefined {
  const sqlite = findDatabase(file, true);
  return sqlite && buildRecord(sqlite);
}

/** Finds a build of a site folder: see `Step`. */
export function findBuild(file: string, step: Step): Build | undefined {
  const record = findRecord(file);
  try {
    return record?.findBuild(step);
  } finally {
    record?.close();
  }
}

/** Follows the record of a site folder, which may not exist yet, or be replaced. */
export function followRecord(file: string): { find(): SiteRecord | undefined; close(): void } {
  let opened: { record: SiteRecord; number: string | undefined } | undefined;
  const close = () => {
    opened?.record.close();
    opened = undefined;
  };
  return {
    close,
    find() {
      const number = findFileNumber(file);
      if (opened && opened.number === number) return opened.record;
      close();
      const record = number === undefined ? undefined : findRecord(file);
      if (record) opened = { record, number };
      return record;
    },
  };
}

/** Finds a record that is not damaged. */
function findSound(file: string): Database | undefined {
  let sqlite: Database | undefined;
  try {
    sqlite = findDatabase(file, false);
    if (sqlite?.pragma('quick_check', { simple: true }) === 'ok') return sqlite;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  sqlite?.close();
  return undefined;
}

function findDatabase(file: string, readonly: boolean): Database | undefined {
  if (findFileNumber(file) === undefined) return undefined;
  const sqlite = new Sqlite(file, { readonly, fileMustExist: true });
  try {
    if (sqlite.pragma('user_version', { simple: true }) === VERSION) return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
  sqlite.close();
  return undefined;
}

function buildRecord(sqlite: Database): SiteRecord {
  const facts = 'identity, revision, revised_at, code_version, settings_hash, at';
  const build = sqlite.prepare<[Step], Build>(`SELECT ${facts} FROM builds WHERE step = ?`);
  const list = (not: 'NOT' | '') =>
    sqlite
      .prepare<[], RecordedPage>(`SELECT path, file, key, etag FROM pages WHERE path ${not} GLOB '/${ASSETS_FOLDER}/*'`)
      .all();
  const one = sqlite.prepare<[string], RecordedPage>('SELECT path, file, key, etag FROM pages WHERE path = ?');
  return {
    findBuild: (step) => build.get(step),
    findPage: (path) => one.get(path),
    listPages: () => list('NOT'),
    listAssets: () => list(''),
    writeBuild(step, { identity, revision, revised_at, code_version, settings_hash, at }) {
      sqlite
        .prepare(`INSERT OR REPLACE INTO builds (step, ${facts}) VALUES (?, ?, ?, ?, ?, ?, ?)`)
        .run(step, identity, revision, revised_at, code_version, settings_hash, at);
    },
    writePages(pages) {
      const insert = sqlite.prepare('INSERT OR REPLACE INTO pages (path, file, key, etag) VALUES (?, ?, ?, ?)');
      sqlite.transaction(() => {
        for (const { path, file, key, etag } of pages) insert.run(path, file, key, etag);
      })();
    },
    forgetPages(pages) {
      const remove = sqlite.prepare('DELETE FROM pages WHERE path = ?');
      sqlite.transaction(() => {
        for (const { path } of pages) remove.run(path);
      })();
    },
    close: () => sqlite.close(),
  };
}

/** Removes pages from a site folder, and then from its record. Files that are not recorded stay. */
export function removePages(
  { folder, record }: { folder: string; record: SiteRecord },
  pages: readonly RecordedPage[],
): void {
  for (const { file } of pages)
    for (const ending of ['', ...FORMS.map((form) => `.${form}`)]) rmSync(join(folder, file + ending), { force: true });
  record.forgetPages(pages);
}

/** Returns true if pages were made from exactly this input, so that making them again would change nothing. */
export function isMadeFrom(build: MadeFrom, madeFrom: MadeFrom): boolean {
  return (
    isOfSite(build, madeFrom) &&
    build.code_version === madeFrom.code_version &&
    build.revision === madeFrom.revision &&
    build.revised_at === madeFrom.revised_at
  );
}

/** Returns true if pages are of the same catalogue and the same settings, whatever the revision and the code. */
export function isOfSite(
  build: Pick<MadeFrom, 'identity' | 'settings_hash'>,
  { identity, settings_hash }: Pick<MadeFrom, 'identity' | 'settings_hash'>,
): boolean {
  return build.identity === identity && build.settings_hash === settings_hash;
}

/**
 * Returns true if pages may be served beside a published catalogue: they are of this catalogue and these settings, by whatever
 * code, and of a state that the catalogue has been in. After a restore from a backup, a revision of the same number may be
 * another one, with another time.
 */
export function isServable(build: Build, published: Published, settingsHash: string): boolean {
  const { identity } = getPublishedState(published);
  if (!isOfSite(build, { identity, settings_hash: settingsHash })) return false;
  return build.revision === 0 || findRevisionTime(published, build.revision) === build.revised_at;
}

/** Returns the input of the pages for a state of the catalogue, the settings of a site and a code version. */
export function getMadeFrom(
  { identity, revision, revised_at }: CatalogueState,
  site: Site,
  codeVersion: string,
): MadeFrom {
  return { identity, revision, revised_at, code_version: codeVersion, settings_hash: getSettingsHash(site) };
}
