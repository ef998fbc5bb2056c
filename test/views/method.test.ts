import { describe, expect, it } from 'vitest';
import { RELIABILITY_METHOD } from '../../src/evidence/reliability.ts';
import { ROUND_MS } from '../../src/evidence/rounds.ts';
import {
  buildFailingExample,
  buildProbeSample,
  buildScoreExample,
  SCORE_FORMULA,
  SCORE_HISTORIES,
} from '../../src/views/method.ts';
import { SITE } from '../http/serving.ts';

describe('the page on the method', () => {
  it('works its examples out by the code that scores', () => {
    expect(buildScoreExample(12, 12)).toEqual({
      ...{ samples: 12, valid: 12, share: '100.0', days: '2.75' },
      ...{ band: 'unscored', score: null },
    });
    expect(buildScoreExample(13, 13)).toMatchObject({ days: '3', band: 'thin', score: '77' });
    expect(buildScoreExample(57, 57)).toMatchObject({ days: '14', band: 'established', score: '94' });
    expect(buildScoreExample(120, 120).score).toBe('97');
    expect(buildScoreExample(118, 112)).toMatchObject({ share: '94.9', score: '89' });
    expect(SCORE_HISTORIES.every(([samples, valid]) => valid <= samples)).toBe(true);
    // All samples of the longest example are inside the window.
    expect(Math.max(...SCORE_HISTORIES.map(([samples]) => samples))).toBeLessThanOrEqual(
      (RELIABILITY_METHOD.window_days * 86_400_000) / ROUND_MS,
    );
  });

  it('works out a failing listing as it is asked and scored', () => {
    // 81 valid answers in 20 days; failures 6, 12, 18, 30 and 54 hours after the last of them, then once a day.
    const example = buildFailingExample({ valid: 20, failing: 9 });
    expect(example).toMatchObject({ valid: 81, failed: 11, share_by_number: '88.0' });
    // From 3 hours before the first to halfway between the last that was valid and the first that was not, of all until
    // 3 hours after the last.
    expect(example.share_by_time).toBe(((20.25 / 28.5) * 100).toFixed(1));
    const weights = [...Array(83).fill(6), 9, 18, ...Array(6).fill(24), 15];
    const sum = weights.reduce((a, b) => a + b);
    expect(example.effective).toBe((sum ** 2 / weights.reduce((a, b) => a + b * b, 0)).toFixed(1));
    expect(Number(example.score)).toBeLessThan(60);
    expect(SCORE_FORMULA).toContain('score = 100 × (p + z²/2n');
  });

  it('names who asks, as the request of a probe does', () => {
    expect(buildProbeSample(SITE)).toContain('User-Agent: agent-payable-apis (+https://catalogue.example/method)');
  });
});
