import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSyntheticDeclaration, createSyntheticCatalogue } from '../../scripts/bench/synthetic.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { openNewsSource } from '../../src/catalogue/news-source.ts';
import { openPublishedForWriting } from '../../src/published/file.ts';
import { type FollowedFiles, followCatalogue, publishCatalogue } from '../../src/published/follow.ts';
import { makeFolder } from '../builders.ts';
import { findMakingOf, forgetWrites, listWritten, noteWrites, publishInProcess } from '../published/killed.ts';
import { readAll } from '../published/tables.ts';
import { SCRATCH } from '../scratch.ts';
import { declareListings } from '../written.ts';

const BY = 'test';
const LISTINGS = 1200;
const AT = '2026-11-01T01:00:00.000Z';

/** Made once, and copied for each test. */
const kept = mkdtempSync(join(SCRATCH, 'batches-'));
const original = join(kept, 'catalogue.sqlite');
beforeAll(async () => (await createSyntheticCatalogue(original, LISTINGS)).close());
afterAll(() => rmSync(kept, { recursive: true, force: true }));

function copyCatalogue(): FollowedFiles {
  const folder = makeFolder();
  copyFileSync(original, join(folder, 'catalogue.sqlite'));
  return { catalogueAddress: join(folder, 'catalogue.sqlite'), publishedFile: join(folder, 'published.sqlite') };
}

/** What a file holds that is made in one piece, by nobody disturbed. */
async function readUndisturbed(files: FollowedFiles, by = BY): Promise<Record<string, unknown[]>> {
  const publishedFile = join(makeFolder(), 'published.sqlite');
  await publishCatalogue({ ...files, publishedFile }, by);
  return readAll(publishedFile);
}

/** Gives the listing of a number other words. */
async function change(files: FollowedFiles, number: number, tagline: string): Promise<void> {
  const catalogue = await openCatalogue(files.catalogueAddress, { identity: 'unused', at: AT });
  const declaration = buildSyntheticDeclaration(number - 1);
  const source = { ...declaration.source, observed_at: AT };
  await declareListings(catalogue, [{ ...declaration, source, tagline }], AT);
  await catalogue.close();
}

/** Follows until `batches` batches are written, as if it was ended by its operator then. */
async function followFor(
  files: FollowedFiles,
  { by = BY, batches, between }: { by?: string; batches?: number; between?: (count: number) => Promise<void> },
): Promise<void> {
  const source = await openNewsSource(files.catalogueAddress);
  const published = openPublishedForWriting(files.publishedFile);
  // Several write in one process here, and SQLite would wait without letting the other end.
  published.sqlite.pragma('busy_timeout = 0');
  const stopping = new AbortController();
  let count = 0;
  let beside: Promise<void> | undefined;
  const onBatch = () => {
    count += 1;
    beside ??= between?.(count);
    if (count === batches) stopping.abort();
  };
  try {
    await followCatalogue(source, published, by, { onBatch, signal: stopping.signal });
    await beside;
  } finally {
    published.close();
    await source.close();
  }
}

describe('a first copy', () => {
  it('that is killed goes on where it was, and is in the end what one is that nobody disturbed', async () => {
    const files = copyCatalogue();
    const { publishedFile } = files;
    for (let ms = 40; (findMakingOf(publishedFile)?.done ?? 0) === 0; ms *= 1.2)
      await publishInProcess(files, { codeVersion: BY, until: () => sleep(ms) });
    const { last } = findMakingOf(publishedFile) ?? { last: LISTINGS };
    noteWrites(publishedFile);
    await publishInProcess(files, { codeVersion: BY, until: () => sleep(Math.random() * 400) });
    // One that is done, and one that is not.
    await change(files, 1, 'Changed meanwhile');
    await change(files, LISTINGS, 'Changed meanwhile');
    for (let kills = 0; kills < 2; kills += 1)
      await publishInProcess(files, { codeVersion: BY, until: () => sleep(Math.random() * 400) });
    await publishInProcess(files, { codeVersion: BY });

    const written = listWritten(publishedFile).sort((a, b) => a - b);
    const copied = Array.from({ length: LISTINGS - last }, (_, at) => last + 1 + at);
    expect(written).toEqual([1, ...copied, LISTINGS]);
    forgetWrites(publishedFile);
    expect(readAll(publishedFile)).toEqual(await readUndisturbed(files));
  });

  it('of a catalogue that was replaced meanwhile is begun again', async () => {
    const files = copyCatalogue();
    await followFor(files, { batches: 2 });
    expect(findMakingOf(files.publishedFile)).toMatchObject({ first: 1, total: LISTINGS });
    rmSync(files.catalogueAddress);
    await (await createSyntheticCatalogue(files.catalogueAddress, 40, 'another')).close();
    await publishCatalogue(files, BY);
    expect(readAll(files.publishedFile)).toEqual(await readUndisturbed(files));
  });
});

describe('listings that other code wrote', () => {
  it('are written again bit by bit, and a change is there before the last of them is', async () => {
    const files = copyCatalogue();
    await publishCatalogue(files, 'earlier');
    const seen: { revision: unknown; done: number }[] = [];
    const before = readAll(files.publishedFile).catalogue;
    await followFor(files, {
      between: async () => {
        await change(files, LISTINGS, 'Changed meanwhile');
        const { publishedFile } = files;
        while (JSON.stringify(readAll(publishedFile).catalogue) === JSON.stringify(before)) await sleep(5);
        seen.push({ revision: readAll(publishedFile).catalogue, done: findMakingOf(publishedFile)?.done ?? LISTINGS });
      },
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.done).toBeLessThan(LISTINGS);
    expect(readAll(files.publishedFile)).toEqual(await readUndisturbed(files));
  });

  it('are written again once by each of two versions at most, however they meet', async () => {
    const files = copyCatalogue();
    await publishCatalogue(files, 'earlier');
    // The second starts while the first is at it; both go on until they find nothing to do.
    await followFor(files, { by: 'first', between: () => followFor(files, { by: 'second' }) });
    expect(readAll(files.publishedFile).rendering).toEqual([{ code_version: 'second' }]);
    expect(readAll(files.publishedFile)).toEqual(await readUndisturbed(files, 'second'));
  });
});

it('a file of another catalogue stays as it is until that which takes its place is whole, also where making that is interrupted', async () => {
  const files = copyCatalogue();
  await publishCatalogue(files, BY);
  const before = readAll(files.publishedFile);
  rmSync(files.catalogueAddress);
  await (await createSyntheticCatalogue(files.catalogueAddress, 600, 'another')).close();
  await followFor(files, { batches: 2 });
  expect(readAll(files.publishedFile)).toEqual(before);
  const beside = `${files.publishedFile}.again`;
  noteWrites(beside);
  const { last = 0 } = findMakingOf(beside) ?? {};
  expect(last).toBeGreaterThan(0);
  await publishCatalogue(files, BY);
  expect(Math.min(...listWritten(files.publishedFile))).toBe(last + 1);
  forgetWrites(files.publishedFile);
  expect(readAll(files.publishedFile)).toEqual(await readUndisturbed(files));
  expect(existsSync(beside)).toBe(false);
});

it('a file of another catalogue is replaced whatever the size of its pages is', async () => {
  const files = copyCatalogue();
  openPublishedForWriting(files.publishedFile, 4096).close();
  await publishCatalogue(files, BY);
  rmSync(files.catalogueAddress);
  await (await createSyntheticCatalogue(files.catalogueAddress, 40, 'another')).close();
  await publishCatalogue(files, BY);
  expect(readAll(files.publishedFile)).toEqual(await readUndisturbed(files));
});
