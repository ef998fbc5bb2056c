import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { IDENTITY, NOW } from '../builders.ts';
import { serveDocuments } from '../importing/document-server.ts';
import { makeItem } from '../importing/feed-server.ts';
import { makeDocument, makeOperation } from '../sources/openapi/documents.ts';
import { FACTS } from '../sources/provider-file/statements.ts';
import { makeCommands, writeManifest } from './running.ts';

/**
 * What a source can hold: things to list, things that are refused for a reason of their own, both, nothing, or no such
 * source.
 */
type Content = 'good' | 'mixed' | 'refused' | 'nothing' | 'unreadable';

const take = <Item>(content: Content, good: Item, bad: Item): Item[] =>
  ({ good: [good], mixed: [good, bad], refused: [bad], nothing: [], unreadable: [] })[content];

function writeDocument(folder: string, content: Content, document: unknown): string {
  const path = join(folder, 'document.json');
  writeFileSync(path, content === 'unreadable' ? '<!doctype html>' : JSON.stringify(document));
  return path;
}

/** Puts a source of each kind there, and gives the arguments that import it. */
const KINDS: Record<string, (folder: string, content: Content) => string[] | Promise<string[]>> = {
  manifests: (folder, content) => {
    const sources = join(folder, 'manifests');
    if (content !== 'unreadable') mkdirSync(sources);
    const writeGood = () => writeManifest(sources, 'alpha.yaml');
    const writeBad = () => writeFileSync(join(sources, 'broken.yaml'), 'name: Broken\n');
    for (const write of take<() => unknown>(content, writeGood, writeBad)) write();
    return [sources];
  },
  'a feed': (folder, content) => {
    const bad = makeItem('two.provider-of-tests.com', '/v1/b', { accepts: [] });
    const items = take(content, makeItem('one.provider-of-tests.com'), bad);
    return ['--bazaar', writeDocument(folder, content, { items })];
  },
  'an OpenAPI document': (folder, content) => {
    const bad = { get: makeOperation({ 'x-payment-info': { price: '0.01', protocols: ['mpp'] } }) };
    const paths = take(content, { '/v1/a': { get: makeOperation() } }, { '/v1/b': bad });
    return ['--openapi', writeDocument(folder, content, makeDocument({ paths: Object.assign({}, ...paths) }))];
  },
  'an x402 file': (folder, content) => {
    const resources = take(content, 'https://api.tides-of-tests.com/v1/a', 'ftp://api.tides-of-tests.com/v1/b');
    return ['--openapi', writeDocument(folder, content, { version: 1, resources })];
  },
  "a provider's file": async (_folder, content) => {
    const bad = { base_url: 'https://other.example', listed: false };
    const body = { version: 1, listings: take<object>(content, { listed: true, facts: FACTS }, bad) };
    const page = content === 'unreadable' ? { body: '{"version": 1, "listings": 5}' } : { body };
    const pages = content === 'nothing' ? {} : { '/.well-known/agent-payable.json': page };
    return ['--provider', (await serveDocuments(pages)).origin];
  },
};

describe.each(Object.entries(KINDS))('importing %s ends with', (name, put) => {
  const open = () => makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });

  it.each([
    [0, 'good', { taken: 1, refused: 0 }],
    [0, 'mixed', { taken: 1, refused: 1 }],
    // A manifest is refused as a whole, so that of these nothing is imported.
    [name === 'manifests' ? 1 : 0, 'refused', { taken: 0, refused: 1 }],
  ] as const)('%i where its content is %s', async (expected, content, items) => {
    const { folder, runJson } = open();
    const { code, json } = await runJson('import', ...(await put(folder, content)));
    expect([code, json.complete, json.items]).toMatchObject([expected, expected === 0, items]);
    // What is refused is said.
    expect(json.reasons.some(({ severity }: { severity: string }) => severity === 'refused')).toBe(items.refused > 0);
  });

  it('the same on a dry run, which says what would change and writes nothing', async () => {
    const { folder, file, run, runJson } = open();
    const args = ['import', ...(await put(folder, 'mixed'))];
    const dry = await runJson(...args, '--dry-run');
    expect([dry.code, dry.json.dry_run, existsSync(file)]).toEqual([0, true, false]);
    const { json } = await runJson(...args);
    const facts = { items: json.items, listings: json.listings, reasons: json.reasons, revision: json.revision };
    expect(dry.json).toMatchObject({ ...facts, dry_run: true });
    expect(json.dry_run).toBe(false);
    const before = readFileSync(file);
    const again = await run([...args, '--dry-run']);
    expect(again.stdout).toContain('Nothing was written');
    expect(again.stdout).toContain(`The revision is still ${json.revision.after}.`);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it.each(['nothing', 'unreadable'] as const)('1 where its content is %s', async (content) => {
    const { folder, run } = open();
    const args = ['import', ...(await put(folder, content))];
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toMatch(/hint: |nothing to import|cannot be read|states no payment/);
  });

  it('1 where a listing cannot be recorded', async () => {
    const { folder, file, runJson } = open();
    const catalogue = await openCatalogue(file, { identity: IDENTITY, at: NOW });
    catalogue.engine.sqlite.exec(
      `CREATE TRIGGER refusal BEFORE INSERT ON listings BEGIN SELECT RAISE(ABORT, 'not this one'); END`,
    );
    await catalogue.close();
    const { code, json } = await runJson('import', ...(await put(folder, 'good')));
    expect([code, json.complete, json.listings.failed]).toEqual([1, false, 1]);
    expect(json.next).toContain('could not be recorded');
  });

  it('1 where it is stopped', async () => {
    const { folder, run } = open();
    const args = ['import', ...(await put(folder, 'good'))];
    const { code } = await run(args, { signal: AbortSignal.abort() });
    expect(code).toBe(1);
  });

  it('2 where it is called wrongly', async () => {
    const { folder, run } = open();
    const args = ['import', ...(await put(folder, 'good'))];
    expect((await run([...args, '--nonsense'])).code).toBe(2);
  });
});
