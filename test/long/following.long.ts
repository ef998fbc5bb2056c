import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom, createSyntheticCatalogue } from '../../scripts/bench/synthetic.ts';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { openPublished, type Published } from '../../src/published/file.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { listPublishedFaults } from '../../src/published/integrity.ts';
import { getPublishedState } from '../../src/published/state.ts';
import { makeFolder } from '../builders.ts';
import { SITE } from '../site.ts';

const BY = 'campaign';
const FOLLOWER = fileURLToPath(new URL('./following/follower.ts', import.meta.url));

/** `FOLLOWING_SECONDS` makes it shorter. */
const SECONDS = Number(process.env.FOLLOWING_SECONDS ?? 120);
const LISTINGS = 500;

/** Lists what does not fit together in a published file at one moment. */
function listContradictions(published: Published): string[] {
  const count = (sql: string) => (published.sqlite.prepare(sql).pluck().get() as number | null) ?? 0;
  return published.sqlite.transaction(() => {
    const { revision } = getPublishedState(published);
    const live = count("SELECT count(*) FROM listings WHERE state = 'live'");
    const pairs = {
      'live listings have a short form': [live, count('SELECT count(*) FROM items')],
      'live listings have their answer': [live, count('SELECT count(*) FROM answers')],
      'live listings are counted': [live, count("SELECT sum(listings) FROM counts WHERE network = '' AND proved = 0")],
      'live listings are indexed': [live, count('SELECT count(*) FROM search_entries')],
      'live listings have their routes': [
        count('SELECT total(routes) FROM listings'),
        // Routes set aside have rows and do not count.
        count("SELECT count(*) FROM routes WHERE json_extract(document, '$.set_aside') IS NULL"),
      ],
      'the log ends at the revision': [revision, count('SELECT max(revision) FROM changes')],
      'no listing is newer': [0, count(`SELECT count(*) FROM listings WHERE revision > ${revision}`)],
      'words are known': [
        0,
        count('SELECT count(*) FROM latest_changes l LEFT JOIN changes c USING (seq) WHERE c.seq IS NULL'),
      ],
    };
    return Object.entries(pairs).flatMap(([name, [one, other]]) =>
      one === other ? [] : [`at revision ${revision}: ${name}: ${one} and ${other}`],
    );
  })();
}

it(`three processes follow into one file for ${SECONDS} seconds, are killed at any moment, and every state of it is whole`, async () => {
  const folder = makeFolder();
  const [catalogueAddress, publishedFile] = [join(folder, 'catalogue.sqlite'), join(folder, 'published.sqlite')];
  await (await createSyntheticCatalogue(catalogueAddress, LISTINGS)).close();
  await publishCatalogue({ catalogueAddress, publishedFile, baseUrl: SITE.baseUrl }, BY);
  const random = createRandom(Date.now() % 1_000_000);

  const said: string[] = [];
  const start = (): ChildProcess => {
    const child = fork(FOLLOWER, [catalogueAddress, publishedFile], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => said.push(text));
    return child;
  };
  const followers = [start(), start(), start()];
  onTestFinished(() => {
    for (const child of followers) child.kill('SIGKILL');
  });

  const ended = { writing: false };
  const write = async () => {
    while (!ended.writing) {
      const writer = new Worker(new URL('../http/busy-writer.ts', import.meta.url), {
        workerData: { file: catalogueAddress },
      });
      await once(writer, 'exit');
    }
  };
  const writing = write();

  const contradictions: string[] = [];
  const [revisions, kills] = [new Set<number>(), { count: 0, deletions: 0 }];
  let published = openPublished(publishedFile);
  const until = Date.now() + SECONDS * 1000;
  // A follower needs some seconds to begin: those killed sooner would follow nothing.
  let nextKill = 0;
  let nextDeletion = Date.now() + 25_000;
  while (Date.now() < until) {
    contradictions.push(...listContradictions(published));
    revisions.add(getPublishedState(published).revision);
    await sleep(5 + random() * 40);
    if (Date.now() > nextKill) {
      const at = Math.floor(random() * followers.length);
      followers[at]?.kill('SIGKILL');
      followers[at] = start();
      kills.count += 1;
      nextKill = Date.now() + random() * 6000;
    }
    if (Date.now() > nextDeletion) {
      // The file is removed while they follow: all are stopped, as whoever removes it does not know who has it open.
      for (const child of followers) child.kill('SIGKILL');
      published.close();
      for (const ending of ['', '-wal', '-shm']) rmSync(publishedFile + ending, { force: true });
      followers.splice(0, followers.length, start(), start(), start());
      kills.deletions += 1;
      nextDeletion = Date.now() + 25_000;
      for (;;) {
        try {
          published = openPublished(publishedFile);
          break;
        } catch {
          await sleep(20);
        }
      }
    }
  }
  ended.writing = true;
  await writing;
  console.info({ ...kills, revisions_seen: revisions.size, contradictions: contradictions.length });
  expect(contradictions.slice(0, 5)).toEqual([]);
  expect(said).toEqual([]);
  // Followers that never live long enough to follow would show one revision for each file.
  expect(revisions.size).toBeGreaterThan(SECONDS / 2);

  const catalogue = await openCatalogueForReading(catalogueAddress);
  const wanted = catalogue.engine.sqlite.prepare('SELECT revision FROM catalogue').pluck().get();
  while (getPublishedState(published).revision !== wanted) await sleep(20);
  expect(await listPublishedFaults(catalogue, published, BY)).toEqual([]);
  published.close();
  await catalogue.close();
});
