import { describe, expect, it } from 'vitest';
import { isConclusive, isPayable, PROBE_OUTCOMES } from '../../../src/model/probe.ts';
import { formatOutcome, getOutcomeWeight, OUTCOME_WORDS } from '../../../src/views/words/outcome.ts';

describe('the words of outcomes', () => {
  it('are there for every outcome: a phrase that fits a table, and sentences that say what it means', () => {
    expect(Object.keys(OUTCOME_WORDS).sort()).toEqual([...PROBE_OUTCOMES].sort());
    for (const { phrase, meaning } of Object.values(OUTCOME_WORDS)) {
      expect(phrase.length).toBeLessThan(26);
      expect(meaning).toMatch(/^[A-Z].{20,}\.$/s);
    }
  });

  it('weigh as the score does', () => {
    for (const outcome of PROBE_OUTCOMES) {
      const weight = isPayable(outcome) ? 'valid' : isConclusive(outcome) ? 'failed' : 'inconclusive';
      expect([outcome, getOutcomeWeight(outcome)]).toEqual([outcome, weight]);
    }
  });

  it.each([
    ['payable', null, 'valid 402'],
    ['payable_with_changed_terms', 'amount', 'valid 402, other terms: price changed'],
    ['no_402', 'answered_unpaid', 'no 402: answers unpaid'],
    ['server_error', 'status_503', 'server error: 503'],
    ['internal', 'robots_disallowed', 'not asked: robots.txt asks us not to'],
    ['refused', 'econnrefused', 'connection refused'],
    ['tls', 'cert_has_expired', 'no secure connection: certificate expired'],
    ['malformed', 'a_cause_of_tomorrow', 'malformed 402: a cause of tomorrow'],
  ] as const)('write %s (%s) as "%s"', (outcome, cause, words) => {
    expect(formatOutcome(outcome, cause)).toBe(words);
  });
});
