import { expect, it } from 'vitest';
import { listChanges } from '../../../src/catalogue/changes.ts';
import { correctReceipt } from '../../../src/catalogue/corrections.ts';
import { withdrawDeclarations } from '../../../src/catalogue/declarations.ts';
import { delistListing, keepAddressOut, letAddressIn, relistListing } from '../../../src/catalogue/delisting.ts';
import { publishListing } from '../../../src/catalogue/publish.ts';
import { recordReplies } from '../../../src/catalogue/replies.ts';
import { writeCatalogue } from '../../../src/catalogue/write.ts';
import { ASKED_BY_PROVIDER } from '../../../src/evidence/changes.ts';
import { CAUTION_CODES, CAUTIONS } from '../../../src/model/caution.ts';
import type { Change } from '../../../src/model/change.ts';
import type { Declaration } from '../../../src/model/declaration.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import type { Receipt } from '../../../src/model/payment.ts';
import { isPayable } from '../../../src/model/probe.ts';
import { type Decision, describeDecision, describeReason, REASONS } from '../../../src/views/words/decision.ts';
import { getTime, makeWorld, type Seen } from '../../catalogue/evidence-world.ts';
import { makeDeclaration, makeRoute, makeTerms, recordReceiptFor } from '../../records.ts';

/** What happened when a change was written. */
type Outcome = 'delivered' | 'not recognised' | 'nothing delivered' | 'valid probe' | 'failed probe' | 'other';

interface Told {
  outcome: Outcome;
  change: Change;
  decision: Decision;
}

const SLUG = 'example-prices';
const OTHER_PAYEE = `0x${'9'.repeat(40)}`;
const FAILED: Seen = { outcome: 'server_error', status: 500 };

/** A world that keeps what each step told readers, with what the step was. */
function makeTelling(overrides: Partial<Declaration> = {}) {
  const world = makeWorld();
  const { catalogue } = world;
  const told: Told[] = [];
  let [hours, revision] = [0, 0];
  const keep = (outcome: Outcome) => {
    for (const change of listChanges(catalogue, { since: revision })) {
      told.push({ outcome, change, decision: describeDecision(change) });
    }
    revision = world.getRevision();
  };
  const declare = (more: Partial<Declaration> = {}) => {
    world.declare({ ...overrides, ...more }, hours);
    keep('other');
  };
  declare();
  return {
    ...world,
    told,
    declare,
    look: (seen: Seen = {}, times = 1) => {
      for (let count = 0; count < times; count++) {
        hours += 6;
        world.look(hours, seen);
        keep(isPayable(seen.outcome ?? 'payable') ? 'valid probe' : 'failed probe');
      }
    },
    /** Several probes of one run, published together. */
    lookTogether: (...seen: Seen[]) => {
      hours += 6;
      seen.forEach((one, index) => {
        world.see(hours + index / 60, one);
      });
      world.publish(hours + 1);
      keep('other');
    },
    pay: (receipt: Partial<Receipt> = {}) => {
      hours += 1;
      const id = recordReceiptFor(catalogue, SLUG, { settled_at: getTime(hours), ...receipt });
      if (receipt.delivered !== false) keep('delivered');
      else keep(receipt.unrecognised ? 'not recognised' : 'nothing delivered');
      return id;
    },
    write: (work: Parameters<typeof writeCatalogue<unknown>>[2]) => {
      hours += 1;
      writeCatalogue(catalogue, getTime(hours), work);
      keep('other');
    },
  };
}

const NONE = new Set<string>();
const SOLANA = {
  network: 'solana' as const,
  asset: NETWORKS.solana.usdc,
  pay_to: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2',
};
const statement = { statement: { source: 'https://api.example/file.json', read_at: getTime(0) } };

/** Lives that a listing can have; between them they reach every reason there is. */
const LIVES: Record<string, () => Told[]> = {
  'probed and paid in every way': () => {
    const life = makeTelling();
    const { look, pay, told } = life;
    look(FAILED, 6);
    look({}, 5);
    pay();
    look(FAILED, 5);
    look({ terms: [makeTerms({ pay_to: OTHER_PAYEE, amount: 2000 })] });
    pay({ pay_to: OTHER_PAYEE, amount: 2000 });
    pay({ pay_to: OTHER_PAYEE, delivered: false });
    pay({ pay_to: OTHER_PAYEE, delivered: false, unrecognised: 'html_page' });
    pay({ pay_to: OTHER_PAYEE, delivered: false });
    look({ payee_rotates: true });
    pay({ pay_to: OTHER_PAYEE, delivered: false, unrecognised: 'empty' });
    pay({ pay_to: OTHER_PAYEE });
    pay({ pay_to: OTHER_PAYEE, delivered: false, unrecognised: 'empty' });
    look({ terms: [makeTerms(SOLANA)] });
    return told;
  },
  'verified on two networks, and probed': () => {
    const both = [makeTerms(), makeTerms(SOLANA)];
    const { look, pay, told } = makeTelling({ routes: [makeRoute({ terms: both })] });
    look({ terms: both });
    pay();
    pay({ ...SOLANA, genesis: NETWORKS.solana.genesis });
    look({ terms: [makeTerms(SOLANA)] });
    look({ terms: both });
    pay({ delivered: false });
    look(FAILED, 4);
    return told;
  },
  'several routes in one run': () => {
    const routes = ['/v1/a', '/v1/b'].map((path) => makeRoute({ path }));
    const { lookTogether, told } = makeTelling({ routes });
    lookTogether({ path: '/v1/a' }, { path: '/v1/b' });
    lookTogether({ path: '/v1/a', terms: [makeTerms({ amount: 5000 })] }, { path: '/v1/b', ...FAILED });
    lookTogether({ path: '/v1/b', ...FAILED }, { path: '/v1/a', terms: [makeTerms({ amount: 5000 })] });
    lookTogether({ path: '/v1/b', ...FAILED }, { path: '/v1/a', terms: [makeTerms({ amount: 6000 })] });
    return told;
  },
  'corrected and replied to': () => {
    const { find, pay, write, told } = makeTelling();
    const first = pay();
    const failed = pay({ delivered: false });
    const reply = (text?: string) =>
      write((writing) => {
        const replies = text === undefined ? [] : [{ caution: 'undelivered' as const, route: null, text }];
        recordReplies(writing, find().base_url, statement.statement.source, replies);
        publishListing(writing, find(), 'declared_by_provider', { evidence: statement });
      });
    reply('Sorry.');
    reply('Mended.');
    reply();
    write((writing) => correctReceipt(writing, failed, 'It was our own fault.'));
    write((writing) => correctReceipt(writing, first, 'It was delivered by a test server.'));
    return told;
  },
  'removed and put back by everybody': () => {
    const { find, look, write, told } = makeTelling();
    write((writing) => delistListing(writing, SLUG, { by: 'operator', reason: 'spam' }));
    write((writing) => relistListing(writing, SLUG, { by: 'operator' }));
    const keepOut = (reason: string) =>
      write((writing) =>
        keepAddressOut(writing, find().base_url, { reason, source: statement.statement.source, evidence: statement }),
      );
    keepOut(ASKED_BY_PROVIDER);
    write((writing) => letAddressIn(writing, find().base_url, { evidence: statement }));
    look({}, 3);
    look(FAILED, 60);
    look();
    return told;
  },
  'declared by all sources, which withdraw it': () => {
    const { declare, write, told } = makeTelling({ category: null });
    const at = '2026-11-02T00:00:00.000Z';
    const dear = [makeRoute({ terms: [makeTerms({ amount: 7000 })] }), makeRoute({ path: '/v1/more' })];
    for (const [index, kind] of (['bazaar', 'openapi', 'provider'] as const).entries()) {
      declare({
        source: { kind, name: `a ${kind}`, observed_at: at },
        title: `By ${kind}`,
        routes: dear.slice(0, 1 + (index % 2)),
        ...(kind === 'provider' && { category: 'Data' as const }),
      });
    }
    write((writing) => withdrawDeclarations(writing, { kind: 'bazaar', name: 'a bazaar' }, NONE));
    const gone = (kind: 'openapi' | 'provider', cause: string) =>
      write((writing) => withdrawDeclarations(writing, { kind, name: `a ${kind}` }, NONE, { cause }));
    gone('openapi', 'absent_from_document');
    gone('provider', 'statement_withdrawn');
    write((writing) => withdrawDeclarations(writing, makeDeclaration().source, NONE));
    return told;
  },
  'without a price, and derived again': () => {
    const life = makeTelling({ routes: [makeRoute({ terms: [] })] });
    life.declare({ routes: [makeRoute()] });
    life.catalogue.sqlite.exec("UPDATE listings SET document = json_set(document, '$.title', 'Wrong')");
    life.write((writing) => publishListing(writing, life.find(), 'derived_again'));
    return life.told;
  },
  'verified, then without its route': () => {
    const { declare, pay, told } = makeTelling();
    pay();
    declare({ routes: [makeRoute({ path: '/v1/other' })] });
    return told;
  },
  'beside a better known one of its name': () => {
    const { declare, write, told } = makeTelling({ title: 'Known Name', provider_name: 'Somebody' });
    const known = { slug: 'known', title: 'Known Name', base_url: 'https://api.knownname.com' };
    declare({ ...known, routes: [makeRoute({ terms: [makeTerms({ pay_to: OTHER_PAYEE })] })] });
    write((writing) => delistListing(writing, 'known', { by: 'operator', reason: 'test' }));
    return told;
  },
};

type Lived = Told & { life: string };
let lived: Lived[] | undefined;

/** Lives every life once, in the first test that asks. */
function listAll(): Lived[] {
  lived ??= Object.entries(LIVES).flatMap(([life, live]) => live().map((one) => ({ life, ...one })));
  return lived;
}

/** An earlier payment proves a route again, such as when its payee is named again: then that payment was delivered. */
function isProvenBefore({ change }: Lived): boolean {
  const { proof } = Object(change.detail);
  return change.kind === 'verified' && proof.verified_at < change.at;
}

const format = ({ life, change, decision }: Lived) =>
  `${life}: ${change.kind}/${change.reason}: ${[`${decision.what}: ${decision.why}`, ...decision.evidence].join('; ')}`;

it('every reason and every caution can be reached, and is put into words', () => {
  const reached = new Set(listAll().map(({ change }) => change.reason));
  const codes = [...Object.keys(REASONS), ...CAUTION_CODES];
  // A delisting carries the reason that was given instead, and the provider's own as its words.
  const unreached = codes.filter(
    (code) => !reached.has(code) && !/^(delisted_by_(operator|rule)|provider_asked)$/.test(code),
  );
  expect(unreached).toEqual([]);
  for (const code of codes) expect(describeReason(code)).not.toMatch(/_|\.$/);
  for (const one of listAll()) expect(one.decision.evidence.join(), format(one)).not.toContain('{"');
});

it('no two outcomes share a reason that says what came of a call or of a probe', () => {
  const SAYING: Partial<Record<string, Outcome>> = {
    paid_and_delivered: 'delivered',
    paid_not_delivered: 'nothing delivered',
    undelivered: 'nothing delivered',
    paid_not_recognised: 'not recognised',
    unrecognised: 'not recognised',
    probed: 'valid probe',
    probe_failed: 'failed probe',
  };
  const single = listAll().filter((one) => one.outcome !== 'other' && !isProvenBefore(one));
  const wrong = single.filter(({ change, outcome }) => (SAYING[change.reason] ?? outcome) !== outcome);
  expect(wrong.map(format)).toEqual([]);
  const words = [...Object.values(REASONS), ...Object.values(CAUTIONS).map(({ sentence }) => sentence)];
  expect(new Set(words).size).toBe(words.length);
});

it('nothing is said to be delivered that was not, nor seen so by a probe that failed', () => {
  for (const one of listAll()) {
    const { outcome, change, decision } = one;
    const said = `${decision.what}: ${decision.why}`;
    if (outcome !== 'delivered' && !isProvenBefore(one)) expect(said, format(one)).not.toMatch(/it was delivered/);
    if (outcome === 'delivered' && change.kind === 'verified') expect(said, format(one)).toMatch(/it was delivered/);
    const { sample } = Object(change.detail.evidence);
    if (/a probe saw it so/.test(said)) {
      expect(outcome, format(one)).not.toBe('failed probe');
      if (sample) expect(isPayable(sample.outcome), format(one)).toBe(true);
    }
    if (/probes got no valid 402/.test(said)) {
      expect(outcome, format(one)).not.toBe('valid probe');
      if (sample) expect(isPayable(sample.outcome), format(one)).toBe(false);
    }
  }
});

it('a failed probe after which a listing looks as before is said to have failed', () => {
  const { look, told } = makeTelling();
  look({}, 5);
  const before = told.length;
  look(FAILED);
  look(FAILED, 1);
  look({ outcome: 'timeout', status: null }, 4);
  const seen = told.slice(before).filter(({ change }) => change.kind === 'seen' || change.kind === 'scored');
  expect(seen.filter(({ change }) => change.kind === 'seen').map(({ change }) => change.reason)).toContain(
    'probe_failed',
  );
  for (const { decision } of seen) expect(decision.why).not.toBe(REASONS.probed);
});

it('to put back what is live writes no change', () => {
  const { write, told, getRevision } = makeTelling();
  const [revision, before] = [getRevision(), told.length];
  for (const by of ['operator', 'provider', 'rule'] as const) write((writing) => relistListing(writing, SLUG, { by }));
  expect([getRevision(), told.length]).toEqual([revision, before]);
});
