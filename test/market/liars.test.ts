import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildMarket, type MarketOptions, runMarket } from '../../scripts/bench/liars.ts';
import { SCRATCH } from '../scratch.ts';

const folder = mkdtempSync(join(SCRATCH, 'liars-'));
const file = join(folder, 'market.sqlite');
afterAll(() => rmSync(folder, { recursive: true }));

const run = (options: Partial<MarketOptions>) => runMarket({ seed: 1, scale: 0.1, days: 10, file, ...options });

/** What rules do about liars is for the benchmark to say: this is what holds whatever the rules are. */
describe('a market in which three of ten sellers lie', () => {
  it('has agents find honest sellers, and counts each call, payment and day once', async () => {
    const { days, honest, liars, calls, unserved, sales, verifying, fates, marked } = await run({
      scale: 0.05,
      days: 6,
    });
    const sold = Object.values(sales);
    expect([days, honest, liars, calls]).toEqual([6, 15, 8, 18]);
    expect(sales.honest.calls).toBeGreaterThan(calls / 2);
    expect(unserved + sold.reduce((sum, one) => sum + one.calls, 0)).toBe(calls);
    for (const { calls: made, spent, lost, unavoidable } of sold) {
      expect(spent).toBeGreaterThanOrEqual(made * 200);
      expect(lost).toBeLessThanOrEqual(spent);
      expect(unavoidable).toBeLessThanOrEqual(lost);
    }
    expect([sales.honest.lost, sales.rivals.lost, sales.name.unavoidable]).toEqual([0, 0, 0]);
    expect(sales.prober.unavoidable).toBe(sales.prober.lost);
    expect(verifying.calls).toBeGreaterThan(0);
    expect(verifying.calls).toBeLessThanOrEqual(days);
    expect(Object.values(fates).reduce((sum, { sellers }) => sum + sellers, 0)).toBe(honest);
    for (const { sellers, harm } of Object.values(fates)) {
      for (const harmed of Object.values(harm)) {
        expect(harmed.sellers).toBeLessThanOrEqual(sellers);
        expect(harmed.days).toBeLessThanOrEqual(harmed.sellers * days);
      }
    }
    expect(fates.undisturbed.score).toBeGreaterThan(60);
    for (const of of Object.values(marked)) expect(of.marked).toBeLessThanOrEqual(of.sellers);
  });

  it('comes to the same for the same seed, and removes its catalogue', async () => {
    const small = { scale: 0.02, days: 3 };
    const figures = await run(small);
    expect(await run(small)).toEqual(figures);
    expect(await run({ ...small, seed: 2 })).not.toEqual({ ...figures, seed: 2 });
    expect(existsSync(file)).toBe(false);
  });

  it('pays proven routes again at random if asked to, from the same budget', async () => {
    const [due, again] = [await run({ scale: 0.03, days: 4 }), await run({ scale: 0.03, days: 4, proven_share: 1 })];
    expect(again.verifying.calls).toBeGreaterThan(0);
    expect(again.verifying.calls).toBeLessThanOrEqual(due.verifying.calls);
    expect(again.verifying).not.toEqual(due.verifying);
  });

  it('has every seller at an address of its own, and imitators under the name of an honest one', () => {
    const { sellers, honest, attacks } = buildMarket({ seed: 1, scale: 1, days: 60 });
    expect(new Set(sellers.map(({ base_url }) => base_url)).size).toBe(sellers.length);
    expect(new Set(attacks.map(({ victim }) => victim)).size).toBe(51);
    const read = (title: string) => title.toLowerCase().replace('t0', 'to').replace('-', '');
    const names = new Set(honest.map(({ title }) => read(title)));
    expect(sellers.filter(({ kind, title }) => kind === 'name' && !names.has(read(title)))).toEqual([]);
  });
});
