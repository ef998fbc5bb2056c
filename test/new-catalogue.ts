import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalogue, openCatalogue } from '../src/catalogue/database.ts';
import { SCRATCH } from './scratch.ts';

let empty: Buffer | undefined;

/**
 * Opens the catalogue in a file. Where there is none, a new one comes from a copy of an empty catalogue, which is made once
 * for each process: the migrations of another one would take longer than most tests.
 */
export function openNewCatalogue(file: string, create: { identity: string; at: string }): Catalogue {
  if (existsSync(file)) return openCatalogue(file, create);
  empty ??= makeEmpty();
  writeFileSync(file, empty);
  const catalogue = openCatalogue(file, create);
  catalogue.sqlite.prepare('UPDATE catalogue SET identity = ?, revised_at = ?').run(create.identity, create.at);
  return catalogue;
}

function makeEmpty(): Buffer {
  const folder = mkdtempSync(join(SCRATCH, 'catalogue-'));
  try {
    const file = join(folder, 'catalogue.sqlite');
    openCatalogue(file, { identity: '', at: '' }).close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
