import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalogue, type NewCatalogue, openCatalogue } from '../src/catalogue/database.ts';
import { SCRATCH } from './scratch.ts';

/** Opens a catalogue so that a test may go through time as it likes. */
export const ANY_CLOCK = { checksClock: false };

let empty: Promise<Buffer> | undefined;

/**
 * Opens the catalogue in a file. Where there is none, a new one comes from a copy of an empty catalogue, which is made once
 * for each process: the migrations of another one would take longer than most tests.
 */
export async function openNewCatalogue(file: string, { identity, at }: NewCatalogue): Promise<Catalogue> {
  if (existsSync(file)) return await openCatalogue(file, { identity, at }, ANY_CLOCK);
  empty ??= makeEmpty();
  writeFileSync(file, await empty);
  const catalogue = await openCatalogue(file, { identity, at }, ANY_CLOCK);
  await catalogue.query.updateTable('catalogue').set({ identity, revised_at: at }).execute();
  return catalogue;
}

async function makeEmpty(): Promise<Buffer> {
  const folder = mkdtempSync(join(SCRATCH, 'catalogue-'));
  try {
    const file = join(folder, 'catalogue.sqlite');
    await (await openCatalogue(file, { identity: '', at: '' })).close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
