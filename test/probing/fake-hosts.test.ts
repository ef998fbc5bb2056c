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

it('hosts of every kind get the right outcomes, in less than 300 MB', async () => {
  const fakeHosts = await openFakeHostProcess(KINDS, ROUTES);
  const file = join(makeFolder(), 'catalogue.sqlite');
  await declareFakeHosts(file, fakeHosts);
  const environment = { CATALOGUE: file, ALLOW_PRIVATE_NETWORKS: 'on', BASE_URL: 'https://apis.example' };
  const flags = ['--at-once', '24', '--pause', '5', '--timeout', '1000', '--json'];
  const run = startCatalogue(['probe', '--all', ...flags], environment);
  onTestFinished(() => {
    run.child.kill('SIGKILL');
  });
  const peak = await watchMemory(run.child.pid, run.ended);
  expect((await run.ran).code).toBe(0);
  const catalogue = await openCatalogueForReading(file);
  onTestFinished(() => catalogue.close());
  const taken = listTaken(catalogue);
  // Where others keep the machine busy, the prober may be too busy to listen, and says so instead of blaming a host.
  const [heldUp, judged] = [taken.filter(isHeldUp), taken.filter((one) => !isHeldUp(one))];
  expect(heldUp.length).toBeLessThan(taken.length / 10);
  expect(listWrong(fakeHosts, judged).filter((line) => !heldUp.some(({ url }) => line.startsWith(`${url} `)))).toEqual(
    [],
  );
  expect(peak).toBeGreaterThan(50);
  expect(peak).toBeLessThan(300);
});

function isHeldUp({ cause }: { cause: string | null }): boolean {
  return cause === 'held_up';
}
