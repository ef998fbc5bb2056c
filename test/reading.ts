import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { Catalogue } from '../src/catalogue/database.ts';
import { openSqliteNews } from '../src/catalogue/sqlite-news.ts';
import { openPublishedForWriting } from '../src/published/file.ts';
import { followAtOnce } from '../src/published/follow.ts';
import { openReading, type Reading } from '../src/published/reading.ts';
import type { Site } from '../src/views/site.ts';
import { SITE } from './site.ts';

let opened = 0;

/** What was published of a catalogue, by the hash of its bytes: many tests begin with copies of one. */
const published = new LRUCache<string, Buffer>({ max: 20 });

/** Opens a reading of a catalogue, from a published file of its own that is brought up to date whenever it is read. */
export function openTestReading(
  { address }: Pick<Catalogue, 'address'>,
  { site = SITE, now }: { site?: Site; now?: () => Date } = {},
): Reading & { close(): void } {
  opened += 1;
  const file = `${address}.${opened}.published`;
  const hash = hashCatalogue(address);
  const known = published.get(hash);
  if (known) writeFileSync(file, known);
  const source = openSqliteNews(address);
  const writer = openPublishedForWriting(file);
  let seen: unknown;
  const refresh = () => {
    const version = source.getVersion();
    if (version === seen) return;
    followAtOnce(source, writer, seen === undefined ? 'test' : undefined);
    seen = version;
  };
  refresh();
  if (!known) published.set(hash, writer.sqlite.serialize());
  const reading = openReading(file, site, { refresh, ...(now && { now }) });
  return {
    ...reading,
    close: () => {
      reading.published.close();
      writer.close();
      void source.close();
    },
  };
}

function hashCatalogue(file: string): string {
  const hash = createHash('sha1').update(readFileSync(file));
  if (existsSync(`${file}-wal`)) hash.update(readFileSync(`${file}-wal`));
  return hash.digest('base64');
}
