import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareCatalogue } from '../../scripts/first-start.ts';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { countSpent, openLedger } from '../../src/catalogue/write/payments.ts';
import { readConfig } from '../../src/config.ts';
import { listPublishedFaults } from '../../src/published/compare.ts';
import { openPublished } from '../../src/published/file.ts';
import { publishCatalogue } from '../../src/published/follow.ts';
import { makeKept } from '../catalogue/kept.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { recordPaid } from '../paid.ts';
import { sendChallenge, sendStatus } from '../probing/market.ts';
import { isRoute, makeMarketCommands } from '../probing/probing.ts';
import { IDENTITY, NOW } from '../records.ts';
import { recordProbed } from '../sampled.ts';
import { makeCommands, writeManifest } from './running.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEARS = 3 * 365 * DAY;
const RIGHT = '--clock-is-right';
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

describe('a clock that is far ahead', () => {
  it('probes nothing, and so removes no sample', async () => {
    const { list, run, file, setHours } = makeMarketCommands();
    const seller = await list('alpha', (response, url) =>
      isRoute(url) ? sendChallenge(response) : sendStatus(response, 404),
    );
    expect((await run(['probe', 'alpha', '--pause', '0'])).code).toBe(0);
    const asked = seller.asked.length;
    setHours(130 * 24);
    const refused = await run(['probe', 'alpha', '--pause', '0']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/clock.*\nhint: .*--clock-is-right/) });
    const catalogue = await openNewCatalogue(file, { identity: IDENTITY, at: NOW });
    expect((await listSampled(catalogue)).map(({ at }) => at)).toEqual([NOW, NOW, NOW]);
    await catalogue.close();
    expect(seller.asked.slice(asked).filter(({ url }) => isRoute(url))).toEqual([]);
  });

  it('imports nothing', async () => {
    const { folder, run, runJson, setClock } = makeShifted();
    await run(['import', writeManifest(folder, 'alpha.yaml')]);
    const changed = writeManifest(folder, 'alpha.yaml', { name: 'Another name' });
    setClock(8 * DAY);
    expect(await run(['import', changed])).toMatchObject({ code: 1, stderr: expect.stringContaining('clock') });
    expect((await runJson('status')).json.revision).toBe(1);
    setClock(6 * DAY);
    expect((await run(['import', changed])).code).toBe(0);
    expect((await runJson('status')).json.revision).toBe(2);
  });
});

it('a clock may be an hour behind the last revision, and no more', async () => {
  const { folder, run, runJson, setClock } = makeShifted();
  await run(['import', writeManifest(folder, 'alpha.yaml')]);
  const changed = writeManifest(folder, 'alpha.yaml', { name: 'Another name' });
  setClock(-HOUR - 1);
  expect(await run(['import', changed])).toMatchObject({ code: 1, stderr: expect.stringContaining(RIGHT) });
  setClock(-HOUR);
  expect((await run(['import', changed])).code).toBe(0);
  expect((await runJson('status')).json.revision).toBe(2);
});

describe('a catalogue that a clock wrote three years ahead', () => {
  it('is told of, takes no write, and is put right by a command', async () => {
    const { folder, environment, run, runJson, setClock, use } = makeShifted();
    const files = { catalogueAddress: environment.CATALOGUE, publishedFile: join(folder, 'published.sqlite') };
    await run(['import', writeManifest(folder, 'alpha.yaml')]);
    await use((catalogue) => recordPaid(catalogue, 'alpha', { path: '/v1/:thing', id: PAID }));

    setClock(YEARS);
    const wrong = writeManifest(folder, 'beta.yaml', { name: 'Wrong' });
    expect((await run(['import', wrong, RIGHT])).code).toBe(0);
    await use((catalogue) => recordProbed(catalogue, 'beta', [{ at: getTime(YEARS) }]));
    await publishCatalogue(files, 'test');

    setClock(HOUR);
    const corrected = writeManifest(folder, 'beta.yaml', { name: 'Right' });
    expect(await run(['import', corrected])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(getTime(YEARS)),
    });
    expect(await run(['check', '--repair'])).toMatchObject({ code: 1, stderr: expect.stringContaining(RIGHT) });
    const findTimes = async () =>
      (await runJson('check')).json.checks.find(({ name }: { name: string }) => name === 'times');
    const before = (await runJson('status')).json.revision;
    expect(await findTimes()).toMatchObject({
      ok: false,
      found: `revisions of the future: 2, the latest of ${getTime(YEARS)}`,
      hint: expect.stringContaining(RIGHT),
    });
    expect((await run(['metrics'])).stdout).toContain('catalogue_revisions_in_future 2\n');

    await run(['check', '--repair', RIGHT]);
    expect(await findTimes()).toMatchObject({ ok: true });
    expect((await run(['metrics'])).stdout).toContain('catalogue_revisions_in_future 0\n');
    expect((await runJson('status')).json).toMatchObject({ revision: before + 1, revised_at: getTime(HOUR) });
    await publishCatalogue(files, 'test');
    const published = openPublished(files.publishedFile);
    await use(async (catalogue) => {
      expect(await listPublishedFaults(catalogue, published, 'test')).toEqual([]);
      expect(await catalogue.query.selectFrom('probe_targets').select(['due_at', 'unpublished']).execute()).toEqual([
        { due_at: getTime(HOUR), unpublished: 1 },
      ]);
      expect(await listSampled(catalogue)).toEqual([{ at: getTime(HOUR) }]);
      // The budget of the day on which something was paid stays spent.
      expect(await countSpent(catalogue, NOW)).toBe(1000);
    });
    published.close();
    const fresh = join(folder, 'fresh.sqlite');
    await publishCatalogue({ ...files, publishedFile: fresh }, 'test');
    expect(readFileSync(fresh).includes(getTime(YEARS).slice(0, 7))).toBe(false);

    expect((await run(['import', corrected])).code).toBe(0);
    expect((await runJson('show', 'beta')).json.listing).toMatchObject({
      title: 'Right',
      listed_at: getTime(HOUR),
      updated_at: getTime(HOUR),
    });
  });
});

describe('a catalogue that nobody wrote for a week', () => {
  it('takes no write until the clock is said to be right, once', async () => {
    const { folder, run, runJson, setClock } = makeShifted();
    await run(['import', writeManifest(folder, 'alpha.yaml')]);
    setClock(8 * DAY);
    const beta = writeManifest(folder, 'beta.yaml');
    expect((await run(['import', beta])).code).toBe(1);
    await run(['check', '--repair', RIGHT]);
    expect((await runJson('status')).json.revised_at).toBe(getTime(8 * DAY));
    expect((await run(['import', beta])).code).toBe(0);
  });

  it('is not one where somebody looked, although readers saw nothing change', async () => {
    const { folder, run, setClock } = makeShifted();
    const alpha = writeManifest(folder, 'alpha.yaml');
    for (let days = 0; days < 24; days += 6) {
      setClock(days * DAY);
      expect((await run(['import', alpha])).code).toBe(0);
    }
  });

  it('is served all the same by a start after an upgrade, which says why it derives nothing', async () => {
    const file = makeKept('001-catalogue');
    const config = readConfig({ CATALOGUE: file, BASE_URL: 'https://apis.example' });
    const said: string[] = [];
    const { signal } = new AbortController();
    const now = () => new Date(getTime(YEARS));
    await prepareCatalogue({ config, now, signal, tell: (line) => said.push(line) });
    expect(said.join()).toContain(RIGHT);
  });
});

it('records what became of a payment, whatever the clock says', async () => {
  const { folder, file, run, use } = makeShifted();
  await run(['import', writeManifest(folder, 'alpha.yaml')]);
  const checked = await openCatalogue(file, { identity: IDENTITY, at: NOW });
  const pay = (at: string, later: string) => recordPaid(checked, 'alpha', { path: '/v1/:thing', id: PAID, at, later });
  await expect(pay(getTime(YEARS), NOW)).rejects.toMatchObject({ reason: 'wrong_clock' });
  await pay(NOW, getTime(-2 * HOUR));
  expect(await openLedger(checked, () => undefined).findPayment(PAID)).toMatchObject({ state: 'settled' });
  await checked.close();
  expect(await use((catalogue) => countSpent(catalogue, NOW))).toBe(1000);
});
