import { describe, expect, it } from 'vitest';
import { CHANGE_KINDS, type Change, type ChangeKind } from '../../src/model/change.ts';
import { buildDecisionRows, DECISION_KINDS, MAX_DECISIONS, NOISY_KINDS } from '../../src/views/listing/history.ts';
import { buildTombstonePage } from '../../src/views/listing/page.ts';
import type { Tombstone } from '../../src/views/listing/record.ts';
import { describeDecision } from '../../src/views/words/decision.ts';
import { NOW } from '../records.ts';

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
    expect(tell(true)).toEqual(['0.001 USDC paid on base, 2026-11-20 12:00:00 UTC, transaction 0xab']);
    expect(tell(false)).toEqual([
      '0.001 USDC paid on a local test chain for base, 2026-11-20 12:00:00 UTC, transaction 0xab',
    ]);
  });
});

describe('the tombstone of a listing', () => {
  it('says in words why a rule removed it, and what that rests on', () => {
    const failing = { since: '2026-11-01T00:00:00.000Z', failures: 56 };
    const page = buildTombstonePage(
      TOMBSTONE,
      makeChange('delisted', { by: 'rule', evidence: { sample: SAMPLE, failing } }, { reason: 'no_valid_402' }),
    );
    expect(page.reason).toBe('no valid 402 for 14 days, and at least 10 conclusive failures');
    expect(page.evidence).toEqual([
      'probe of GET /x, 2026-11-20 12:00:00 UTC: connection refused',
      '56 conclusive failures since 2026-11-01 00:00:00 UTC',
    ]);
  });

  it('takes the words of a provider for words, even where they spell a code of ours', () => {
    const byProvider: Tombstone = { ...TOMBSTONE, delisted_by: 'provider' };
    expect(buildTombstonePage({ ...byProvider, reason: 'provider_asked' }).reason).toBe('its provider asked for it');
    expect(buildTombstonePage({ ...byProvider, reason: 'receipt' }).reason).toBe('receipt');
    expect(buildTombstonePage({ ...byProvider, reason: 'Shut down.' }).reason).toBe('Shut down.');
  });
});
