import { expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { IDENTITY, makeReceipt, NOW } from '../builders.ts';
import { recordPaid } from '../paid.ts';
import { makeCommands, writeManifest } from './running.ts';

const ID = makeReceipt().id;
const BECAUSE = 'Our request lacked the field "thing".';

/** A catalogue whose one route took the money and answered 500. */
async function makeUndelivered() {
  const commands = makeCommands();
  await commands.run(['import', writeManifest(commands.folder, 'alpha.yaml')]);
  const catalogue = await openCatalogue(commands.file, { identity: IDENTITY, at: NOW });
  await recordPaid(catalogue, 'alpha', { path: '/v1/:thing', id: ID, status: 500 });
  await catalogue.close();
  const read = async () => {
    const open = await openCatalogue(commands.file, { identity: IDENTITY, at: NOW });
    const listing = await findListing(open, { slug: 'alpha' });
    await open.close();
    if (!listing) throw new Error('no listing');
    return listing;
  };
  return { ...commands, read };
}

it('a corrected receipt speaks against nobody, and the reason is public', async () => {
  const { run, runJson, read } = await makeUndelivered();
  expect((await read()).routes[0]?.cautions.map(({ code }) => code)).toEqual(['undelivered']);
  const { code, json } = await runJson('correct', ID, '--because', BECAUSE);
  expect([code, json]).toEqual([0, { receipt: ID, slug: 'alpha', because: BECAUSE, changed: true, revision: 3 }]);
  expect(await read()).toMatchObject({
    revision: 3,
    corrections: [{ receipt_id: ID, because: BECAUSE, at: NOW }],
    routes: [{ cautions: [], undelivered: null, verification: 'unverified' }],
  });
  const why = (await run(['why', 'alpha'])).stdout;
  expect(why).toContain(`receipt ${ID} of GET /v1/:thing`);
  expect(why).toContain(`in the operator's words: ${BECAUSE}`);
  expect(why).toMatch(
    /Caution cleared on 1 route .*the operator corrected the record of a paid call\.\n {4}GET \/v1\/:thing\n/,
  );
});

it('the same reason again changes nothing, and another replaces it', async () => {
  const { runJson } = await makeUndelivered();
  await runJson('correct', ID, '--because', BECAUSE);
  expect((await runJson('correct', ID, '--because', BECAUSE)).json).toMatchObject({ changed: false, revision: 3 });
  expect((await runJson('correct', ID, '--because', 'Otherwise.')).json).toMatchObject({ changed: true, revision: 4 });
});

it.each([
  [['correct'], 2],
  [['correct', 'no-id', '--because', BECAUSE], 2],
  [['correct', ID], 2],
  [['correct', ID, '--because', ''], 2],
  [['correct', ID, '--because', 'x'.repeat(281)], 2],
  [['correct', ID, '--because', '\u202e\u200b'], 2],
  [['correct', '00000000-0000-4000-8000-000000000000', '--because', BECAUSE], 1],
])('%j is refused in one sentence with a hint', async (args, expected) => {
  const { run, read } = await makeUndelivered();
  const { code, stderr, stdout } = await run(args);
  expect([code, stdout]).toEqual([expected, '']);
  expect(stderr).toMatch(/^error: .+\nhint: .+\n$/);
  expect((await read()).corrections).toEqual([]);
});
