import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { HAS_POSTGRES, startPostgres } from '../../scripts/postgres.ts';
import { openCatalogue, openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { openPublished } from '../../src/published/file.ts';
import { startFollowing } from '../../src/published/live-file.ts';
import { getPublishedState } from '../../src/published/state.ts';
import { IDENTITY, makeFolder, NOW } from '../builders.ts';
import { SITE } from '../site.ts';

const WRITER = fileURLToPath(new URL('./writers/writer.ts', import.meta.url));
const WRITERS = 4;
const TURNS = 500;
/** Of five transactions one is broken off. */
const WRITTEN = (WRITERS * TURNS * 4) / 5;

/** How much later than its commit a revision may reach the published file while all write, in milliseconds. */
const LATE_MS = 2000;

it.each(['sqlite', ...(HAS_POSTGRES ? ['postgres'] : [])])(
  'four processes write 500 times each into %s, break off every fifth, and a follower keeps up',
  async (engine) => {
    const folder = makeFolder();
    const open = async () => {
      const server = await startPostgres();
      onTestFinished(() => server.close());
      return await server.createDatabase('written');
    };
    const catalogueAddress = engine === 'sqlite' ? join(folder, 'catalogue.sqlite') : await open();
    await (await openCatalogue(catalogueAddress, { identity: IDENTITY, at: NOW })).close();
    const publishedFile = join(folder, 'published.sqlite');
    const failures: unknown[] = [];
    const following = await startFollowing(
      { catalogueAddress, publishedFile, baseUrl: SITE.baseUrl },
      'test',
      (error) => failures.push(error),
    );
    const published = openPublished(publishedFile);
    const late: number[] = [];
    let isOver = false;
    const watch = async () => {
      for (let last = 0; !isOver; ) {
        await sleep(20);
        const { revision, revised_at } = getPublishedState(published);
        if (revision > last) late.push(Date.now() - Date.parse(revised_at));
        last = revision;
      }
    };
    const watching = watch();
    const revisions = await Promise.all(
      Array.from({ length: WRITERS }, async (_, name) => {
        const writer = fork(WRITER, [catalogueAddress, String(name), String(TURNS)], { execArgv: [] });
        onTestFinished(() => {
          writer.kill('SIGKILL');
        });
        const [written] = (await once(writer, 'message')) as [number[]];
        return written;
      }),
    );
    while (getPublishedState(published).revision < WRITTEN) await sleep(5);
    isOver = true;
    await watching;
    console.info({ engine, states_seen: late.length, latest_ms: Math.max(...late) });
    expect(revisions.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: WRITTEN }, (_, at) => at + 1));
    const catalogue = await openCatalogueForReading(catalogueAddress);
    expect((await listListings(catalogue)).map(({ title }) => title)).toEqual(
      Array.from({ length: WRITERS }, () => `Edition ${TURNS - 1}`),
    );
    await catalogue.close();
    await following.close();
    published.close();
    expect(failures).toEqual([]);
    expect(Math.max(...late)).toBeLessThan(LATE_MS);
  },
);
