import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { CATEGORIES } from '../../src/model/catalogue.ts';
import { getHash } from '../../src/published/hash.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { type Build, findBuild, findRecord, type RecordedPage } from '../../src/site/record.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { makeDeclaration } from '../records.ts';
import { recordDeclaration } from '../written.ts';

/** A catalogue in a folder, the settings that name it, and ways to write to it. Times of writes go up second by second. */
export interface SiteFixture {
  readonly config: Config;
  readonly catalogue: Catalogue;
  /** Records a listing `api-<n>` whose title and tagline say which one and which edition it is. */
  put(numbers: readonly number[], edition: string): Promise<void>;
  /** The pages that were written, by path. */
  readPages(): ReadonlyMap<string, RecordedPage>;
  /** A file of the site folder. */
  read(file: string): string;
}

const FIRST = Date.parse('2026-11-20T12:00:00.000Z');

/** The settings of a service in a folder, without a limit of requests. */
export function makeConfig(folder: string, settings: Record<string, string> = {}): Config {
  return readConfig({
    CATALOGUE: join(folder, 'catalogue.sqlite'),
    SITE: join(folder, 'site'),
    BASE_URL: 'http://catalogue.example',
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: '0',
    ...settings,
  });
}

export async function makeSiteFixture(
  folder: string,
  { count = 8, identity = 'fixture', settings = {} as Record<string, string> } = {},
): Promise<SiteFixture> {
  const config = makeConfig(folder, settings);
  // One that was made before has been opened and written to once.
  let writes = existsSync(config.catalogueAddress) ? 2 : 0;
  const getTime = () => {
    writes += 1;
    return new Date(FIRST + writes * 1000).toISOString();
  };
  const catalogue = await openNewCatalogue(config.catalogueAddress, { identity, at: getTime() });
  const put = (numbers: readonly number[], edition: string) =>
    writeCatalogue(catalogue, getTime(), async (writing) => {
      for (const number of numbers) await recordDeclaration(writing, buildListing(number, edition));
    });
  if (count > 0)
    await put(
      Array.from({ length: count }, (_, number) => number),
      'first',
    );
  return {
    config,
    catalogue,
    put,
    readPages: () => readPages(config.siteDir),
    read: (file) => readFileSync(join(config.siteDir, file), 'utf8'),
  };
}

/** Listings differ in nothing but their category, so that those of one category are the related ones. */
export function buildListing(number: number, edition: string) {
  return makeDeclaration({
    base_url: `https://api-${number}.example-provider.com`,
    slug: `api-${number}`,
    title: `Title${number} ${edition}`,
    tagline: `Tagline ${edition} of ${number}.`,
    provider_name: `Provider ${number}`,
    category: CATEGORIES[number % CATEGORIES.length] ?? 'Tools',
  });
}

function readPages(siteDir: string): ReadonlyMap<string, RecordedPage> {
  const record = findRecord(getSitePaths(siteDir).record);
  const pages = record?.listPages() ?? [];
  record?.close();
  return new Map(pages.map((page) => [page.path, page]));
}

/** Finds what all pages of a site folder were last made from. */
export function findDone({ siteDir }: Pick<Config, 'siteDir'>): Build | undefined {
  return findBuild(getSitePaths(siteDir).record, 'done');
}

/** Gives the hash of each file of a site folder, and the revision that all pages were last made from. */
export function getContent({ siteDir }: Pick<Config, 'siteDir'>) {
  const files = readdirSync(siteDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const hashes = files.map(({ parentPath, name }): [string, string] => {
    const file = join(parentPath, name);
    return [relative(siteDir, file), getHash(readFileSync(file))];
  });
  return { revision: findDone({ siteDir })?.revision, files: Object.fromEntries(hashes.sort()) };
}
