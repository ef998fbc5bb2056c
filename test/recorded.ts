import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Catalogue } from '../src/catalogue/database.ts';
import { writeCatalogue } from '../src/catalogue/transaction.ts';
import type { Declaration } from '../src/model/declaration.ts';
import { makeCatalogue, makeFolder, NOW } from './builders.ts';
import { recordDeclaration } from './written.ts';

/** Catalogues as they were first written in this process, by key. */
const written = new LRUCache<string, Buffer>({ max: 30 });

/**
 * Makes a catalogue that `write` fills, closed and removed after the test. From the second time of a key on it is a copy of what
 * was written the first time, which is much quicker.
 */
export async function makeCopied(key: string, write: (catalogue: Catalogue) => Promise<unknown>): Promise<Catalogue> {
  const file = join(makeFolder(), 'catalogue.sqlite');
  const known = written.get(key);
  if (known) writeFileSync(file, known);
  const catalogue = await makeCatalogue(file);
  if (known) return catalogue;
  await write(catalogue);
  written.set(key, catalogue.engine.sqlite.serialize());
  return catalogue;
}

/** Makes a catalogue of these declarations: a copy of the one that was first made of them. */
export function makeRecorded(declarations: readonly Declaration[]): Promise<Catalogue> {
  return makeCopied(JSON.stringify(declarations), (made) => recordAll(made, declarations));
}

/** Records declarations in one write. */
export async function recordAll(catalogue: Catalogue, declarations: readonly Declaration[]): Promise<void> {
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (const declaration of declarations) await recordDeclaration(writing, declaration);
  });
}
