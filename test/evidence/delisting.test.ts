import { expect, it } from 'vitest';
import { findFailingRun, isLongEnoughToDelist } from '../../src/evidence/delisting.ts';
import { getNextProbeAt } from '../../src/evidence/schedule.ts';
import type { ProbeOutcome } from '../../src/model/probe.ts';
import { NOW } from '../records.ts';

const DAY = 24 * 60 * 60 * 1000;
const getDay = (daysAgo: number) => new Date(Date.parse(NOW) - daysAgo * DAY).toISOString();
const makeRun = (outcome: ProbeOutcome, from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ at: getDay(from - (index * from) / count), outcome }));

it('a failing run begins at the last valid 402, or at the first failure if there never was one', () => {
  const failures = makeRun('timeout', 12, 8);
  expect(findFailingRun([...failures, { at: getDay(13), outcome: 'payable' }])).toEqual({
    since: getDay(13),
    failures: 8,
  });
  expect(findFailingRun(failures)).toEqual({ since: getDay(12), failures: 8 });
  expect(findFailingRun([...failures, { at: NOW, outcome: 'payable_with_changed_terms' }])).toBeUndefined();
  expect(findFailingRun([])).toBeUndefined();
  expect(findFailingRun(makeRun('rate_limited', 30, 50))).toBeUndefined();
});

it('takes 14 days and 10 conclusive failures, both', () => {
  expect(isLongEnoughToDelist({ since: getDay(14), failures: 10 }, NOW)).toBe(true);
  expect(isLongEnoughToDelist({ since: getDay(13.9), failures: 100 }, NOW)).toBe(false);
  expect(isLongEnoughToDelist({ since: getDay(100), failures: 9 }, NOW)).toBe(false);
});

it.each([0, 0.5, 0.999])('is reached after 14 days by a listing that is asked once a day (chance %f)', (chance) => {
  const samples: { at: string; outcome: ProbeOutcome }[] = [{ at: getDay(20), outcome: 'payable' }];
  const isOut = (at: string) => isLongEnoughToDelist(findFailingRun(samples) ?? { since: at, failures: 0 }, at);
  let at = new Date(Date.parse(getDay(20)) + DAY / 4).toISOString();
  const failing_since = at;
  for (; !isOut(at); at = getNextProbeAt({ at, failing_since, delisted_at: null, wait_until: null }, () => chance)) {
    samples.push({ at, outcome: 'timeout' });
  }
  const days = (Date.parse(at) - Date.parse(getDay(20))) / DAY;
  expect(days).toBeGreaterThanOrEqual(14);
  expect(days).toBeLessThan(15.2);
  expect(samples.length - 1).toBeGreaterThanOrEqual(14);
  expect(samples.length - 1).toBeLessThan(22);
});

it('a failing run does not include time without probes', () => {
  const failures = makeRun('timeout', 2, 8);
  expect(findFailingRun([{ at: getDay(40), outcome: 'payable' }, ...failures])).toEqual({
    since: new Date(Date.parse(getDay(2)) - DAY / 4).toISOString(),
    failures: 8,
  });
});
