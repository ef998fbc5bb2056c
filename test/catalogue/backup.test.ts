import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backUpCatalogue } from '../../src/catalogue/backup.ts';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { isRevisionConsistent, listStaleListings } from '../../src/catalogue/integrity.ts';
import { listSlugs } from '../../src/catalogue/read/listings.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { makeCatalogue, makeDeclaration, makeFolder, NOW } from '../builders.ts';
import { recordDeclaration } from '../written.ts';

let large: Buffer | undefined;

/** Makes a catalogue large enough for a backup to take several steps; written once, and copied for each test. */
async function makeLarge() {
  const file = join(makeFolder(), 'catalogue.sqlite');
  large ??= await writeLarge();
  writeFileSync(file, large);
  return await makeCatalogue(file);
}

async function writeLarge(): Promise<Buffer> {
  const catalogue = await makeCatalogue();
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (let i = 0; i < 300; i++) {
      const description = `Number ${i}. ${'Words that fill a page. '.repeat(150)}`;
      await recordDeclaration(
        writing,
        makeDeclaration({ base_url: `https://host${i}.provider-of-tests.com`, slug: `host-${i}`, description }),
      );
    }
  });
  return catalogue.engine.sqlite.serialize();
}

describe('a backup', () => {
  it('comes to its end while another process writes all the time, and is the state of one moment', async () => {
    const catalogue = await makeLarge();
    const writer = fork(join(import.meta.dirname, 'busy-writer.ts'), [catalogue.address], { execArgv: [] });
    await once(writer, 'message');
    const target = join(dirname(catalogue.address), 'backup.sqlite');
    const source = await openCatalogueForReading(catalogue.address);
    const steps: number[] = [];
    const before = await getRevision(source);
    const backup = await backUpCatalogue(source, target, {
      replace: false,
      onProgress: (copied) => steps.push(copied),
    });
    await expect.poll(() => getRevision(source)).toBeGreaterThan(backup.revision);
    await source.close();
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    expect(steps.length).toBeGreaterThan(3);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(backup.revision).toBeGreaterThanOrEqual(before);
    const copy = await openCatalogueForReading(target);
    expect([await getRevision(copy), (await listSlugs(copy)).length]).toEqual([backup.revision, 301]);
    expect([await isRevisionConsistent(copy), copy.engine.listFaults(), await listStaleListings(copy)]).toEqual([
      true,
      [],
      [],
    ]);
    await copy.close();
    expect(readdirSync(dirname(target)).filter((name) => /backup/.test(name))).toEqual(['backup.sqlite']);
  });

  it('of a damaged catalogue is refused, and the earlier backup stays', async () => {
    const catalogue = await makeLarge();
    catalogue.engine.sqlite.pragma('wal_checkpoint(TRUNCATE)');
    const bytes = readFileSync(catalogue.address);
    bytes.fill(0xa5, Math.floor(bytes.length / 8192) * 4096, Math.floor(bytes.length / 8192) * 4096 + 4096 * 40);
    writeFileSync(catalogue.address, bytes);
    const target = join(dirname(catalogue.address), 'backup.sqlite');
    writeFileSync(target, 'the earlier one');
    const source = await openCatalogueForReading(catalogue.address);
    await expect(backUpCatalogue(source, target, { replace: true })).rejects.toMatchObject({ reason: 'damaged' });
    await source.close();
    expect(readFileSync(target, 'utf8')).toBe('the earlier one');
  });

  it('that is stopped leaves no file', async () => {
    const catalogue = await makeLarge();
    const target = join(dirname(catalogue.address), 'backup.sqlite');
    const stopping = new AbortController();
    const backup = backUpCatalogue(catalogue, target, {
      replace: false,
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    await expect(backup).rejects.toMatchObject({ reason: 'stopped' });
    expect(existsSync(target)).toBe(false);
    expect(await getRevision(catalogue)).toBe(1);
    await writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    expect(await getRevision(catalogue)).toBe(2);
  });
});
