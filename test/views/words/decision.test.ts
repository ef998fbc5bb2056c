import { expect, it } from 'vitest';
import { findListing } from '../../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../../src/catalogue/transaction.ts';
import { correctReceipt } from '../../../src/catalogue/write/corrections.ts';
import { delistListing, keepAddressOut, letAddressIn, relistListing } from '../../../src/catalogue/write/decisions.ts';
import { withdrawDeclarations } from '../../../src/catalogue/write/declarations.ts';
import { publishListing } from '../../../src/catalogue/write/publication.ts';
import { recordReplies } from '../../../src/catalogue/write/replies.ts';
import { ASKED_BY_PROVIDER } from '../../../src/evidence/changes.ts';
import { CAUTION_CODES, CAUTIONS } from '../../../src/model/caution.ts';
import type { Change } from '../../../src/model/change.ts';
import type { Declaration } from '../../../src/model/declaration.ts';
import type { Listing } from '../../../src/model/listing.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import type { Receipt } from '../../../src/model/payment.ts';
import { isPayable, READS_DIFFERENTLY } from '../../../src/model/probe.ts';
import { type Decision, describeDecision, describeReason, REASONS } from '../../../src/views/words/decision.ts';
import { getTime, makeWorld, type Seen } from '../../catalogue/evidence-world.ts';
import { listAllChanges } from '../../changes.ts';
import { inTurn } from '../../in-turn.ts';
import { makeDeclaration, makeRoute, makeTerms, recordReceiptFor } from '../../records.ts';

/** What happened when a change was written. */
type Outcome = 'delivered' | 'not recognised' | 'nothing delivered' | 'valid probe' | 'failed probe' | 'other';

interface StepDecision {
  outcome: Outcome;
  change: Change;
  decision: Decision;
}

const SLUG = 'example-prices';
const OTHER_PAYEE = `0x${'9'.repeat(40)}`;
const FAILED: Seen = { outcome: 'server_error', status: 500 };

/** A world that keeps what each step says to readers, with what the step was. */
async function makeTelling(overrides: Partial<Declaration> = {}) {
  const world = await makeWorld();
  const { catalogue } = world;
  const decisions: StepDecision[] = [];
  let [hours, revision] = [0, 0];
  const keep = async (outcome: Outcome) => {
    for (const change of await listAllChanges(catalogue, revision)) {
      decisions.push({ outcome, change, decision: describeDecision(change) });
    }
    revision = await world.getRevision();
  };
  const declare = async (more: Partial<Declaration> = {}) => {
    await world.declare({ ...overrides, ...more }, hours);
    await keep('other');
  };
  await declare();
  return {
    ...world,
    decisions,
    declare,
    look: async (seen: Seen = {}, times = 1) => {
      for (let count = 0; count < times; count++) {
        hours += 6;
        await world.look(hours, seen);
        await keep(isPayable(seen.outcome ?? 'payable') ? 'valid probe' : 'failed probe');
      }
    },
    /** Several probes of one run, published together. */
    lookTogether: async (...seen: Seen[]) => {
      hours += 6;
      for (const [index, one] of seen.entries()) await world.see(hours + index / 60, one);
      await world.publish(hours + 1);
      await keep('other');
    },
    pay: async (receipt: Partial<Receipt> = {}) => {
      hours += 1;
      const id = await recordReceiptFor(catalogue, SLUG, { settled_at: getTime(hours), ...receipt });
      if (receipt.delivered !== false) await keep('delivered');
      else await keep(receipt.unrecognised ? 'not recognised' : 'nothing delivered');
      return id;
    },
    write: async (work: Parameters<typeof writeCatalogue<unknown>>[2]) => {
      hours += 1;
      await writeCatalogue(catalogue, getTime(hours), work);
      await keep('other');
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
const LIVES: Record<string, () => Promise<StepDecision[]>> = {
  'probed and paid in every way': async () => {
    const life = await makeTelling();
    const { look, pay, decisions } = life;
    await look(FAILED, 6);
    await look({}, 5);
    await pay();
    await look(FAILED, 5);
    await look({ terms: [makeTerms({ pay_to: OTHER_PAYEE, amount: 2000 })] });
    await pay({ pay_to: OTHER_PAYEE, amount: 2000 });
    await pay({ pay_to: OTHER_PAYEE, delivered: false });
    await pay({ pay_to: OTHER_PAYEE, delivered: false, unrecognised: 'html_page' });
    await pay({ pay_to: OTHER_PAYEE, delivered: false });
    await look({ payee_rotates: true });
    await look({ cause: READS_DIFFERENTLY });
    await look();
    await pay({ pay_to: OTHER_PAYEE, delivered: false, unrecognised: 'empty' });
    await pay({ pay_to: OTHER_PAYEE });
    await pay({ pay_to: OTHER_PAYEE, delivered: false, unrecognised: 'empty' });
    await look({ terms: [makeTerms(SOLANA)] });
    return decisions;
  },
  'verified on two networks, and probed': async () => {
    const both = [makeTerms(), makeTerms(SOLANA)];
    const { look, pay, decisions } = await makeTelling({ routes: [makeRoute({ terms: both })] });
    await look({ terms: both });
    await pay();
    await pay({ ...SOLANA, genesis: NETWORKS.solana.genesis });
    await look({ terms: [makeTerms(SOLANA)] });
    await look({ terms: both });
    await pay({ delivered: false });
    await look(FAILED, 4);
    return decisions;
  },
  'several routes in one run': async () => {
    const routes = ['/v1/a', '/v1/b'].map((path) => makeRoute({ path }));
    const { lookTogether, decisions } = await makeTelling({ routes });
    await lookTogether({ path: '/v1/a' }, { path: '/v1/b' });
    await lookTogether({ path: '/v1/a', terms: [makeTerms({ amount: 5000 })] }, { path: '/v1/b', ...FAILED });
    await lookTogether({ path: '/v1/b', ...FAILED }, { path: '/v1/a', terms: [makeTerms({ amount: 5000 })] });
    await lookTogether({ path: '/v1/b', ...FAILED }, { path: '/v1/a', terms: [makeTerms({ amount: 6000 })] });
    return decisions;
  },
  'corrected and replied to': async () => {
    const { pay, write, decisions } = await makeTelling();
    const first = await pay();
    const failed = await pay({ delivered: false });
    const reply = (text?: string) =>
      write(async (writing) => {
        const listing = (await findListing(writing.catalogue, { slug: SLUG })) as Listing;
        const replies = text === undefined ? [] : [{ caution: 'undelivered' as const, route: null, text }];
        await recordReplies(writing, listing.base_url, statement.statement.source, replies);
        await publishListing(writing, listing, 'declared_by_provider', statement);
      });
    await reply('Sorry.');
    await reply('Mended.');
    await reply();
    await write((writing) => correctReceipt(writing, failed, 'It was our own fault.'));
    await write((writing) => correctReceipt(writing, first, 'It was delivered by a test server.'));
    return decisions;
  },
  'removed and put back by everybody': async () => {
    const { find, look, write, decisions } = await makeTelling();
    await write((writing) => delistListing(writing, SLUG, { by: 'operator', reason: 'spam' }));
    await write((writing) => relistListing(writing, SLUG, { by: 'operator' }));
    const { base_url } = await find();
    const keepOut = (reason: string) =>
      write((writing) =>
        keepAddressOut(writing, base_url, {
          reason,
          source: statement.statement.source,
          evidence: statement,
        }),
      );
    await keepOut(ASKED_BY_PROVIDER);
    await write((writing) => letAddressIn(writing, base_url, { evidence: statement }));
    await look({}, 3);
    await look(FAILED, 60);
    await look();
    return decisions;
  },
  'declared by all sources, which withdraw it': async () => {
    const { declare, write, decisions } = await makeTelling({ category: null });
    const at = '2026-11-02T00:00:00.000Z';
    const dear = [makeRoute({ terms: [makeTerms({ amount: 7000 })] }), makeRoute({ path: '/v1/more' })];
    for (const [index, kind] of (['bazaar', 'openapi', 'x402_file', 'provider'] as const).entries()) {
      await declare({
        source: { kind, name: `a ${kind}`, observed_at: at },
        title: `By ${kind}`,
        routes: [...dear.slice(0, 1 + (index % 2)), makeRoute({ path: `/v1/of-${kind}` })],
        ...(kind === 'provider' && { category: 'Data' as const }),
      });
    }
    await write((writing) => withdrawDeclarations(writing, { kind: 'bazaar', name: 'a bazaar' }, NONE));
    const gone = (kind: 'openapi' | 'x402_file' | 'provider', cause: string) =>
      write((writing) => withdrawDeclarations(writing, { kind, name: `a ${kind}` }, NONE, { cause }));
    await gone('provider', 'statement_withdrawn');
    await gone('openapi', 'absent_from_document');
    await gone('x402_file', 'absent_from_document');
    await write((writing) => withdrawDeclarations(writing, makeDeclaration().source, NONE));
    return decisions;
  },
  'without a price, and derived again': async () => {
    const life = await makeTelling({ routes: [makeRoute({ terms: [] })] });
    await life.declare({ routes: [makeRoute()] });
    life.catalogue.engine.sqlite.exec("UPDATE listings SET document = json_set(document, '$.title', 'Wrong')");
    const listing = await life.find();
    await life.write((writing) => publishListing(writing, listing, 'derived_again'));
    return life.decisions;
  },
  'of a seller who announces another payee': async () => {
    const { declare, look, decisions } = await makeTelling();
    await look();
    const announced = makeTerms({ pay_to: OTHER_PAYEE });
    const name = 'https://prices.example-provider.com/openapi.json';
    await declare({
      source: { kind: 'openapi', name, observed_at: null },
      routes: [makeRoute({ terms: [announced] })],
    });
    await look({}, 5);
    await look({ terms: [announced] });
    return decisions;
  },
  'of a provider whose documents state different prices': async () => {
    const { declare, decisions } = await makeTelling();
    for (const [kind, path, amount] of [
      ['openapi', 'openapi.json', 1000],
      ['x402_file', '.well-known/x402', 2000],
    ] as const) {
      const name = `https://prices.example-provider.com/${path}`;
      const routes = [makeRoute({ terms: [makeTerms({ amount })] })];
      await declare({ source: { kind, name, observed_at: null }, routes });
    }
    return decisions;
  },
  'verified, then without its route': async () => {
    const { declare, pay, decisions } = await makeTelling();
    await pay();
    await declare({ routes: [makeRoute({ path: '/v1/other' })] });
    return decisions;
  },
  'beside a better known one of its name': async () => {
    const { declare, write, decisions } = await makeTelling({ title: 'Known Name', provider_name: 'Somebody' });
    const known = { slug: 'known', title: 'Known Name', base_url: 'https://api.knownname.com' };
    await declare({ ...known, routes: [makeRoute({ terms: [makeTerms({ pay_to: OTHER_PAYEE })] })] });
    await write((writing) => delistListing(writing, 'known', { by: 'operator', reason: 'test' }));
    return decisions;
  },
};

type Lived = StepDecision & { life: string };
let lived: Promise<Lived[]> | undefined;

/** Lives every life once, in the first test that asks. */
function listAll(): Promise<Lived[]> {
  lived ??= inTurn(Object.entries(LIVES), async ([life, live]) =>
    (await live()).map((one): Lived => ({ life, ...one })),
  ).then((lives) => lives.flat());
  return lived;
}

/** An earlier payment proves a route again, such as when its payee is named again: then that payment was delivered. */
function isProvenBefore({ change }: Lived): boolean {
  const { proof } = Object(change.detail);
  return change.kind === 'verified' && proof.verified_at < change.at;
}

const format = ({ life, change, decision }: Lived) =>
  `${life}: ${change.kind}/${change.reason}: ${[`${decision.what}: ${decision.why}`, ...decision.evidence].join('; ')}`;

it('every reason and every caution can be reached, and is put into words', async () => {
  const reached = new Set((await listAll()).map(({ change }) => change.reason));
  const codes = [...Object.keys(REASONS), ...CAUTION_CODES];
  // A delisting carries the reason that was given instead, and the provider's own as its words.
  const unreached = codes.filter(
    (code) => !reached.has(code) && !/^(delisted_by_(operator|rule)|provider_asked)$/.test(code),
  );
  expect(unreached).toEqual([]);
  for (const code of codes) expect(describeReason(code)).not.toMatch(/_|\.$/);
  for (const one of await listAll()) expect(one.decision.evidence.join(), format(one)).not.toContain('{"');
});

it('no two outcomes share a reason that says what came of a call or of a probe', async () => {
  const SAYING: Partial<Record<string, Outcome>> = {
    paid_and_delivered: 'delivered',
    paid_not_delivered: 'nothing delivered',
    undelivered: 'nothing delivered',
    paid_not_recognised: 'not recognised',
    unrecognised: 'not recognised',
    probed: 'valid probe',
    probe_failed: 'failed probe',
  };
  const single = (await listAll()).filter((one) => one.outcome !== 'other' && !isProvenBefore(one));
  const wrong = single.filter(({ change, outcome }) => (SAYING[change.reason] ?? outcome) !== outcome);
  expect(wrong.map(format)).toEqual([]);
  const words = [...Object.values(REASONS), ...Object.values(CAUTIONS).map(({ sentence }) => sentence)];
  expect(new Set(words).size).toBe(words.length);
});

it('nothing is said to be delivered that was not, nor seen so by a probe that failed', async () => {
  for (const one of await listAll()) {
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

it('a probe after which a listing looks as before is no decision, whatever came of it', async () => {
  const { look, decisions, getRevision } = await makeTelling();
  await look({}, 5);
  const [revision, before] = [await getRevision(), decisions.length];
  await look(FAILED);
  await look({}, 4);
  expect(decisions.slice(before).map(({ change }) => change)).toEqual([]);
  expect(await getRevision()).toBeGreaterThan(revision);
});

it('to put back what is live writes no change', async () => {
  const { write, decisions, getRevision } = await makeTelling();
  const [revision, before] = [await getRevision(), decisions.length];
  for (const by of ['operator', 'provider', 'rule'] as const)
    await write((writing) => relistListing(writing, SLUG, { by }));
  expect([await getRevision(), decisions.length]).toEqual([revision, before]);
});
