import { describe, expect, it } from 'vitest';
import { getRound, getRoundStart, isRoundOurFault } from '../../src/evidence/rounds.ts';
import { getNextProbeAt } from '../../src/evidence/schedule.ts';
import { NOW } from '../records.ts';

const host = (valid: boolean, known_good = true) => ({ valid, known_good });
/** A catalogue of many hosts that used to answer, after a normal round. */
const MANY = { known_good: 300, was_ours: false };

describe('a round', () => {
  it('begins every six hours, UTC', () => {
    const round = getRound('2026-11-20T12:00:00.000Z');
    expect(getRoundStart(round)).toBe('2026-11-20T12:00:00.000Z');
    expect(getRound('2026-11-20T17:59:59.999Z')).toBe(round);
    expect(getRound('2026-11-20T18:00:00.000Z')).toBe(round + 1);
  });

  it('is our fault if most hosts that used to answer failed', () => {
    expect(isRoundOurFault([host(true), host(true), host(false), host(false), host(false)], MANY)).toBe(true);
    expect(isRoundOurFault([host(true), host(true), host(true), host(false), host(false)], MANY)).toBe(false);
    expect(isRoundOurFault([host(true), host(true), host(true), host(false), host(false), host(false)], MANY)).toBe(
      false,
    );
  });

  it('is not our fault because of hosts that never answered', () => {
    const dead = Array.from({ length: 50 }, () => host(false, false));
    expect(isRoundOurFault([...dead, ...Array.from({ length: 5 }, () => host(true))], MANY)).toBe(false);
    // Nor at the beginning of a round, while few other hosts were probed.
    expect(isRoundOurFault([...dead, host(true)], MANY)).toBe(false);
  });

  it('counts every host while fewer than five ever answered, and decides nothing from four', () => {
    const few = { known_good: 4, was_ours: false };
    expect(
      isRoundOurFault(
        Array.from({ length: 5 }, () => host(false, false)),
        few,
      ),
    ).toBe(true);
    expect(
      isRoundOurFault(
        Array.from({ length: 4 }, () => host(false)),
        few,
      ),
    ).toBe(false);
    expect(
      isRoundOurFault(
        Array.from({ length: 4 }, () => host(false)),
        MANY,
      ),
    ).toBe(false);
  });

  it('begins like the previous one, unless the first hosts answer', () => {
    const after = { known_good: 300, was_ours: true };
    expect(isRoundOurFault([host(false)], after)).toBe(true);
    expect(isRoundOurFault([host(false), host(false), host(false), host(true)], after)).toBe(true);
    expect(isRoundOurFault([host(false), host(true)], after)).toBe(false);
    expect(isRoundOurFault([...Array.from({ length: 3 }, () => host(true)), host(false), host(false)], after)).toBe(
      false,
    );
  });
});

describe('the next probe', () => {
  const hours = (next: string) => (Date.parse(next) - Date.parse(NOW)) / 3_600_000;
  const at = { at: NOW, failing_since: null, delisted_at: null, wait_until: null };

  it('comes after about six hours', () => {
    expect(hours(getNextProbeAt(at, () => 0))).toBeCloseTo(5.4);
    expect(hours(getNextProbeAt(at, () => 0.5))).toBe(6);
    expect(hours(getNextProbeAt(at, () => 0.999))).toBeCloseTo(6.6, 2);
  });

  it('of a failing listing comes later and later, up to a day', () => {
    const after = (hoursAgo: number) => {
      const failing_since = new Date(Date.parse(NOW) - hoursAgo * 3_600_000).toISOString();
      return hours(getNextProbeAt({ ...at, failing_since }, () => 0.5));
    };
    expect([0, 6, 12, 18, 24, 500].map(after)).toEqual([6, 6, 12, 18, 24, 24]);
  });

  it('of a listing removed by a rule comes later and later, between a day and a week', () => {
    const after = (since: string) => hours(getNextProbeAt({ ...at, delisted_at: since }, () => 0.5));
    expect(after(NOW)).toBe(24);
    expect(after('2026-11-17T12:00:00.000Z')).toBe(72);
    expect(after('2026-01-01T00:00:00.000Z')).toBe(7 * 24);
  });

  it('does not come before the host allows it', () => {
    expect(getNextProbeAt({ ...at, wait_until: '2026-11-22T00:00:00.000Z' }, () => 0.5)).toBe(
      '2026-11-22T00:00:00.000Z',
    );
  });
});
