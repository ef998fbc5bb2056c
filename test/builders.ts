import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Catalogue } from '../src/catalogue/database.ts';
import { openNewCatalogue } from './new-catalogue.ts';
import { IDENTITY, NOW } from './records.ts';
import { SCRATCH } from './scratch.ts';

export * from './records.ts';

/** Makes a folder that goes when the test that asked for it is over, or when `atEnd` says. */
export function makeFolder(atEnd: (work: () => Promise<void>) => void = onTestFinished): string {
  const folder = mkdtempSync(join(SCRATCH, 'catalogue-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a new catalogue in a folder of its own, closed and removed after the test. */
export async function makeCatalogue(file = join(makeFolder(), 'catalogue.sqlite')): Promise<Catalogue> {
  const catalogue = await openNewCatalogue(file, { identity: IDENTITY, at: NOW });
  onTestFinished(() => catalogue.close());
  return catalogue;
}
