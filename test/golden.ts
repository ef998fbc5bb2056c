import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/**
 * Expects a document to hold the data of its golden JSON file, whatever the order of keys and the layout. The file is there
 * for review: `--update` writes it where the data differ.
 */
export async function expectGolden(document: unknown, file: string): Promise<void> {
  const path = resolve(import.meta.dirname, 'golden', file);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (existsSync(path) && isDeepStrictEqual(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(text))) return;
  await expect(text).toMatchFileSnapshot(path);
}
