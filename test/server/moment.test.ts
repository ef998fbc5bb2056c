import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { shareForMoment } from '../../src/server/moment.ts';

it('reads once for all who come at the same time, and again a moment later', async () => {
  let count = 0;
  const read = shareForMoment(() => (count += 1));
  const started = performance.now();
  const values = [read(), read(), read()];
  if (performance.now() - started < 0.25) expect(values).toEqual([1, 1, 1]);
  await sleep(2);
  expect(read()).toBe((values.at(-1) ?? 0) + 1);
});

it('reads again after a failure', () => {
  let count = 0;
  const read = shareForMoment(() => {
    count += 1;
    if (count === 1) throw new Error('busy');
    return count;
  });
  expect(read).toThrow('busy');
  expect(read()).toBe(2);
});
