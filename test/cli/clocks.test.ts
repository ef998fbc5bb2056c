import { describe, expect, it } from 'vitest';
import { prepareCatalogue } from '../../scripts/first-start.ts';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { getCatalogueState } from '../../src/catalogue/transaction.ts';
import { countSpent, openLedger } from '../../src/catalogue/write/payments.ts';
import { readConfig } from '../../src/config.ts';
import { makeKept } from '../catalogue/kept.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { recordPaid } from '../paid.ts';
import { sendChallenge, sendStatus } from '../probing/market.ts';
import { isRoute, makeMarketCommands } from '../probing/probing.ts';
import { IDENTITY, NOW } from '../records.ts';
import { makeCommands, writeManifest } from './running.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEARS = 3 * 365 * DAY;
const PAID = '11111111-1111-4111-8111-111111111111';

/** Returns the time so many milliseconds after the fixed time of tests, ISO 8601 UTC. */
const getTime = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString();

/** Commands on a catalogue, at a time that a test sets. */
function makeShifted() {
  let shift = 0;
  const commands = makeCommands({}, () => new Date(getTime(shift)));
  return {
    ...commands,
    setClock: (ms: number) => {
      shift = ms;
    },
    use: async <Result>(work: (catalogue: Catalogue) => Promise<Result>) => {
      const catalogue = await openNewCatalogue(commands.file, { identity: IDENTITY, at: NOW });
      return await work(catalogue).finally(catalogue.close);
    },
  };
}

const listSampled = ({ query }: Catalogue) => query.selectFrom('samples').select('at').orderBy('at').execute();

describe('a clock that is over a year ahead', () => {
  it('probes nothing, and so removes no sample', async () => {
    const { list, run, file, setHours } = makeMarketCommands();
    const seller = await list('alpha', (response, url) =>
      isRoute(url) ? sendChallenge(response) : sendStatus(response, 404),
    );
    expect((await run(['probe', 'alpha', '--pause', '0'])).code).toBe(0);
    const asked = seller.asked.length;
    setHours(YEARS / HOUR);
    const refused = await run(['probe', 'alpha', '--pause', '0']);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/clock.*\nhint: Nothing was written. Set the clock/),
    });
    const catalogue = await openNewCatalogue(file, { identity: IDENTITY, at: NOW });
    expect((await listSampled(catalogue)).map(({ at }) => at)).toEqual([NOW, NOW, NOW]);
    await catalogue.close();
    expect(seller.asked.slice(asked).filter(({ url }) => isRoute(url))).toEqual([]);
  });

  it('imports nothing', async () => {
    const { folder, run, runJson, setClock } = makeShifted();
    await run(['import', writeManifest(folder, 'alpha.yaml')]);
    const changed = writeManifest(folder, 'alpha.yaml', { name: 'Another name' });
    setClock(366 * DAY + 1);
    expect(await run(['import', changed])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('where nobody wrote for over a year, import into a new catalogue'),
    });
    expect((await runJson('status')).json.revision).toBe(1);
    setClock(366 * DAY);
    expect((await run(['import', changed])).code).toBe(0);
    expect((await runJson('status')).json.revision).toBe(2);
  });
});

it('a clock may be an hour behind the last revision, and no more', async () => {
  const { folder, run, runJson, setClock } = makeShifted();
  await run(['import', writeManifest(folder, 'alpha.yaml')]);
  const changed = writeManifest(folder, 'alpha.yaml', { name: 'Another name' });
  setClock(-HOUR - 1);
  expect(await run(['import', changed])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('restore a backup'),
  });
  setClock(-HOUR);
  expect((await run(['import', changed])).code).toBe(0);
  expect((await runJson('status')).json.revision).toBe(2);
});

it('a catalogue that a clock wrote months ahead is told of, and takes no write', async () => {
  const { folder, run, runJson, setClock } = makeShifted();
  await run(['import', writeManifest(folder, 'alpha.yaml')]);
  setClock(200 * DAY);
  const wrong = writeManifest(folder, 'beta.yaml', { name: 'Wrong' });
  expect((await run(['import', wrong])).code).toBe(0);
  const findTimes = async () =>
    (await runJson('check')).json.checks.find(({ name }: { name: string }) => name === 'times');
  expect(await findTimes()).toMatchObject({ ok: true });

  setClock(HOUR);
  const refusal = { code: 1, stderr: expect.stringMatching(/last written 2027.*\nhint: .*restore a backup/) };
  expect(await run(['import', writeManifest(folder, 'beta.yaml', { name: 'Right' })])).toMatchObject(refusal);
  expect(await run(['check', '--repair'])).toMatchObject(refusal);
  expect(await findTimes()).toMatchObject({
    ok: false,
    found: `revisions of the future: 1, the latest of ${getTime(200 * DAY)}`,
    hint: expect.stringContaining('restore a backup'),
  });
  expect((await run(['metrics'])).stdout).toContain('catalogue_revisions_in_future 1\n');
});

it('a catalogue of earlier rules is served by a start far later, which says why it derives nothing', async () => {
  const file = makeKept('001-catalogue');
  const config = readConfig({ CATALOGUE: file, BASE_URL: 'https://apis.example' });
  const said: string[] = [];
  const { signal } = new AbortController();
  const now = () => new Date(getTime(YEARS));
  await prepareCatalogue({ config, now, signal, tell: (line) => said.push(line) });
  expect(said.join()).toContain('Set the clock that is wrong.');
});

it('records what became of a payment, whatever the clock says', async () => {
  const { folder, file, run, use } = makeShifted();
  await run(['import', writeManifest(folder, 'alpha.yaml')]);
  const checked = await openCatalogue(file, { identity: IDENTITY, at: NOW });
  const pay = (at: string, later: string) => recordPaid(checked, 'alpha', { path: '/v1/:thing', id: PAID, at, later });
  await expect(pay(getTime(YEARS), NOW)).rejects.toMatchObject({ reason: 'wrong_clock' });
  await pay(NOW, getTime(-2 * HOUR));
  expect(await openLedger(checked, () => undefined).findPayment(PAID)).toMatchObject({ state: 'settled' });
  const later = '22222222-2222-4222-8222-222222222222';
  await recordPaid(checked, 'alpha', { path: '/v1/:thing', id: later, at: NOW, later: getTime(YEARS) });
  expect(await openLedger(checked, () => undefined).findPayment(later)).toMatchObject({ state: 'settled' });
  // The time of a clock that is years ahead is not taken for that of the catalogue, which would take no write by the right one.
  expect(await getCatalogueState(checked)).toMatchObject({ revised_at: NOW });
  await checked.close();
  expect(await use((catalogue) => countSpent(catalogue, NOW))).toBe(2000);
});
