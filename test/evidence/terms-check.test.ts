import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MarketNetwork } from '../../scripts/market/providers/route.ts';
import { CHECK_VERDICTS, findPayment, judgeChallenge, type PayableRecord } from '../../src/evidence/terms-check.ts';
import { CAUTION_CODES, CAUTIONS, type Caution, isDangerous } from '../../src/model/caution.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { RecordedTerms, Terms } from '../../src/model/terms.ts';
import { type GivenChallenge, readGivenChallenge } from '../../src/x402/given-challenge.ts';
import { makeTerms, NOW } from '../records.ts';

/** Few values, so that offers, records and payments often differ in only one field. */
const PAYEES: Record<MarketNetwork, readonly string[]> = {
  base: [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`],
  solana: ['7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2', 'So11111111111111111111111111111111111111112'],
};
const AMOUNTS = [1000, 2000];
const TIMES = ['2026-10-01T00:00:00.000Z', '2026-11-18T00:00:00.000Z'];

const network = fc.constantFrom<MarketNetwork>('base', 'solana');
const amount = fc.constantFrom(...AMOUNTS);
const paid = network.chain((key) =>
  fc.record({
    network: fc.constant(key),
    asset: fc.constant(NETWORKS[key].usdc),
    amount,
    pay_to: fc.constantFrom(...PAYEES[key]),
  }),
);
const offer = paid.map((one): Terms => makeTerms(one));
const recorded = fc
  .tuple(
    offer,
    fc.constantFrom<RecordedTerms['evidence']>('declared', 'observed'),
    fc.option(fc.constantFrom(...TIMES)),
    fc.boolean(),
  )
  .map(([terms, evidence, seen, isPayeeKnown]): RecordedTerms => {
    const at = evidence === 'observed' ? (seen ?? NOW) : seen;
    const pay_to = isPayeeKnown ? terms.pay_to : null;
    return { ...terms, pay_to, evidence, source: 'probe', first_seen_at: at, last_seen_at: at, current: true };
  });
const proof = fc
  .tuple(paid, fc.constantFrom(...TIMES))
  .map(([one, verified_at]) => ({ ...one, verified_at, receipt_id: crypto.randomUUID() }));
const held = fc.constantFrom(...CAUTION_CODES).map((code): Caution => {
  return { code, severity: CAUTIONS[code].severity, since: NOW, evidence: {}, reply: null };
});
const record: fc.Arbitrary<PayableRecord> = fc.record({
  terms: fc.array(recorded, { minLength: 1, maxLength: 4 }),
  payee: fc.constantFrom('fixed' as const, 'rotating' as const, null),
  proofs: fc.array(proof, { maxLength: 2 }),
  cautions: fc.array(held, { maxLength: 2 }),
});

/** An offer and whether it names a timeout; null is an unreadable one. Most are on record, as in an honest challenge. */
function makeEntry({ terms }: PayableRecord): fc.Arbitrary<[Terms, boolean] | null> {
  const onRecord = terms.filter(({ pay_to }) => pay_to !== null);
  const likely = onRecord.length > 0 ? fc.constantFrom(...onRecord) : offer;
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(likely, fc.boolean()) },
    { weight: 3, arbitrary: fc.tuple(offer, fc.boolean()) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}
const asked = record.chain((known) =>
  fc.tuple(fc.constant(known), fc.array(makeEntry(known), { maxLength: 4 }), fc.boolean()),
);

/** What is asked where no terms were given. */
const NO_TERMS: GivenChallenge = { x402_version: 2, offers: [], resources: [], ambiguities: [] };

/** Writes offers as in a challenge of version 2. */
function writeChallenge(offers: readonly ([Terms, boolean] | null)[]) {
  const accepts = offers.map((one) => {
    if (one === null) return { scheme: 'exact', network: 'base' };
    const [{ scheme, network: key, asset, pay_to, ...terms }, isTimed] = one;
    const timeout = isTimed ? { maxTimeoutSeconds: 60 } : {};
    return { scheme, network: NETWORKS[key].id, asset, payTo: pay_to, amount: String(terms.amount), ...timeout };
  });
  return { x402Version: 2, resource: { url: 'https://a.example/x' }, accepts };
}

describe('the judgement of any challenge against any record', () => {
  it('is consistent, and calls nothing safe that was neither seen nor paid', () => {
    const reached = { verdicts: new Set<string>(), severities: new Set<string>(), paidAlone: 0 };
    fc.assert(
      fc.property(asked, ([known, offers, isForAnother]) => {
        const challenge = offers.length > 0 ? readGivenChallenge(writeChallenge(offers)) : NO_TERMS;
        if ('problem' in challenge) throw new Error('the challenge could not be read');
        const judged = judgeChallenge(challenge, known, { at: new Date(NOW), isForAnother });
        const { verdict, severity, safe_offers, warnings } = judged;
        reached.verdicts.add(verdict);
        reached.severities.add(severity);

        expect(safe_offers.length > 0).toBe(verdict === 'match');
        if (verdict === 'expected') expect([offers, severity]).toEqual([[], 'notice']);
        if (severity === 'danger') expect(safe_offers).toEqual([]);
        if (severity === 'none') expect([verdict, known.cautions, warnings]).toEqual(['match', [], []]);
        if (isDangerous(known.cautions)) expect(severity).toBe('danger');
        for (const index of safe_offers) {
          const terms = offers[index]?.[0];
          if (!terms) throw new Error(`offer ${index} cannot be read, and is called safe`);
          const isSeen = known.terms.some((one) => one.evidence === 'observed' && isSameOffer(one, terms, known));
          const isPaid = known.proofs.some((one) => isSameOffer({ ...terms, ...one }, terms, known));
          expect(isSeen || isPaid, `offer ${index} was neither seen nor paid`).toBe(true);
          if (!isSeen) reached.paidAlone++;
        }
      }),
      { numRuns: 3000 },
    );
    // Every case must occur, or the checks above would prove nothing.
    expect([...reached.verdicts].sort()).toEqual(
      CHECK_VERDICTS.filter((one) => one !== 'unknown_route' && one !== 'delisted').toSorted(),
    );
    expect([...reached.severities].sort()).toEqual(['danger', 'none', 'notice']);
    expect(reached.paidAlone).toBeGreaterThan(0);
  });
});

it.each([
  ['what it came to below a ceiling', { amount: 1000 }, false],
  ['the ceiling as an exact price', { amount: 2000 }, false],
  ['that ceiling', { amount: 2000, scheme: 'upto' }, true],
  ['a ceiling of what it came to', { amount: 1000, scheme: 'upto' }, false],
])('a payment below a ceiling, for an offer that asks %s', (_what, offered, isProof) => {
  const terms = makeTerms(offered);
  const paidBelow = { network: 'base', amount: 1000, ceiling: 2000, pay_to: terms.pay_to ?? '' } as const;
  const found = findPayment(terms, [{ ...paidBelow, verified_at: NOW, receipt_id: 'a' }]);
  expect(found !== undefined).toBe(isProof);
  // An exact payment proves no ceiling.
  const exact = { ...paidBelow, ceiling: undefined, amount: terms.amount, verified_at: NOW, receipt_id: 'b' };
  expect(findPayment(terms, [exact]) !== undefined).toBe(terms.scheme === 'exact');
});

/** A rotating payee is not compared. */
function isSameOffer(known: Terms, given: Terms, { payee }: PayableRecord): boolean {
  const isPayeeSame = payee === 'rotating' || known.pay_to === given.pay_to;
  return known.network === given.network && known.amount === given.amount && isPayeeSame;
}
