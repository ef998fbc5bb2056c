import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { makeFolder } from '../builders.ts';
import { startCatalogue } from '../cli/running.ts';
import { BEHAVIOURS, BY_HOST, type HostKind } from './fake-hosts/behaviours.ts';
import { declareFakeHosts, listTaken, listWrong, openFakeHostProcess, watchMemory } from './fake-hosts/fake-hosts.ts';

/** Every kind of host three times, each with some of the behaviours; the campaign with 500 hosts is a long test. */
const KINDS = Object.keys(BY_HOST).flatMap((kind) => Array<HostKind>(3).fill(kind as HostKind));
const ROUTES = Math.ceil(Object.keys(BEHAVIOURS).length / 3);

/** Most passes over all routes until each was listened to; a machine that is busy with other work may need some. */
const MOST_PASSES = 6;

it('hosts of every kind get the right outcomes, in less than 300 MB', async () => {
  const fakeHosts = await openFakeHostProcess(KINDS, ROUTES);
  const file = join(makeFolder(), 'catalogue.sqlite');
  await declareFakeHosts(file, fakeHosts);
  const catalogue = await openCatalogueForReading(file);
  onTestFinished(() => catalogue.close());
  const environment = { CATALOGUE: file, ALLOW_PRIVATE_NETWORKS: 'on', BASE_URL: 'https://apis.example' };
  const flags = ['--at-once', '24', '--pause', '5', '--timeout', '1000', '--json'];
  const probe = async (...scope: string[]) => {
    const before = listTaken(catalogue).length;
    const run = startCatalogue(['probe', ...scope, ...flags], environment);
    onTestFinished(() => {
      run.child.kill('SIGKILL');
    });
    const peak = await watchMemory(run.child.pid, run.ended);
    expect((await run.ran).code).toBe(0);
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThan(300);
    return listTaken(catalogue).slice(before);
  };

  let taken = await probe('--all');
  // A prober that was too busy to listen says so and blames no host. What it then hears is judged like all else.
  for (let pass = 1; pass < MOST_PASSES && taken.some(isHeldUp); pass += 1) {
    const again = await probe('--all', '--again');
    taken = taken.map((one) => (isHeldUp(one) ? (again.find(({ url }) => url === one.url) ?? one) : one));
  }
  expect(listWrong(fakeHosts, taken)).toEqual([]);
});

function isHeldUp({ cause }: { cause: string | null }): boolean {
  return cause === 'held_up';
}
