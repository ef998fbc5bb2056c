/** A thread that makes the compressed forms of pages as a rebuild does, and says how long that took, in milliseconds. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { compressPage } from '../../src/site/forms.ts';

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
  for (const [form, compressed] of compressPage(page))
    writeFileSync(join(folder, `${thread}-${at}.${form}`), compressed);
  ms += performance.now() - started;
}
parentPort?.postMessage(ms);
