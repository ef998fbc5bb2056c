import { expect, it } from 'vitest';
import { describeCaution, describeCautionSummary } from '../../../src/views/words/caution.ts';

it.each([
  ['2026-11-14T09:00:00.000Z', /\(declared 2026-11-14\)\.$/],
  [null, /\(declared without a date\)\.$/],
])('a route that was never seen is told of with the day it was declared: %s', (since, sentence) => {
  expect(describeCaution({ code: 'never_seen', since })).toMatch(sentence);
});

it('any other caution is told of with the day since when, where that is known', () => {
  const [dated, undated] = ['2026-11-14T09:00:00.000Z', null].map((since) =>
    describeCaution({ code: 'undelivered', since }),
  );
  expect(dated).toBe(`${undated?.slice(0, -1)} (since 2026-11-14).`);
});

it.each([
  ['GET /tides', 1, 'GET /tides: '],
  [null, 3, '3 routes: '],
  [null, 1, ''],
])('a caution of %s, of %i routes, names what it is of', (route, routes, subject) => {
  const caution = { code: 'undelivered', since: null } as const;
  expect(describeCautionSummary({ ...caution, route, routes })).toBe(`${subject}${describeCaution(caution)}`);
});
