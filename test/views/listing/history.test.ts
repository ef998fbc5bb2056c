import { describe, expect, it } from 'vitest';
import { getReliability, UNSCORED } from '../../../src/evidence/reliability.ts';
import { CHANGE_KINDS, type Change, type ChangeKind } from '../../../src/model/change.ts';
import type { ProbeOutcome } from '../../../src/model/probe.ts';
import {
  buildDecisionRows,
  buildLegendDay,
  buildPriceHistory,
  buildProbeStrip,
  DECISION_KINDS,
  MAX_DECISIONS,
  MAX_PRICE_STEPS,
  NOISY_KINDS,
} from '../../../src/views/listing/history.ts';
import type { Tombstone } from '../../../src/views/listing/record.ts';
import { formatRemovalReason } from '../../../src/views/listing/words.ts';
import { describeDecision, describeEvidence } from '../../../src/views/words/decision.ts';
import { NOW } from '../../records.ts';

function makeChange(kind: ChangeKind, detail: Change['detail'], overrides: Partial<Change> = {}): Change {
  const identity = { slug: 'x', listing_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01' };
  return { revision: 1, at: NOW, ...identity, kind, reason: 'probed', detail, ...overrides };
}

const SAMPLE = { at: NOW, route: 'GET /x', outcome: 'refused', cause: 'econnrefused', status: null };
const makeScore = (band: string, score: number | null) => ({
  ...{ band, score, samples: 50, window_days: 30, last_sample_at: NOW },
});
const makeNetwork = (advertised: boolean) => ({
  ...{ id: 'eip155:8453', key: 'base', label: 'Base', advertised, settlement_verified: false },
  ...{ last_verified_at: null, last_seen_at: advertised ? NOW : null },
});

describe('what changed of a listing', () => {
  it('is told the latest first, with why and what it rests on', () => {
    const rows = buildDecisionRows([
      makeChange('described', { fields: ['title', 'docs_url'] }, { reason: 'declared_by_provider' }),
      makeChange(
        'networked',
        { from: [makeNetwork(true)], to: [makeNetwork(false)], evidence: { sample: SAMPLE } },
        { revision: 2 },
      ),
    ]);
    expect(rows.map(({ when, what, why, evidence }) => [when, what, why, evidence])).toEqual([
      [
        '2026-11-20 12:00 UTC',
        'Networks: Base no longer advertised',
        'a probe saw it so',
        ['base: not advertised', 'probe of GET /x, 2026-11-20 12:00:00 UTC: connection refused'],
      ],
      ['2026-11-20 12:00 UTC', 'New words in title, docs url', 'its provider says so', []],
    ]);
  });

  it('says of a network that is new and unverified that it is advertised, and nothing of a proof', () => {
    const [row] = buildDecisionRows([makeChange('networked', { from: [], to: [makeNetwork(true)], evidence: null })]);
    expect(row?.what).toBe('Networks: Base advertised');
  });

  it('leaves out sightings, what a probe merely confirmed and scores that stayed in their band, and keeps to the latest', () => {
    expect([...DECISION_KINDS, ...NOISY_KINDS, 'seen'].sort()).toEqual([...CHANGE_KINDS].sort());
    const confirmed = makeChange('routed', { added: [], removed: [], changed: ['GET /x'] }, { revision: 92 });
    const drift = makeChange('scored', { from: makeScore('thin', 80), to: makeScore('thin', 86) }, { revision: 90 });
    const risen = makeChange(
      'scored',
      { from: makeScore('thin', 86), to: makeScore('established', 90) },
      { revision: 91 },
    );
    const many = Array.from({ length: 20 }, (_, at) =>
      makeChange('described', { fields: ['title'] }, { revision: at + 1 }),
    );
    const rows = buildDecisionRows([...many, drift, risen, confirmed]);
    expect(rows).toHaveLength(MAX_DECISIONS);
    expect(rows[0]?.what).toBe('Reliability 90 of 100, established (50 samples), before 86 of 100, thin (50 samples)');
    expect(rows[1]?.what).toBe('New words in title');
  });

  it('cuts what a listing of very many routes would fill the page with', () => {
    const names = Array.from({ length: 500 }, (_, at) => `GET /v1/a-rather-long-name/${at}`);
    const [row] = buildDecisionRows([makeChange('routed', { added: names, removed: [], changed: [] })]);
    expect(row?.what).toBe('Routes: 500 added');
    expect(row?.evidence.join('').length).toBeLessThan(250);
  });
});

describe('a decision about routes', () => {
  it('tells a route by its new terms, or by its payee, or else by its name', () => {
    const offer = { network: 'base', amount: 1000, pay_to: null };
    const { what, evidence } = describeDecision(
      makeChange('routed', {
        ...{ added: [], removed: [], changed: ['GET /a', 'GET /b', 'GET /c'] },
        terms: [
          { route: 'GET /a', from: [offer], to: [{ ...offer, amount: 2000 }] },
          { route: 'GET /b', from: [offer], to: [offer], payee: 'rotating' },
        ],
      }),
    );
    expect(what).toBe('Routes: 3 changed');
    expect(evidence).toEqual([
      'changed: GET /c',
      'GET /a asks 0.002 USDC on base, before 0.001 USDC on base',
      'GET /b names a fresh payee each time',
    ]);
  });
});

const TOMBSTONE: Tombstone = {
  slug: 'x',
  id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
  title: 'X',
  host: 'x.example',
  delisted_at: NOW,
  delisted_by: 'rule',
  reason: 'no_valid_402',
};

describe('a decision about a payment', () => {
  it('never takes a local test chain for the network itself', () => {
    const proof = {
      receipt_id: 'x',
      network: 'base',
      amount: 1000,
      verified_at: NOW,
      transaction: '0xab',
      transaction_url: null,
    };
    const tell = (public_chain: boolean) =>
      describeDecision(makeChange('verified', { route: 'GET /a', proof: { ...proof, public_chain } })).evidence;
    expect(tell(true)).toEqual(['GET /a: 0.001 USDC paid on base, 2026-11-20 12:00:00 UTC, transaction 0xab']);
    expect(tell(false)).toEqual([
      'GET /a: 0.001 USDC paid on a local test chain for base, 2026-11-20 12:00:00 UTC, transaction 0xab',
    ]);
  });
});

describe('the tombstone of a listing', () => {
  it('says in words why a rule removed it, and what that rests on', () => {
    const failing = { since: '2026-11-01T00:00:00.000Z', failures: 56 };
    const { detail } = makeChange('delisted', { by: 'rule', evidence: { sample: SAMPLE, failing } });
    expect(formatRemovalReason(TOMBSTONE)).toBe('no valid 402 for 14 days, and at least 10 conclusive failures');
    expect(describeEvidence(detail)).toEqual([
      'probe of GET /x, 2026-11-20 12:00:00 UTC: connection refused',
      '56 conclusive failures since 2026-11-01 00:00:00 UTC',
    ]);
  });

  it('takes the words of a provider for words, even where they spell a code of ours', () => {
    const byProvider: Tombstone = { ...TOMBSTONE, delisted_by: 'provider' };
    expect(formatRemovalReason({ ...byProvider, reason: 'provider_asked' })).toBe('its provider asked for it');
    expect(formatRemovalReason({ ...byProvider, reason: 'receipt' })).toBe('receipt');
    expect(formatRemovalReason({ ...byProvider, reason: 'Shut down.' })).toBe('Shut down.');
  });
});

type Range = { min: number | null; max: number | null };

function makePriced(day: string, [min, max]: readonly [number | null, number | null], reason = 'probed'): Change {
  const to: Range = { min, max };
  return {
    revision: 1,
    at: `${day}T12:00:00.000Z`,
    slug: 'x',
    listing_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
    kind: 'priced',
    reason,
    detail: { from: null, to },
  };
}

const UNTIL = '2026-11-20T12:00:00.000Z';
const DECLARED = makePriced('2026-10-11', [1000, 50_000], 'declared_by_manifest');

describe('the price over time', () => {
  it('is one sentence where it never changed', () => {
    const history = buildPriceHistory([DECLARED], UNTIL);
    expect(history).toMatchObject({ plot: null, cut: false });
    expect(history.summary).toBe('0.001-0.05 USDC per request since 2026-10-11, as declared. It has not changed.');
    expect(buildPriceHistory([DECLARED], UNTIL, { confirmed: true }).summary).toBe(
      '0.001-0.05 USDC per request since 2026-10-11, as declared, and seen by a probe since. It has not changed.',
    );
    expect(buildPriceHistory([], UNTIL)).toMatchObject({ summary: 'Nothing is on record of its price.', rows: [] });
  });

  it('says what it is now, how it came to be known, how often it changed and between what', () => {
    const changes = [DECLARED, makePriced('2026-10-31', [1000, 1000]), makePriced('2026-11-10', [2500, 20_000])];
    const { summary, rows } = buildPriceHistory(changes, UNTIL);
    expect(summary).toBe(
      '0.0025-0.02 USDC per request since 2026-11-10, seen by a probe. 2 changes since 2026-10-11; between 0.001 and 0.05 USDC in that time.',
    );
    expect(rows.map(({ since, price, why }) => [since, price, why])).toEqual([
      ['2026-10-11 12:00 UTC', '0.001-0.05', 'a manifest says so'],
      ['2026-10-31 12:00 UTC', '0.001', 'a probe saw it so'],
      ['2026-11-10 12:00 UTC', '0.0025-0.02', 'a probe saw it so'],
    ]);
  });

  it('shows a time without a price as such, and draws nothing there', () => {
    const changes = [DECLARED, makePriced('2026-10-31', [null, null]), makePriced('2026-11-10', [1000, 1000])];
    const { rows, plot } = buildPriceHistory(changes, UNTIL);
    expect(rows[1]?.price).toBe('not known');
    expect(plot?.lines.map(({ x1, x2 }) => [x1, x2])).toEqual([
      ['0%', '50%'],
      ['0%', '50%'],
      ['75%', '100%'],
    ]);
    const gone = buildPriceHistory([DECLARED, makePriced('2026-10-31', [null, null])], UNTIL);
    expect(gone.plot).toBeNull();
    expect(gone.summary).toMatch(/^No price is known since 2026-10-31/);
  });

  it('keeps to the latest of very many changes and says that there were more', () => {
    const many = Array.from({ length: MAX_PRICE_STEPS + 5 }, (_, at) =>
      makePriced(new Date(Date.UTC(2026, 8, 1 + at)).toISOString().slice(0, 10), [1000 + at, 1000 + at]),
    );
    const history = buildPriceHistory(many, UNTIL);
    expect([history.rows.length, history.cut, history.rows.at(-1)?.price]).toEqual([MAX_PRICE_STEPS, true, '0.001064']);
  });
});

describe('the plot of a price', () => {
  const changes = [DECLARED, makePriced('2026-10-31', [1000, 20_000]), makePriced('2026-11-10', [1000, 80_000])];
  const { plot } = buildPriceHistory(changes, UNTIL);

  it('begins at 0 and ends at a round price that holds the highest', () => {
    expect(plot?.scale).toEqual([
      { y: 0, price: '0.08' },
      { y: 75, price: '0.04' },
      { y: 150, price: '0' },
    ]);
    for (const highest of [1, 2, 3, 7, 9, 999, 1000, 1001, 123_456, 10_000_000_000]) {
      const steps = [makePriced('2026-10-11', [1, 1]), makePriced('2026-10-31', [1, highest])];
      const [top, half, zero] = buildPriceHistory(steps, UNTIL).plot?.scale ?? [];
      const [end, middle] = [Number(top?.price), Number(half?.price)];
      expect(end).toBeGreaterThanOrEqual(highest / 1_000_000);
      expect(end).toBeLessThanOrEqual(Math.max(2, highest * 2) / 1_000_000);
      expect(middle * 2).toBeCloseTo(end, 12);
      expect(zero?.price).toBe('0');
    }
  });

  it('goes by steps from the first price to the last change of the listing, each where its time is', () => {
    const horizontal = plot?.lines.filter(({ y1, y2 }) => y1 === y2) ?? [];
    const high = horizontal.filter(({ y1 }) => y1 < 148);
    expect(high.map(({ x1, x2, y1 }) => [x1, x2, y1])).toEqual([
      ['0%', '50%', 56.3],
      ['50%', '75%', 112.5],
      ['75%', '100%', 0],
    ]);
    const vertical = plot?.lines.filter(({ y1, y2 }) => y1 !== y2) ?? [];
    expect(vertical.map(({ x1, x2, y1, y2 }) => [x1, x2, y1, y2])).toEqual([
      ['50%', '50%', 56.3, 112.5],
      ['75%', '75%', 112.5, 0],
    ]);
  });

  it('tells what was declared from what was seen, and dates every point', () => {
    expect(plot?.lines.filter(({ basis }) => basis === 'declared').map(({ x1, x2 }) => [x1, x2])).toEqual([
      ['0%', '50%'],
      ['0%', '50%'],
    ]);
    expect(plot?.dots.map(({ words }) => words)).toContain('2026-11-10: 0.08 USDC');
    expect(plot?.dots).toHaveLength(6);
  });

  it('writes days under it that do not run into one another', () => {
    expect(plot?.days.map(({ x, day, anchor }) => [x, day, anchor])).toEqual([
      ['0%', '2026-10-11', 'start'],
      ['50%', '2026-10-31', 'middle'],
      ['100%', '2026-11-20', 'end'],
    ]);
  });

  it('holds when everything changed at one moment', () => {
    const at = makePriced('2026-11-20', [1000, 1000]);
    const now = buildPriceHistory([at, makePriced('2026-11-20', [2000, 2000])], at.at).plot;
    expect(now?.lines.every(({ x1, x2 }) => /^\d/.test(x1) && /^\d/.test(x2))).toBe(true);
  });
});

/** Samples of some days of November 2026, one an hour from midnight on. */
function makeReliability(days: Readonly<Record<number, readonly ProbeOutcome[]>>) {
  const samples = Object.entries(days).flatMap(([day, outcomes]) =>
    outcomes.map((outcome, hour) => ({
      at: new Date(Date.UTC(2026, 10, Number(day), hour)).toISOString(),
      outcome,
    })),
  );
  return getReliability(samples, samples.at(-1)?.at ?? '2026-11-20T12:00:00.000Z');
}

const EVERY_KIND = makeReliability({
  16: ['payable', 'payable_with_changed_terms'],
  17: ['payable', 'timeout', 'input_rejected'],
  18: ['no_402', 'refused'],
  20: ['internal'],
});

describe('the strip of probe results', () => {
  it('is none where no sample was taken', () => {
    expect(buildProbeStrip(UNSCORED)).toBeNull();
  });

  it('shows every day that the window touches, up to that of the last sample, whatever day it is today', () => {
    const strip = buildProbeStrip(EVERY_KIND);
    expect(strip).toMatchObject({ from: '2026-10-21', to: '2026-11-20' });
    expect(strip?.days).toHaveLength(31);
    expect(strip?.days.slice(-5).map(({ day, state, words }) => [day, state, words])).toEqual([
      ['2026-11-16', 'valid', '2 valid'],
      ['2026-11-17', 'mixed', '1 valid, 1 failed, 1 inconclusive'],
      ['2026-11-18', 'failed', '2 failed'],
      ['2026-11-19', 'none', 'no sample'],
      ['2026-11-20', 'inconclusive', '1 inconclusive'],
    ]);
    expect(strip?.days.slice(0, -5).every(({ state }) => state === 'none')).toBe(true);
  });

  it('crosses the end of a year and a leap day without losing a day', () => {
    const leap = buildProbeStrip({ ...UNSCORED, days: [{ day: '2028-03-05', valid: 1, failed: 0, inconclusive: 0 }] });
    expect(leap?.days.map(({ day }) => day)).toContain('2028-02-29');
    const year = buildProbeStrip({ ...UNSCORED, days: [{ day: '2027-01-02', valid: 1, failed: 0, inconclusive: 0 }] });
    expect([year?.from, year?.days.length]).toEqual(['2026-12-03', 31]);
  });

  it('says in one sentence on how many days nothing failed, how many samples were valid, and how many told nothing', () => {
    expect(buildProbeStrip(EVERY_KIND)?.summary).toBe(
      '1 of 3 days without a failure; 3 of 6 samples valid; 2 samples told nothing and are left out',
    );
    expect(buildProbeStrip(makeReliability({ 20: ['payable'] }))?.summary).toBe(
      '1 of 1 day without a failure; 1 of 1 sample valid',
    );
    expect(buildProbeStrip(makeReliability({ 20: ['rate_limited'] }))?.summary).toBe('1 sample told nothing');
  });

  it('tells days apart by what is drawn, not by colour: filled, half filled, outlined and crossed, a dot, nothing', () => {
    const drawn = Object.fromEntries((buildProbeStrip(EVERY_KIND)?.days ?? []).map((day) => [day.state, day]));
    const getForm = (state: string) => [drawn[state]?.filled, drawn[state]?.outlined].map((path) => path ?? '');
    const forms = ['valid', 'mixed', 'failed', 'inconclusive', 'none'].map((state) =>
      getForm(state).map((path) => path.replace(/[\d. -]+/g, '')),
    );
    expect(forms).toEqual([
      ['MhVhz', ''],
      ['MhVhz', 'MhVhz'],
      ['', 'MhVhzMLML'],
      ['Maa', ''],
      ['', ''],
    ]);
  });

  it('draws every cell inside its own place', () => {
    const strip = buildProbeStrip(EVERY_KIND);
    for (const [at, { filled, outlined }] of (strip?.days ?? []).entries()) {
      for (const [, x] of `${filled ?? ''}${outlined ?? ''}`.matchAll(/[ML]([\d.]+) /g)) {
        expect(Number(x)).toBeGreaterThan(at * 20);
        expect(Number(x)).toBeLessThan((at + 1) * 20);
      }
    }
    expect(strip?.width).toBe(31 * 20);
  });

  it('has a legend of the same forms', () => {
    for (const state of ['valid', 'mixed', 'failed', 'inconclusive'] as const) {
      expect(buildLegendDay(state).state).toBe(state);
    }
  });
});
