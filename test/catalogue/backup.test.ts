import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backUpCatalogue } from '../../src/catalogue/backup.ts';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { isRevisionConsistent, listDatabaseFaults, listStaleListings } from '../../src/catalogue/integrity.ts';
import { listSlugs } from '../../src/catalogue/listings.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/write.ts';
import { makeCatalogue, makeDeclaration, makeFolder, NOW } from '../builders.ts';

let large: Buffer | undefined;

/** Makes a catalogue large enough for a backup to take several steps; written once, and copied for each test. */
function makeLarge() {
  const file = join(makeFolder(), 'catalogue.sqlite');
  large ??= writeLarge();
  writeFileSync(file, large);
  return makeCatalogue(file);
}

function writeLarge(): Buffer {
  const catalogue = makeCatalogue();
  writeCatalogue(catalogue, NOW, (writing) => {
    for (let i = 0; i < 300; i++) {
      const description = `Number ${i}. ${'Words that fill a page. '.repeat(150)}`;
      recordDeclaration(
        writing,
        makeDeclaration({ base_url: `https://host${i}.provider-of-tests.com`, slug: `host-${i}`, description }),
      );
    }
  });
  return catalogue.sqlite.serialize();
}

describe('a backup', () => {
  it('comes to its end while another process writes all the time, and is the state of one moment', async () => {
    const catalogue = makeLarge();
    const writer = fork(join(import.meta.dirname, 'busy-writer.ts'), [catalogue.file], { execArgv: [] });
    await once(writer, 'message');
    const target = join(dirname(catalogue.file), 'backup.sqlite');
    const source = openCatalogueForReading(catalogue.file);
    const steps: number[] = [];
    const before = getRevision(source);
    const backup = await backUpCatalogue(source, target, {
      replace: false,
      onProgress: (copied) => steps.push(copied),
    });
    const after = getRevision(source);
    source.close();
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    expect(steps.length).toBeGreaterThan(3);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(backup.revision).toBeGreaterThanOrEqual(before);
    expect(after).toBeGreaterThan(backup.revision);
    const copy = openCatalogueForReading(target);
    expect([getRevision(copy), listSlugs(copy).length]).toEqual([backup.revision, 301]);
    expect([isRevisionConsistent(copy), listDatabaseFaults(copy), listStaleListings(copy)]).toEqual([true, [], []]);
    copy.close();
    expect(readdirSync(dirname(target)).filter((name) => /backup/.test(name))).toEqual(['backup.sqlite']);
  });

  it('of a damaged catalogue is refused, and the earlier backup stays', async () => {
    const catalogue = makeLarge();
    catalogue.sqlite.pragma('wal_checkpoint(TRUNCATE)');
    const bytes = readFileSync(catalogue.file);
    bytes.fill(0xa5, Math.floor(bytes.length / 8192) * 4096, Math.floor(bytes.length / 8192) * 4096 + 4096 * 40);
    writeFileSync(catalogue.file, bytes);
    const target = join(dirname(catalogue.file), 'backup.sqlite');
    writeFileSync(target, 'the earlier one');
    const source = openCatalogueForReading(catalogue.file);
    await expect(backUpCatalogue(source, target, { replace: true })).rejects.toMatchObject({ reason: 'damaged' });
    source.close();
    expect(readFileSync(target, 'utf8')).toBe('the earlier one');
  });

  it('that is stopped leaves no file', async () => {
    const catalogue = makeLarge();
    const target = join(dirname(catalogue.file), 'backup.sqlite');
    const stopping = new AbortController();
    const backup = backUpCatalogue(catalogue, target, {
      replace: false,
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    await expect(backup).rejects.toMatchObject({ reason: 'stopped' });
    expect(existsSync(target)).toBe(false);
    expect(getRevision(catalogue)).toBe(1);
    writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
    expect(getRevision(catalogue)).toBe(2);
  });
});
