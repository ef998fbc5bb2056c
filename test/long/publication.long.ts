import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createSyntheticCatalogue } from '../../scripts/bench/synthetic.ts';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listPublishedFaults } from '../../src/published/compare.ts';
import { openPublished } from '../../src/published/file.ts';
import { findMakingOf, forgetWrites, listWritten, noteWrites, publishInProcess } from '../published/killed.ts';

/** `PUBLICATION_LISTINGS` makes it shorter. */
const LISTINGS = Number(process.env.PUBLICATION_LISTINGS ?? 100_000);
const KILLS = 10;

/** Bounds in bytes: of all that a publication needs on the disk, for each listing, and of the journal in it. */
const MOST = { listing: 20_000, journal: 64_000_000 };

it(`a publication of ${LISTINGS} listings that is killed ${KILLS} times writes each once, and needs little room`, async () => {
  // Too large for a folder in memory.
  const folder = mkdtempSync(join(tmpdir(), 'publication-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [catalogueAddress, publishedFile] = [join(folder, 'catalogue.sqlite'), join(folder, 'published.sqlite')];
  const files = { catalogueAddress, publishedFile };
  await (await createSyntheticCatalogue(catalogueAddress, LISTINGS)).close();

  const done: number[] = [];
  const getDone = () => findMakingOf(publishedFile)?.done ?? 0;
  let last = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const until = async (ended: AbortSignal) => {
      while (!ended.aborted && getDone() <= (LISTINGS * kill) / KILLS) await sleep(20);
      await sleep(Math.random() * 500);
    };
    await publishInProcess(files, { codeVersion: 'campaign', until });
    done.push(getDone());
    if (kill > 0) continue;
    last = findMakingOf(publishedFile)?.last ?? 0;
    noteWrites(publishedFile);
  }
  const rest = await publishInProcess(files, { codeVersion: 'campaign' });
  const written = listWritten(publishedFile);
  expect(new Set(written).size).toBe(written.length);
  expect(written).toHaveLength(LISTINGS - last);
  forgetWrites(publishedFile);

  const catalogue = await openCatalogueForReading(catalogueAddress);
  const published = openPublished(publishedFile);
  expect(await listPublishedFaults(catalogue, published, 'campaign')).toEqual([]);
  published.close();
  await catalogue.close();

  // Once more without a kill, for the figures, and then by other code.
  const once = { catalogueAddress, publishedFile: join(folder, 'once.sqlite') };
  const first = await publishInProcess(once, { codeVersion: 'campaign' });
  const bytes = statSync(once.publishedFile).size;
  const again = await publishInProcess(once, { codeVersion: 'other code' });
  console.info({
    done_at_kills: done,
    rest,
    first,
    file_mb: bytes / 1e6,
    again,
    after_mb: statSync(once.publishedFile).size / 1e6,
  });
  const journal = Math.max(first?.journal_mb ?? 0, again?.journal_mb ?? 0) * 1e6;
  expect(journal).toBeLessThan(MOST.journal);
  expect(bytes + journal).toBeLessThan(MOST.listing * LISTINGS);
}, 3_600_000);
