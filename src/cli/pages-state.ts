import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage } from '../catalogue/sqlite-file.ts';
import type { Config } from '../config.ts';
import { listPages } from '../published/pages.ts';
import type { Reading } from '../published/reading.ts';
import { getCodeVersion } from '../site/page-code.ts';
import { getSitePaths } from '../site/paths.ts';
import { type Build, findRecord, isMadeFrom, type SiteRecord } from '../site/record.ts';
import { getSettingsHash, getSite } from '../site/settings.ts';

/** State of the pages in the site folder. */
export interface PagesState {
  revision: number | null;
  made_at: string | null;
  /** Reasons why they are not current; empty if they are. */
  behind: (
    | 'no_pages'
    | 'damaged_record'
    | 'being_written'
    | 'lost_pages'
    | 'other_catalogue'
    | 'older_revision'
    | 'other_code'
    | 'other_settings'
    | 'other_pages'
  )[];
}

/**
 * Compares the pages in the site folder with today's catalogue, code and settings, their files with their record, and what they
 * show with a published catalogue if one is given.
 */
export function getPagesState(
  config: Config,
  catalogue: { identity: string; revision: number },
  reading?: Reading,
): PagesState {
  const { record: file, folder } = getSitePaths(config.siteDir);
  let record: SiteRecord | undefined;
  try {
    record = findRecord(file);
    const done = record?.findBuild('done');
    if (!record || !done) return { revision: null, made_at: null, behind: ['no_pages'] };
    const { identity, revision, at, code_version, settings_hash } = done;
    const behind: PagesState['behind'] = [];
    if (isBeingWritten(record, done)) behind.push('being_written');
    if (identity !== catalogue.identity) behind.push('other_catalogue');
    else if (revision < catalogue.revision) behind.push('older_revision');
    if (code_version !== getCodeVersion()) behind.push('other_code');
    if (settings_hash !== getSettingsHash(getSite(config))) behind.push('other_settings');
    const files = [...record.listPages(), ...record.listAssets()];
    if (!files.every((page) => existsSync(join(folder, page.file)))) behind.push('lost_pages');
    if (reading && behind.length === 0 && !hasPagesOf(record, done, reading)) behind.push('other_pages');
    return { revision, made_at: at, behind };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { revision: null, made_at: null, behind: ['damaged_record'] };
  } finally {
    record?.close();
  }
}

/** Returns true if a rebuild has begun and not finished: it is running, or was interrupted. */
function isBeingWritten(record: SiteRecord, done: Build): boolean {
  const begun = record.findBuild('begun');
  return begun !== undefined && !isMadeFrom(begun, done);
}

/**
 * Returns true if the pages are those of the published catalogue, by the keys of their contents. Also returns true if the revisions
 * differ, since the pages cannot be compared then.
 */
function hasPagesOf(record: SiteRecord, done: Build, { published, readAtOnce }: Reading): boolean {
  return readAtOnce((snapshot) => {
    if (snapshot.revision !== done.revision) return true;
    const left = new Map(record.listPages().map(({ path, key }) => [path, key]));
    for (const { path, key } of listPages(published, snapshot)) {
      if (left.get(path) !== `${done.code_version} ${key}`) return false;
      left.delete(path);
    }
    return left.size === 0;
  });
}

const REASONS: Readonly<Record<PagesState['behind'][number], string>> = {
  no_pages: 'none yet',
  damaged_record: 'the record of them is damaged',
  being_written: 'they are being written, or that was interrupted',
  lost_pages: 'files of them are missing',
  other_catalogue: 'they were made from another catalogue',
  older_revision: 'the catalogue has changed since',
  other_code: 'they were made by another version of the code',
  other_settings: 'BASE_URL, title or contact have changed since',
  other_pages: 'they show something else than the published catalogue',
};

/** Describes whether the pages are current, and if not, why. */
export function describePagesState({ revision, behind }: PagesState): string {
  const why = behind.map((reason) => REASONS[reason]).join('; ');
  if (revision === null) return why;
  return `of revision ${revision}, ${why ? `not current: ${why}` : 'current'}`;
}
