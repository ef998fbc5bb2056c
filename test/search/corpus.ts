import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Reading } from '../../src/published/reading.ts';
import { makeFolder } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { openTestReading } from '../reading.ts';

const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus');
const FEED = resolve(CORPUS, 'bazaar-2026-03/resources.json');
const DOCUMENT = resolve(CORPUS, 'provider-openapi/openapi.json');
const MANIFESTS = resolve(import.meta.dirname, '../../data/listings');

/** The catalogue, as a file. */
let imported: Promise<Buffer> | undefined;

/** Opens a catalogue of the real listings and of our manifests, until the test is finished. They are imported once for each process. */
export async function openCorpus(): Promise<Reading> {
  imported ??= importCorpus();
  const address = join(makeFolder(), 'catalogue.sqlite');
  writeFileSync(address, await imported);
  const reading = await openTestReading({ address });
  onTestFinished(() => reading.close());
  return reading;
}

async function importCorpus(): Promise<Buffer> {
  const { runJson, file } = makeCommands();
  for (const args of [['--bazaar', FEED], ['--openapi', DOCUMENT], [MANIFESTS]]) {
    expect((await runJson('import', ...args)).code).toBe(0);
  }
  return readFileSync(file);
}
