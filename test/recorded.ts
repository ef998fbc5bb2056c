import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Catalogue } from '../src/catalogue/database.ts';
import { writeCatalogue } from '../src/catalogue/transaction.ts';
import type { Declaration } from '../src/model/declaration.ts';
import { makeCatalogue, makeFolder, NOW } from './builders.ts';
import { recordDeclaration } from './written.ts';

/** Catalogues as files, by the declarations that they were made of. */
const recorded = new LRUCache<string, Buffer>({ max: 20 });

/** Makes a catalogue of these declarations: a copy of the one that was first made of them, which is much quicker. */
export async function makeRecorded(declarations: readonly Declaration[]): Promise<Catalogue> {
  const key = JSON.stringify(declarations);
  const file = join(makeFolder(), 'catalogue.sqlite');
  const known = recorded.get(key);
  if (known) writeFileSync(file, known);
  const catalogue = await makeCatalogue(file);
  if (known) return catalogue;
  await recordAll(catalogue, declarations);
  recorded.set(key, catalogue.engine.sqlite.serialize());
  return catalogue;
}

/** Records declarations in one write. */
export async function recordAll(catalogue: Catalogue, declarations: readonly Declaration[]): Promise<void> {
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (const declaration of declarations) await recordDeclaration(writing, declaration);
  });
}
