import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { startServer } from '../../src/http/server.ts';
import { makeCommands } from '../commands/running.ts';
import { ask } from '../http/running.ts';
import { rebuildAgain } from '../release/rebuilding.ts';
import { crawl } from './links.ts';

const FEED = resolve(import.meta.dirname, '../../../shared/corpus/bazaar-2026-03/resources.json');
const ORIGIN = 'http://catalogue.example';

if (!existsSync(FEED)) console.info('Not run: serving a real feed, because the corpus is not beside the project.');
/** What the page of a listing and the stylesheet may weigh together, compressed as browsers take them. */
const PAGE_BYTES = 20 * 1024;

describe.skipIf(!existsSync(FEED))('a catalogue of a real feed', () => {
  it('has a page for every listing, no dead link of its own, and a valid document', { timeout: 120_000 }, async () => {
    const { environment, runJson } = makeCommands({ BASE_URL: ORIGIN, PORT: '0', RATE_LIMIT: '0' });
    expect((await runJson('import', '--bazaar', FEED)).code).toBe(0);
    const config = readConfig(environment);
    await rebuildAgain({ config });
    const server = await startServer({ config, logger: pino({ level: 'silent' }) });
    onTestFinished(() => server.close());

    const document = JSON.parse((await ask(server, '/openapi.json')).text);
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    const pages: string[] = document.tags.map((tag: Record<string, string>) =>
      tag['x-marketplace-url']?.slice(ORIGIN.length),
    );
    expect(pages.length).toBeGreaterThan(150);
    const statuses = await Promise.all(pages.map(async (path) => (await ask(server, path)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await listHeavy(server, pages)).toEqual([]);

    const documents = ['/', '/llms.txt', '/openapi.json', '/agent/list?limit=1000'];
    const details = document.tags.map(({ name }: { name: string }) => `/agent/listings/${name}`);
    const { answered, dead } = await crawl(server, ORIGIN, [...documents, ...details]);
    expect(dead).toEqual([]);
    expect(answered).toBeGreaterThan(3 * pages.length);
  });
});

/** Lists the pages that are too heavy with their stylesheet. */
async function listHeavy(server: Parameters<typeof ask>[0], paths: readonly string[]): Promise<string[]> {
  const headers = { 'accept-encoding': 'br' };
  const [style = ''] = /\/_astro\/[^"]+\.css/.exec((await ask(server, '/')).text) ?? [];
  const { body: css } = await ask(server, style, { headers });
  expect(css.length).toBeGreaterThan(1000);
  const sizes = await Promise.all(paths.map(async (path) => (await ask(server, path, { headers })).body.length));
  return paths.filter((_, at) => (sizes[at] ?? 0) + css.length > PAGE_BYTES);
}
