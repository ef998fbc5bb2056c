import { describe, expect, it } from 'vitest';
import { findNextDue, listProbeHosts } from '../../src/catalogue/read/probe-plan.ts';
import type { ProbeReport } from '../../src/probing/run.ts';
import { watchProbes } from '../../src/probing/watch.ts';
import { makeCatalogue, NOW } from '../builders.ts';
import { getTime, makeWorld } from '../catalogue/evidence-world.ts';

const REPORT: ProbeReport = {
  ...{ scope: 'due', complete: true, hosts: 1, fault_is_ours: false, took_ms: 5, outcomes: { payable: 2 } },
  routes: { planned: 2, done_before: 0, probed: 2, put_off: 0 },
  listings: { changed: 1, unchanged: 1, delisted: 0, relisted: 0 },
  statements: { stated: 0, changed: 0 },
  revision: { before: 3, after: 4 },
};

/** Watches with runs that end as told, one after the other, stopped in the last of them. */
async function watch(...runs: (() => ProbeReport)[]) {
  const stopping = new AbortController();
  const said: string[] = [];
  const run = async () => {
    const next = runs.shift();
    if (runs.length === 0) setTimeout(() => stopping.abort(), 20);
    if (!next) throw new Error('one run too many');
    return next();
  };
  const options = { now: () => new Date(NOW), signal: stopping.signal, run, say: (line: string) => said.push(line) };
  return { said, ended: watchProbes(await makeCatalogue(), options) };
}

describe('a watch', () => {
  it('goes on after a locked catalogue', async () => {
    const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    const { said, ended } = await watch(() => {
      throw busy;
    });
    await expect(ended).rejects.toMatchObject({ code: 'unavailable' });
    expect(said).toEqual(['A probe run failed and will be tried again: Another process is writing to the catalogue.']);
  });

  it('ends with a permanent failure', async () => {
    const damaged = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' });
    const { said, ended } = await watch(() => {
      throw damaged;
    });
    await expect(ended).rejects.toBe(damaged);
    expect(said).toEqual([]);
  });

  it('returns its sum when it is stopped', async () => {
    const { said, ended } = await watch(() => REPORT);
    expect(await ended).toEqual(REPORT);
    expect(said).toEqual(['Probed 2 routes on 1 hosts: 2 payable. 1 listings changed, 0 delisted, 0 put back.']);
  });
});

describe('what is due next', () => {
  it('excludes what was already due and was put off', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.declare({ slug: 'beta', base_url: 'https://beta.example-provider.com' });
    await world.look(0);
    await world.look(2, { slug: 'beta' });
    expect(await findNextDue(world.catalogue, getTime(3))).toBe(getTime(6));
    expect(await listProbeHosts(world.catalogue, { kind: 'due', at: getTime(6) })).toHaveLength(1);
    expect(await findNextDue(world.catalogue, getTime(6))).toBe(getTime(8));
    expect(await findNextDue(world.catalogue, getTime(8))).toBeUndefined();
  });
});
