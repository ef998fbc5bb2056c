import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { Catalogue } from '../src/catalogue/database.ts';
import { openFollowed } from '../src/catalogue/delta.ts';
import { openFollower } from '../src/published/follow.ts';
import { openReading, type Reading } from '../src/published/reading.ts';
import type { Site } from '../src/views/site.ts';
import { SITE } from './site.ts';

let opened = 0;

/** What was published of a catalogue, by the hash of its bytes: many tests begin with copies of one. */
const published = new LRUCache<string, Buffer>({ max: 20 });

/** A reading that tests close. */
export interface TestReading extends Reading {
  /** Brings it up to date with what others wrote to the catalogue. */
  catchUp(): Promise<void>;
  close(): void;
}

/** Opens a reading of a catalogue, from a published file of its own that follows each write to the catalogue that is given. */
export async function openTestReading(
  catalogue: Pick<Catalogue, 'address'> & Partial<Pick<Catalogue, 'engine'>>,
  { site = SITE, now }: { site?: Site; now?: () => Date } = {},
): Promise<TestReading> {
  const { address, engine } = catalogue;
  opened += 1;
  const file = `${address}.${opened}.published`;
  const key = `${hashCatalogue(address)} ${site.baseUrl}`;
  const known = published.get(key);
  if (known) writeFileSync(file, known);
  const followed = await openFollowed(address);
  const follower = openFollower({ catalogueAddress: address, publishedFile: file, baseUrl: site.baseUrl }, 'test');
  const catchUp = async () => follower.follow(followed, await followed.readState());
  await catchUp();
  if (!known) published.set(key, readFileSync(file));
  const reading = openReading(file, site, now && { now });
  const queue = engine?.queue;
  const follow: NonNullable<typeof queue> = async (write) => {
    const result = await queue?.(write);
    await catchUp();
    return result as never;
  };
  if (engine) engine.queue = follow;
  return {
    ...reading,
    catchUp,
    close: () => {
      if (engine?.queue === follow && queue) engine.queue = queue;
      reading.published.close();
      void follower.close();
      void followed.close();
    },
  };
}

function hashCatalogue(file: string): string {
  const hash = createHash('sha1').update(readFileSync(file));
  if (existsSync(`${file}-wal`)) hash.update(readFileSync(`${file}-wal`));
  return hash.digest('base64');
}
