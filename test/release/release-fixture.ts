import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclaration } from '../../src/catalogue/write/declarations.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { CATEGORIES } from '../../src/model/catalogue.ts';
import { findCurrentRelease } from '../../src/release/release.ts';
import { findReleasePages } from '../../src/release/release-pages.ts';
import type { ReleasePage } from '../../src/release/shards.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { makeDeclaration } from '../records.ts';

/** A catalogue in a folder, the settings that name it, and ways to write to it. Times of writes go up second by second. */
export interface ReleaseFixture {
  readonly config: Config;
  readonly catalogue: Catalogue;
  /** Records a listing `api-<n>` whose title and tagline say which one and which edition it is. */
  put(numbers: readonly number[], edition: string): Promise<void>;
  /** The pages of the current release. */
  readPages(): ReadonlyMap<string, ReleasePage>;
  /** A file of the current release. */
  read(file: string): string;
}

const FIRST = Date.parse('2026-11-20T12:00:00.000Z');

/** The settings of a service in a folder, without a limit of requests. */
export function makeConfig(folder: string, settings: Record<string, string> = {}): Config {
  return readConfig({
    CATALOGUE: join(folder, 'catalogue.sqlite'),
    RELEASES: join(folder, 'dist'),
    BASE_URL: 'http://catalogue.example',
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: '0',
    ...settings,
  });
}

export async function makeReleaseFixture(
  folder: string,
  { count = 8, identity = 'fixture', settings = {} as Record<string, string> } = {},
): Promise<ReleaseFixture> {
  const config = makeConfig(folder, settings);
  let writes = 0;
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
  const current = join(config.releasesDir, 'current');
  return {
    config,
    catalogue,
    put,
    readPages: () => readPages(config.releasesDir),
    read: (file) => readFileSync(join(current, file), 'utf8'),
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

function readPages(releasesDir: string): ReadonlyMap<string, ReleasePage> {
  const release = findCurrentRelease(releasesDir);
  const pages = release && findReleasePages(release);
  if (!pages) throw new Error('no release');
  return new Map(pages);
}

/** Gives the hash of each page by path, and of what the current release in a folder was made. */
export function getContent({ releasesDir }: Pick<Config, 'releasesDir'>) {
  const header = findCurrentRelease(releasesDir)?.header;
  return {
    revision: header?.revision,
    pages: Object.fromEntries([...readPages(releasesDir)].map(([path, { hash }]) => [path, hash])),
  };
}

/** The names in the releases folder, hidden ones too. */
export function listReleaseFolders({ config }: ReleaseFixture): string[] {
  return readdirSync(join(config.releasesDir, 'releases')).sort();
}
