import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildFetchFailure, type FetchFailureReason } from '../../src/fetching/failure.ts';
import { isConclusive, isPayable, PROBE_OUTCOMES, probeSample } from '../../src/model/probe.ts';
import { classifyAnswer, classifyFailure } from '../../src/probing/classify.ts';
import { NOW } from '../records.ts';
import { encodeHeader, makeChallenge, makeOffer } from '../x402/challenges.ts';

const verdict = probeSample
  .omit({ at: true, duration_ms: true, latency_ms: true, url: true, method: true, payee_rotates: true })
  .strict();
const context = { terms: [], invented: [], at: new Date(NOW) };

describe('an answer', () => {
  it('of any status, headers and bytes gets a verdict that is valid in a sample', () => {
    const text = fc.string({ unit: 'grapheme-ascii' });
    const header = fc.oneof(
      text,
      fc.jsonValue().map((value) => encodeHeader(value ?? 0)),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        header,
        text,
        fc.uint8Array({ maxLength: 300 }),
        (status, a, b, body) => {
          const headers = new Headers({ 'payment-required': a, 'retry-after': b, allow: b, 'www-authenticate': b });
          expect(verdict.safeParse(classifyAnswer({ status, headers, body }, context)).success).toBe(true);
        },
      ),
    );
  });

  it('keeps little of a long challenge', () => {
    const accepts = Array.from({ length: 100 }, () => makeOffer({ network: 'x'.repeat(500), asset: 'y'.repeat(500) }));
    const body = Buffer.from(JSON.stringify(makeChallenge({ accepts })));
    const { detail } = classifyAnswer({ status: 402, headers: new Headers(), body }, context);
    expect(detail.skipped_count).toBe(100);
    expect(JSON.stringify(detail).length).toBeLessThan(4_000);
  });
});

describe('a failure', () => {
  it.each([
    ['bad_url', 'blocked_address', 'bad_url'],
    ['userinfo', 'blocked_address', 'userinfo'],
    ['blocked_host', 'blocked_address', 'blocked_host'],
    ['blocked_port', 'blocked_address', 'blocked_port'],
    ['name_not_resolved', 'name_not_resolved', null],
    ['refused', 'refused', null],
    ['tls', 'tls', null],
    ['disconnected', 'server_error', 'disconnected'],
    ['timeout', 'timeout', null],
    ['too_large', 'too_large', null],
    ['too_many_redirects', 'no_402', 'too_many_redirects'],
    ['redirected', 'no_402', 'redirected'],
    ['malformed', 'malformed', 'bad_http'],
    ['bad_request', 'internal', 'bad_request'],
    ['closed', 'internal', 'closed'],
    ['bad_json', 'internal', 'bad_json'],
  ] as [FetchFailureReason, string, string | null][])('of the client for %s is %s', (reason, outcome, cause) => {
    expect(classifyFailure(buildFetchFailure(reason, 'It failed.'))).toMatchObject({ outcome, cause });
  });

  it.each(['EMFILE', 'ENETUNREACH'])('that is this machine’s own (%s) is internal, whatever it looked like', (code) => {
    const cause = Object.assign(new Error(code), { code });
    for (const reason of ['refused', 'name_not_resolved'] as const) {
      const failure = buildFetchFailure(reason, 'It failed.', { cause });
      expect(classifyFailure(failure)).toMatchObject({ outcome: 'internal', cause: code.toLowerCase() });
    }
  });

  it('that is unexpected is our own, with its message', () => {
    expect(classifyFailure(new TypeError('x is not a function'))).toMatchObject({
      outcome: 'internal',
      cause: 'unexpected',
      detail: { message: 'x is not a function' },
    });
  });
});

describe('the outcomes', () => {
  it('are conclusive except four, and valid answers for two', () => {
    expect(PROBE_OUTCOMES.filter((outcome) => !isConclusive(outcome))).toEqual([
      'input_rejected',
      'rate_limited',
      'blocked_address',
      'internal',
    ]);
    expect(PROBE_OUTCOMES.filter(isPayable)).toEqual(['payable', 'payable_with_changed_terms']);
  });
});
