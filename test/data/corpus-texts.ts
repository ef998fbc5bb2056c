import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lists every text in the JSON files of a folder and its subfolders, whatever their shape. */
export function listCorpusTexts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => listTexts(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}
