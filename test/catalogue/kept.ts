import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeFolder } from '../builders.ts';

const KEPT = join(import.meta.dirname, 'kept');

/** Makes a catalogue as that migration left it, from its text: see the README in the folder. */
export function makeKept(name: string): string {
  const file = join(makeFolder(), `${name}.sqlite`);
  const sqlite = new Sqlite(file);
  sqlite.exec(readFileSync(join(KEPT, `${name}.sql`), 'utf8'));
  sqlite.close();
  return file;
}
