import { resolve } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { startServer } from '../../src/http/server.ts';
import { makeCommands } from '../cli/running.ts';
import { ask } from '../http/running.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { crawl } from './links.ts';

/** A whole feed as it was served once, which is beside the project and not part of it. */
export const FEED = resolve(import.meta.dirname, '../../../shared/corpus/bazaar-2026-03/resources.json');

const ORIGIN = 'http://catalogue.example';

/**
 * Tests that the catalogue of a feed has a page for every listing, `least` of them at least, that no link of its own is dead,
 * and that its document is valid.
 */
export async function testFeed(feed: string, least: number): Promise<void> {
  const { environment, runJson } = makeCommands({ BASE_URL: ORIGIN, PORT: '0', RATE_LIMIT: '0', INTAKE: 'off' });
  expect((await runJson('import', '--bazaar', feed)).code).toBe(0);
  const config = readConfig(environment);
  await rebuildAgain({ config });
  const server = await startServer({ config, logger: pino({ level: 'silent' }) });
  onTestFinished(() => server.close());

  const document = JSON.parse((await ask(server, '/openapi.json')).text);
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
  const pages: string[] = document.tags.map((tag: Record<string, string>) =>
    tag['x-marketplace-url']?.slice(ORIGIN.length),
  );
  expect(pages.length).toBeGreaterThan(least);
  const statuses = await Promise.all(pages.map(async (path) => (await ask(server, path)).status));
  expect(new Set(statuses)).toEqual(new Set([200]));

  const documents = ['/', '/llms.txt', '/openapi.json', '/agent/list?limit=1000'];
  const details = document.tags.map(({ name }: { name: string }) => `/agent/listings/${name}`);
  const { answered, dead } = await crawl(server, ORIGIN, [...documents, ...details]);
  expect(dead).toEqual([]);
  expect(answered).toBeGreaterThan(3 * pages.length);
}
