import fc from 'fast-check';
import { expect, it } from 'vitest';
import { advancePull, openPullState } from '../../../src/sources/bazaar/pull-state.ts';

interface Feed {
  /** For each row whether it is shown. */
  rows: boolean[];
  requested: number;
  cap: number;
  /** What the server says of its paging. */
  states: 'total' | 'total_and_limit' | 'nothing';
}

/** Pulls a feed from memory. Returns the rows, the requested pages, and how it ended. */
function pullAll({ rows, requested, cap, states }: Feed) {
  const state = openPullState(0, requested, 5000);
  for (;;) {
    const limit = Math.min(requested, cap);
    const window = rows.slice(state.offset, state.offset + limit);
    const keys = window.flatMap((isShown, index) => (isShown ? [`row ${state.offset + index}`] : []));
    const total = states === 'nothing' ? null : rows.length;
    const page = { items: keys, total, limit: states === 'total_and_limit' ? limit : null };
    const { end } = advancePull(state, page, keys);
    if (end) return { seen: state.seen.size, pages: state.pages, end };
  }
}

const size = fc.integer({ min: 1, max: 60 });

it('every shown row of a filtered feed is seen, and the end is the stated total', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 400 }), size, size, (rows, requested, cap) => {
      const { seen, pages, end } = pullAll({ rows, requested, cap, states: 'total_and_limit' });
      expect(seen).toBe(rows.filter(Boolean).length);
      expect(end).toEqual({ reason: 'total_reached', complete: true });
      expect(pages).toBeLessThanOrEqual(rows.length + 5);
    }),
    { numRuns: 500 },
  );
});

it('every row of an unfiltered feed is seen, however silently its pages are capped', () => {
  const states = fc.constantFrom<Feed['states']>('total', 'nothing');
  fc.assert(
    fc.property(fc.nat(400), size, size, states, (length, requested, cap, said) => {
      const rows = Array.from({ length }, () => true);
      const { seen, end } = pullAll({ rows, requested, cap, states: said });
      expect(seen).toBe(length);
      expect(end.complete).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it('a correctly paged feed needs few more requests than it has pages', () => {
  const rows = Array.from({ length: 15_000 }, () => true);
  expect(pullAll({ rows, requested: 100, cap: 100, states: 'total_and_limit' }).pages).toBeLessThan(170);
});
