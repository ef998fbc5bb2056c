import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { readConfig } from '../../src/config.ts';
import { startServer } from '../../src/http/server.ts';
import { openQueue } from '../../src/submissions/queue.ts';
import { IDENTITY, makeFolder, NOW } from '../builders.ts';
import { startCatalogue } from '../cli/running.ts';
import { askJson, FILE, openShop, writeShopFile } from '../intake/serving.ts';
import { openNewCatalogue } from '../new-catalogue.ts';

const KILLS = 50;
const PROVIDERS = 40;
const ATTACKS = 1000;
const ATTACKERS = 20;

/** A server of an empty catalogue, whose intake a test kills, and a prober beside it, which a test starts and kills. */
async function openWorld() {
  const folder = makeFolder();
  const settings = {
    ...{ CATALOGUE: join(folder, 'catalogue.sqlite'), SUBMISSIONS: join(folder, 'submissions.sqlite') },
    ...{ SITE: join(folder, 'site'), BASE_URL: 'http://catalogue.example', ALLOW_PRIVATE_NETWORKS: 'on' },
  };
  await (await openNewCatalogue(settings.CATALOGUE, { identity: IDENTITY, at: NOW })).close();
  const config = readConfig({ ...settings, PORT: '0', INTAKE: 'on', TRUSTED_PROXIES: 'loopback' });
  const server = await startServer({ config, logger: pino({ level: 'silent' }) });
  onTestFinished(() => server.close());
  return {
    settings,
    url: server.url,
    startProber: () => startCatalogue(['probe', '--watch', '--pause', '0'], settings).child,
  };
}

/** Kills the intake as a power failure would, where it runs: the server is in this process. */
function killIntake(): void {
  const ids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  for (const id of ids)
    if (readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('intake/process.ts')) process.kill(Number(id), 'SIGKILL');
}

/** Keeps a process running, which `kill` ends as a power failure would. */
function keep(start: () => ChildProcess) {
  let child = start();
  onTestFinished(() => void child.kill('SIGKILL'));
  return async () => {
    const ended = new Promise((end) => child.once('exit', end));
    child.kill('SIGKILL');
    await ended;
    child = start();
  };
}

/** Asks until there is an answer that is wanted: the process may be away. */
async function askUntil<Answer>(
  ask: () => Promise<{ status: number; json: Answer }>,
  isGood: (json: Answer) => boolean,
) {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer && answer.status < 400 && isGood(answer.json)) return answer.json;
    await sleep(300);
  }
}

/** Goes the whole way for one provider, from an address of its own. Gives its origin once it is listed. */
async function list(url: string, number: number): Promise<string> {
  const { origin, files } = await openShop();
  const from = { 'X-Forwarded-For': `198.51.${Math.floor(number / 200)}.${number % 200}` };
  const submitted = await askUntil(
    () => askJson(`${url}/submit/list`, { url: origin }, from),
    () => true,
  );
  files[FILE] = writeShopFile(origin);
  const address = `${url}${new URL(submitted.submission_url).pathname}`;
  await askUntil(
    () => askJson(address, {}, from),
    ({ state }) => state === 'received' || state === 'listed',
  );
  await askUntil(
    () => askJson(address, undefined, from),
    ({ state }) => state === 'listed',
  );
  return origin;
}

it('loses no submission and lists none twice while intake and prober are killed at 50 moments', async () => {
  const { url, startProber, settings } = await openWorld();
  const killProber = keep(startProber);
  let [kills, isOver] = [0, false];
  const killing = (async () => {
    for (; kills < KILLS || !isOver; kills += 1) {
      await sleep(300 + Math.random() * 3500);
      if (kills >= KILLS) continue;
      await (Math.random() < 0.5 ? killIntake() : killProber());
    }
  })();
  const origins: string[] = [];
  // Some come while there are still kills to come, whatever the machine does.
  for (let number = 0; number < PROVIDERS || kills < KILLS; number += 4)
    origins.push(...(await Promise.all([0, 1, 2, 3].map((more) => list(url, number + more)))));
  isOver = true;
  await killing;
  const catalogue = await openCatalogueForReading(settings.CATALOGUE);
  onTestFinished(() => catalogue.close());
  const listings = await listListings(catalogue);
  expect(listings.map(({ base_url }) => base_url).sort()).toEqual([...new Set(origins)].sort());
  expect(listings.every(({ state }) => state === 'live')).toBe(true);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}, 1_800_000);

it('lists an honest provider within a minute beside 1,000 submissions of an attacker, whose hosts never answer', async () => {
  const { url, startProber, settings } = await openWorld();
  const hanging = createServer(() => undefined);
  await new Promise<void>((listening) => hanging.listen(0, '0.0.0.0', listening));
  onTestFinished(() => {
    hanging.closeAllConnections();
    hanging.close();
  });
  const { port } = hanging.address() as { port: number };
  const queue = openQueue(settings.SUBMISSIONS);
  for (let number = 0; number < ATTACKS; number += 1) {
    const origin = `http://127.1.${Math.floor(number / 250)}.${1 + (number % 250)}:${port}`;
    const at = new Date(Date.now() - ATTACKS + number).toISOString();
    const { id } = queue.submit(origin, { client: `attacker ${number % ATTACKERS}`, at, file: null });
    queue.move(id, { state: 'received', at, reason: 'The file is there.' });
  }
  queue.close();
  keep(startProber);
  // All places of the prober are taken before the honest provider comes.
  await sleep(15_000);
  const began = performance.now();
  await list(url, 1);
  expect(performance.now() - began).toBeLessThan(60_000);
}, 300_000);
