import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { makeFolder } from '../builders.ts';
import { startCatalogue } from '../cli/running.ts';
import type { HostKind } from '../probing/fake-hosts/behaviours.ts';
import {
  declareFakeHosts,
  listTaken,
  listWrong,
  openFakeHostProcess,
  watchMemory,
} from '../probing/fake-hosts/fake-hosts.ts';

const ROUTES_PER_HOST = 10;
/** As the command has it by itself. */
const AT_ONCE = 16;

/** Hosts that a run visits at once (`HOSTS_PER_REQUEST` in `src/probing/visit-hosts.ts`). Each has one route under way. */
const VISITS = 2 * AT_ONCE;

/** 500 hosts: most with routes of every kind, some that are all of one. */
const KINDS: HostKind[] = Array.from({ length: 500 }, (_, index) => {
  const special: HostKind[] = ['hanging', 'wildcard', 'closed', 'garbage', 'not_tls', 'robots', 'heavy_robots'];
  return index % 5 === 0 ? (special[(index / 5) % special.length] ?? 'mixed') : 'mixed';
});

/** Starts the real command on a catalogue file. */
function startRun(file: string) {
  const environment = { CATALOGUE: file, ALLOW_PRIVATE_NETWORKS: 'on', BASE_URL: 'https://apis.example' };
  const flags = ['--at-once', String(AT_ONCE), '--pause', '20', '--timeout', '3000', '--json'];
  const run = startCatalogue(['probe', '--all', ...flags], environment);
  onTestFinished(() => {
    run.child.kill('SIGKILL');
  });
  return run;
}

it('5,000 routes on 500 hosts of every kind come out as what they are, in bounded memory', async () => {
  const fakeHosts = await openFakeHostProcess(KINDS, ROUTES_PER_HOST);
  const file = join(makeFolder(), 'catalogue.sqlite');
  await declareFakeHosts(file, fakeHosts);
  const run = startRun(file);
  const peak = await watchMemory(run.child.pid, run.ended);
  const { code, stdout, stderr } = await run.ran;
  const catalogue = await openCatalogueForReading(file);
  onTestFinished(() => catalogue.close());
  expect([code, stderr.split('\n').filter((line) => !/^(Probing: |$)/.test(line))]).toEqual([0, []]);
  expect(listWrong(fakeHosts, listTaken(catalogue))).toEqual([]);
  const report = JSON.parse(stdout);
  const seconds = report.took_ms / 1000;
  const asked = [...(await fakeHosts.countAsked()).values()].reduce((sum, count) => sum + count);
  console.log(
    `${report.routes.probed} routes on ${report.hosts} hosts, ${asked} requests, in ${seconds.toFixed(1)} s ` +
      `(${(report.routes.probed / seconds).toFixed(0)} routes/s), at most ${peak.toFixed(0)} MB`,
  );
  expect(report).toMatchObject({ complete: true, hosts: 500, routes: { planned: 5_000, probed: 5_000, put_off: 0 } });
  expect(peak).toBeLessThan(300);
}, 1_800_000);

it('a run killed again and again asks nothing twice that it wrote down', async () => {
  const seed = Date.now() % 1_000_000;
  const random = createRandom(seed);
  const fakeHosts = await openFakeHostProcess(KINDS, ROUTES_PER_HOST);
  const file = join(makeFolder(), 'catalogue.sqlite');
  await declareFakeHosts(file, fakeHosts);
  const catalogue = await openCatalogueForReading(file);
  onTestFinished(() => catalogue.close());
  const count = catalogue.engine.sqlite.prepare('SELECT count(*) FROM samples').pluck();
  const kills: { recorded: string[]; asked: Map<string, number> }[] = [];
  for (let kill = 1; kill <= 6; kill += 1) {
    const run = startRun(file);
    const until = kill * 700 + Math.floor(random() * 300);
    while (Number(count.get()) < until && run.child.exitCode === null) await sleep(5 + Math.floor(random() * 20));
    run.child.kill('SIGKILL');
    await run.ended;
    kills.push({ recorded: listTaken(catalogue).map(({ url }) => url), asked: await fakeHosts.countAsked() });
  }
  const last = startRun(file);
  const { code, stdout, stderr } = await last.ran;
  expect([code, stderr.split('\n').filter((line) => !/^(Probing: |$)/.test(line))]).toEqual([0, []]);
  expect(listWrong(fakeHosts, listTaken(catalogue))).toEqual([]);
  const asked = await fakeHosts.countAsked();
  const again = kills.flatMap((kill) => kill.recorded.filter((url) => asked.get(url) !== kill.asked.get(url)));
  expect(again).toEqual([]);
  const routes = fakeHosts.hosts.flatMap((host) => host.routes.map(({ url }) => asked.get(url) ?? 0));
  const extra = routes.reduce((sum, times) => sum + Math.max(0, times - 1), 0);
  const report = JSON.parse(stdout);
  console.log(
    `seed ${seed}: killed ${kills.length} times after ${kills.map(({ recorded }) => recorded.length).join(', ')} routes; ` +
      `${extra} routes asked once more; the last run found ${report.routes.done_before} done and asked ${report.routes.probed}`,
  );
  expect(extra).toBeLessThanOrEqual(VISITS * kills.length);
  expect(report.routes.done_before + report.routes.probed).toBe(5_000);
}, 1_800_000);
