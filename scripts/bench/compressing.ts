/** A thread that makes the compressed forms of pages as a release does, and says how long that took, in milliseconds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { getHash } from '../../src/published/hash.ts';
import { writeNew } from '../../src/release/folders.ts';
import { compressPage } from '../../src/release/forms.ts';

/** The thread's data at its start. */
export interface Compressing {
  readonly files: readonly string[];
  /** Folder for the forms. */
  readonly folder: string;
  /** Its number, which no other thread has. */
  readonly thread: number;
}

const { files, folder, thread }: Compressing = workerData;
let ms = 0;
for (const [at, file] of files.entries()) {
  const page = readFileSync(file);
  const started = performance.now();
  for (const [form, compressed] of compressPage(page)) {
    getHash(compressed);
    writeNew(join(folder, `${thread}-${at}.${form}`), compressed);
  }
  ms += performance.now() - started;
}
parentPort?.postMessage(ms);
