import { describe, expect, it } from 'vitest';
import { DELISTING_METHOD } from '../../src/evidence/delisting.ts';
import { RELIABILITY_METHOD } from '../../src/evidence/reliability.ts';
import { PROBE_OUTCOMES } from '../../src/model/probe.ts';
import { buildFailingExample, buildMethodPage, buildScoreExample } from '../../src/views/pages/method-page.ts';
import { SITE } from '../http/serving.ts';

const page = buildMethodPage(SITE);

describe('the page on the method', () => {
  it('has every outcome once, with how it counts', () => {
    expect(page.outcomes.map(({ code }) => code)).toEqual([...PROBE_OUTCOMES]);
    const weights = Object.fromEntries(page.outcomes.map(({ code, weight }) => [code, weight]));
    expect(weights).toMatchObject({ payable: 'valid', timeout: 'failed', input_rejected: 'inconclusive' });
  });

  it('shows the numbers by which the code goes', () => {
    expect(page).toMatchObject({
      version: RELIABILITY_METHOD.version,
      window_days: RELIABILITY_METHOD.window_days,
      latency_probes: 12,
      scored: RELIABILITY_METHOD.scored,
      established: RELIABILITY_METHOD.established,
      delisting: { days: DELISTING_METHOD.days_without_valid_402, failures: DELISTING_METHOD.conclusive_failures },
      hours_between_samples: 6,
    });
  });

  it('works its examples out by the code that scores', () => {
    expect(buildScoreExample(12, 12)).toEqual({ samples: 12, valid: 12, days: '2.75', band: 'unscored', score: null });
    expect(buildScoreExample(13, 13)).toMatchObject({ days: '3', band: 'thin', score: '77' });
    expect(buildScoreExample(57, 57)).toMatchObject({ days: '14', band: 'established', score: '94' });
    expect(buildScoreExample(120, 120).score).toBe('97');
    expect(page.worked).toMatchObject({ samples: 118, valid: 112, share: '94.9', score: '89' });
    expect(page.examples.every(({ samples, valid }) => valid <= samples)).toBe(true);
    // All samples of the longest example are inside the window.
    expect(Math.max(...page.examples.map(({ samples }) => samples))).toBeLessThanOrEqual(
      (RELIABILITY_METHOD.window_days * 24) / page.hours_between_samples,
    );
  });

  it('works out a failing listing as it is asked and scored', () => {
    // 81 valid answers in 20 days; failures 6, 12, 18, 30 and 54 hours after the last of them, then once a day.
    expect(page.failing).toEqual(buildFailingExample({ valid: 20, failing: 9 }));
    expect(page.failing).toMatchObject({ valid: 81, failed: 11, share_by_number: '88.0' });
    // From 3 hours before the first to halfway between the last that was valid and the first that was not, of all until
    // 3 hours after the last.
    expect(page.failing.share_by_time).toBe(((20.25 / 28.5) * 100).toFixed(1));
    const weights = [...Array(83).fill(6), 9, 18, ...Array(6).fill(24), 15];
    const sum = weights.reduce((a, b) => a + b);
    expect(page.failing.effective).toBe((sum ** 2 / weights.reduce((a, b) => a + b * b, 0)).toFixed(1));
    expect(Number(page.failing.score)).toBeLessThan(60);
    expect(page.formula).toContain('score = 100 × (p + z²/2n');
  });

  it('names who asks, as the request of a probe does', () => {
    expect(page.user_agent).toBe('agent-payable-apis (+https://catalogue.example/method)');
    expect(page.request).toContain(page.user_agent);
  });
});
