import { resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Reading } from '../../src/published/reading.ts';
import { makeCommands } from '../cli/running.ts';
import { openTestReading } from '../reading.ts';

const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus');
const FEED = resolve(CORPUS, 'bazaar-2026-03/resources.json');
const DOCUMENT = resolve(CORPUS, 'provider-openapi/openapi.json');
const MANIFESTS = resolve(import.meta.dirname, '../../data/listings');

/** Opens a catalogue of the real listings and of our manifests, until the test is finished. */
export async function openCorpus(): Promise<Reading> {
  const { runJson, environment } = makeCommands();
  for (const args of [['--bazaar', FEED], ['--openapi', DOCUMENT], [MANIFESTS]]) {
    expect((await runJson('import', ...args)).code).toBe(0);
  }
  const reading = await openTestReading({ address: environment.CATALOGUE ?? '' });
  onTestFinished(() => reading.close());
  return reading;
}
