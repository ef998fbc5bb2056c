import { describe, expect, it } from 'vitest';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { getRevision } from '../../src/catalogue/transaction.ts';
import { recordInBatches } from '../../src/importing/record-declarations.ts';
import { getListingId } from '../../src/model/ids.ts';
import { IDENTITY, makeCatalogue, makeDeclaration, NOW } from '../builders.ts';
import { makeCommands, writeManifest } from '../cli/running.ts';
import { answerPages, makeItems, serveFeed } from './feed-server.ts';

/** Makes the database itself refuse a listing of that slug, as it would a row that breaks one of its rules. */
function refuseSlug({ engine: { sqlite } }: Catalogue, slug: string): void {
  sqlite.exec(`CREATE TRIGGER refusal BEFORE INSERT ON listings WHEN NEW.slug = '${slug}'
    BEGIN SELECT RAISE(ABORT, 'not this one'); END`);
}

async function openWith(file: string, change: (catalogue: Catalogue) => void): Promise<void> {
  const catalogue = await openCatalogue(file, { identity: IDENTITY, at: NOW });
  change(catalogue);
  await catalogue.close();
}

const OPTIONS = { now: () => new Date(NOW), signal: new AbortController().signal };

describe('a declaration that cannot be recorded', () => {
  const names = ['one', 'two', 'three'];
  const declarations = names.map((slug) =>
    makeDeclaration({ slug, base_url: `https://${slug}.provider-of-tests.com`, title: slug }),
  );

  it('does not affect others, leaves no trace, and is returned with its reason', async () => {
    const catalogue = await makeCatalogue();
    refuseSlug(catalogue, 'two');
    const { recorded, failed, left } = await recordInBatches(catalogue, declarations, OPTIONS);
    expect(recorded.map(({ slug, outcome }) => [slug, outcome])).toEqual([
      ['one', 'added'],
      ['three', 'added'],
    ]);
    expect(failed.map(({ declaration, id, reason, message }) => [declaration.slug, id, reason, message])).toEqual([
      ['two', getListingId('https://two.provider-of-tests.com'), 'sqlite_constraint_trigger', 'not this one'],
    ]);
    expect(left).toBe(0);
    expect(await findListing(catalogue, { slug: 'two' })).toBeUndefined();
    const revisions = catalogue.engine.sqlite.prepare('SELECT DISTINCT revision FROM changes ORDER BY 1').pluck().all();
    expect(revisions).toEqual(Array.from({ length: await getRevision(catalogue) }, (_, i) => i + 1));
  });

  it('is not blamed if the database itself fails', async () => {
    const catalogue = await makeCatalogue();
    catalogue.engine.sqlite.pragma('query_only = ON');
    await expect(recordInBatches(catalogue, declarations, OPTIONS)).rejects.toMatchObject({
      code: 'SQLITE_READONLY',
    });
  });

  it('is a refused file of an import, which continues and ends with 1', async () => {
    const { folder, file, run, runJson } = makeCommands();
    for (const name of ['alpha', 'beta', 'gamma']) writeManifest(folder, `${name}.yaml`);
    await openWith(file, (catalogue) => refuseSlug(catalogue, 'beta'));
    const { code, json } = await runJson('import', folder);
    expect(code).toBe(1);
    expect(json).toMatchObject({
      complete: false,
      items: { received: 3, taken: 2, refused: 1 },
      listings: { added: 2, failed: 1 },
      next: expect.stringContaining('run the same command again'),
      findings: [{ code: 'not_recorded', severity: 'refused', item: 'beta.yaml' }],
    });
    expect(json.findings[0].message).toMatch(/^beta\.yaml: .*not this one/);
    const { stdout } = await run(['import', folder]);
    expect(stdout).toMatch(/^failed\tbeta\.yaml\t/m);
    expect((await runJson('status')).json.findings).toMatchObject([{ code: 'not_recorded', count: 1 }]);
  });

  it('is a finding of a feed, whose other listings are recorded, and is not withdrawn', async () => {
    const { address } = await serveFeed(answerPages(() => makeItems(3)));
    const { file, run, runJson } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
    await run(['import', '--bazaar', address]);
    await openWith(file, ({ engine: { sqlite } }) =>
      sqlite.exec(`DELETE FROM declarations WHERE document LIKE '%host0001%';
        CREATE TRIGGER refusal BEFORE INSERT ON declarations WHEN NEW.document LIKE '%host0001%'
        BEGIN SELECT RAISE(ABORT, 'not this one'); END`),
    );
    const { code, json } = await runJson('import', '--bazaar', address);
    expect(code).toBe(1);
    expect(json).toMatchObject({
      complete: false,
      items: { received: 3, taken: 2, refused: 1 },
      listings: { unchanged: 2, failed: 1, withdrawn: 0 },
      next: expect.stringMatching(/could not be recorded/),
    });
    expect((await run(['import', '--bazaar', address])).stdout).toContain('host0001.provider-of-tests.com');
    const { json: why } = await runJson('why', 'https://host0001.provider-of-tests.com');
    expect(why.findings.map(({ code: found }: { code: string }) => found)).toContain('not_recorded');
    expect((await runJson('status')).json.feeds).toMatchObject([{ completed_at: expect.any(String) }]);
  });
});
