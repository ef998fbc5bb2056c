import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listChanges } from '../../src/catalogue/read/changes.ts';
import { NOW } from '../builders.ts';
import { makeTold, readEvent, takeAll } from '../notifying/receiver.ts';
import type { Seller } from '../probing/market.ts';
import { sendChallenge, sendStatus } from '../probing/sending.ts';
import { makeChallenge, makeOffer } from '../x402/challenges.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const COMMAND = fileURLToPath(new URL('./notices/command-at.ts', import.meta.url));
const KILLS = 50;
const HOUR = 3_600_000;

/** Kills a run at a random moment after it has asked something: before that nothing can be lost. */
async function killSoon(child: ChildProcess, { asked }: Seller): Promise<void> {
  const wanted = asked.length + 1 + Math.floor(Math.random() * 3);
  while (asked.length < wanted && child.exitCode === null) await sleep(2);
  await sleep(Math.random() * 300);
  child.kill('SIGKILL');
}

it('loses no event and sends none under two ids, with the prober killed at 50 moments', async () => {
  const { provider, probeAll, environment, file, getKey } = await makeTold();
  await probeAll(0);
  // An answer takes a while, so that some kills come between an event and the record of it.
  provider.answerHook = async (response, asked) => {
    await sleep(150);
    takeAll(response, asked);
  };
  const start = (hours: number, ...args: string[]) => {
    const at = new Date(Date.parse(NOW) + hours * HOUR).toISOString();
    return spawn(process.execPath, [COMMAND, at, ...args], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ENV_FILES: 'off', ALLOW_PRIVATE_NETWORKS: 'on', ...environment },
      stdio: 'ignore',
    });
  };
  const probe = ['probe', 'alpha', 'beta', '--pause', '0'];
  let [killed, finished, hours] = [0, 0, 1];
  while (killed < KILLS) {
    hours += 8;
    const amount = String(10_000 + (hours % 5) * 1000);
    const fails = hours % 3 === 0;
    provider.answerRoutes = (response) =>
      fails ? sendStatus(response, 500) : sendChallenge(response, makeChallenge({ accepts: [makeOffer({ amount })] }));
    const child = start(hours, ...probe);
    const ended = once(child, 'close');
    void killSoon(child, provider.seller);
    const [, signal] = await ended;
    if (signal === 'SIGKILL') killed += 1;
    else finished += 1;
  }
  for (let turn = 0; turn < 3; turn += 1) {
    hours += 1;
    expect(await once(start(hours, ...probe), 'close')).toEqual([0, null]);
  }

  const catalogue = await openCatalogueForReading(file);
  const recorded = await catalogue.query.selectFrom('deliveries').selectAll().execute();
  const changes = await listChanges(catalogue, { slug: 'alpha', limit: 10_000, kinds: ['priced'] });
  const [subscription] = await catalogue.query.selectFrom('subscriptions').selectAll().execute();
  await catalogue.close();
  const key = await getKey();
  const received = provider.listHooked().map((one) => readEvent(one, key));
  const events = received.filter(({ type }) => type !== 'challenge');
  const ids = new Set(events.map(({ id }) => id));
  console.info(
    `${killed} killed, ${finished} finished; ${recorded.length} events recorded, ${events.length} received, ` +
      `${events.length - ids.size} of them again`,
  );
  // The log of changes is written by other code: each change of a price has its event, recorded and received.
  const priced = changes.filter(({ detail }) => detail.from !== null).map(({ revision }) => revision);
  const told = events.filter(({ type }) => type === 'price_changed').map(({ data }) => data.revision);
  expect([...new Set(told)].sort()).toEqual(priced.sort());
  expect(priced.length).toBeGreaterThan(10);
  expect(subscription).toMatchObject({ state: 'on', left_out: 0 });
  expect(recorded.filter(({ state }) => state !== 'delivered')).toEqual([]);
  expect(ids).toEqual(new Set(recorded.map(({ id }) => id)));
  // One event has one id, whenever it was sent.
  expect(new Set(events.map(({ type, data, timestamp }) => `${type} ${data.revision} ${timestamp}`)).size).toBe(
    ids.size,
  );
});
