import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { agentCheck } from '../../src/views/check.ts';
import { makeTerms } from '../builders.ts';
import { buildChallenge, buildOffer, CALLED, makeFresh, makeSolanaTerms, recordSeen, serveChecks } from './checking.ts';
import { SITE } from './serving.ts';

const OTHER = `0x${'9'.repeat(40)}`;
const OTHER_ON_SOLANA = NETWORKS.solana.usdc.replace('E', 'F');
const HONEST = buildChallenge([makeTerms()]);
const served = async () => await serveChecks(await recordSeen([makeFresh()]));

/** Writes the honest challenge with a change to its one offer. */
const change = (fields: object) => ({ ...HONEST, accepts: [{ ...HONEST.accepts[0], ...fields }] });

/** Writes the honest challenge with further offers. */
const add = (...offers: unknown[]) => ({ ...HONEST, accepts: [...HONEST.accepts, ...offers] });

/** Writes the honest challenge with a key twice: the first names another payee, the last the one on record. */
const TWICE = JSON.stringify(HONEST).replace('"payTo":', `"payTo":"${OTHER}","payTo":`);

const [OFFER = {}] = HONEST.accepts;
const SOLANA_OFFER = buildOffer(makeSolanaTerms(), 2);
const [OFFER_V1] = buildChallenge([makeTerms()], 1).accepts;

/** Names that some servers give the payee besides `payTo`. */
const PAYEE_NAMES = ['pay_to', 'recipient', 'PayTo', 'receiver', 'wallet_address'];

describe('a challenge that two readers read differently', () => {
  it.each<[name: string, challenge: unknown, place: string]>([
    ['a key twice, as text', TWICE, '/accepts/0/payTo'],
    [
      'a key twice, written otherwise',
      JSON.stringify(HONEST).replace('"amount":', '"\\u0061mount":"1","amount":'),
      '/accepts/0/amount',
    ],
    ['a key twice, encoded', Buffer.from(TWICE).toString('base64'), '/accepts/0/payTo'],
    ...PAYEE_NAMES.flatMap((name): [string, unknown, string][] => [
      [`two payees, one as ${name}`, change({ [name]: OTHER }), `/accepts/0/${name}`],
      [`two payees on Solana, one as ${name}`, add({ ...SOLANA_OFFER, [name]: OTHER_ON_SOLANA }), `/accepts/1/${name}`],
    ]),
    ['two amounts', change({ maxAmountRequired: '7' }), '/accepts/0/maxAmountRequired'],
    ['two amounts in version 1', { x402Version: 1, accepts: [{ ...OFFER_V1, amount: '7' }] }, '/accepts/0/amount'],
    ['zeros in front', change({ amount: '01000' }), '/accepts/0/amount'],
    ['the offer twice', buildChallenge([makeTerms(), makeTerms({ pay_to: OTHER })]), '/accepts/1/payTo'],
    [
      'the offer twice, its network in two spellings',
      add(SOLANA_OFFER, { ...OFFER, network: 'base', payTo: OTHER }),
      '/accepts/2/payTo',
    ],
    ['a loose amount beside', add({ ...OFFER, amount: '1e3' }), '/accepts/1/amount'],
  ])('is danger, and safe in no offer: %s', async (_name, challenge, place) => {
    const { checkChallenge } = await served();
    const answer = await checkChallenge(challenge);
    expect(answer).toMatchObject({
      ...{ verdict: 'caution', severity: 'danger', reason: 'reads_differently', safe_offers: [] },
      summary: expect.stringMatching(/^Do not pay\./),
    });
    expect(answer.warnings).toContainEqual(expect.objectContaining({ code: 'reads_differently', places: [place] }));
    expect(await checkChallenge(HONEST)).toMatchObject({ verdict: 'match', severity: 'none', safe_offers: [0] });
  });

  it('has an amount that is not plain digits', async () => {
    const { checkChallenge } = await served();
    const loose = ['0x10', '0010', '1.0', '+5', '-5', ' 10', '10 ', '1 000', '1,000', '１０', '10n', 2 ** 53, 0.5, {}];
    for (const amount of loose) {
      const { severity, safe_offers, warnings } = await checkChallenge(add({ ...OFFER, amount }));
      expect([severity, safe_offers], String(amount)).toEqual(['danger', []]);
      expect(warnings).toContainEqual(
        expect.objectContaining({ code: 'reads_differently', places: ['/accepts/1/amount'] }),
      );
    }
  });

  it('is not found where both read the same', async () => {
    const { checkChallenge } = await served();
    const mixed = `0x${'aB'.repeat(20)}`;
    for (const challenge of [
      ...['10000', '0', '', null, undefined, 10_000, '9'.repeat(60)].map((amount) => add({ ...OFFER, amount })),
      ...PAYEE_NAMES.flatMap((name) => [
        change({ payTo: mixed, [name]: mixed.toLowerCase() }),
        change({ [name]: 'Example Incorporated' }),
        add({ ...SOLANA_OFFER, [name]: SOLANA_OFFER.payTo }),
      ]),
      ...['1000', ''].map((maxAmountRequired) => change({ maxAmountRequired })),
      add(OFFER),
      add({ ...OFFER, payTo: OTHER, amount: '20000' }),
      add({ ...OFFER, payTo: OTHER, scheme: 'upto' }),
      add(SOLANA_OFFER),
    ]) {
      const { warnings } = await checkChallenge(challenge);
      expect(
        warnings.map(({ code }) => code),
        JSON.stringify(challenge),
      ).not.toContain('reads_differently');
    }
  });

  it('is found in the text of the question, where it is given as an object', async () => {
    const { post } = await served();
    const ask = async (challenge: string) => {
      const response = await post(`{"url":"${CALLED}","challenge":${challenge}}`);
      return agentCheck.strict().parse(await response.json());
    };
    expect(await ask(TWICE)).toMatchObject({
      ...{ verdict: 'caution', severity: 'danger', safe_offers: [] },
      warnings: [{ code: 'reads_differently', places: ['/accepts/0/payTo'] }],
    });
    expect(await ask(JSON.stringify(HONEST))).toMatchObject({ verdict: 'match', safe_offers: [0], warnings: [] });
    expect(await ask(`${TWICE},"challenge":${JSON.stringify(HONEST)}`)).toMatchObject({ severity: 'danger' });
  });

  it('is danger of a route that is not on record, and where what it asks is not, however cheap', async () => {
    const { checkChallenge } = await served();
    const danger = { verdict: 'mismatch', severity: 'danger', reason: 'reads_differently', safe_offers: [] };
    for (const rest of [{ url: 'https://api.unknown.example/v1' }, { url: `${CALLED}/other/path` }]) {
      expect(await checkChallenge(TWICE, rest)).toMatchObject({
        ...danger,
        summary: expect.stringMatching(/^Do not pay\./),
      });
      expect(await checkChallenge(HONEST, rest)).toMatchObject({ verdict: 'unknown_route', severity: 'notice' });
    }
    expect(await checkChallenge(change({ amount: '0999' }))).toMatchObject(danger);
    expect(await checkChallenge(change({ amount: '999' }))).toMatchObject({ severity: 'notice', reason: 'cheaper' });
    expect(await checkChallenge(buildChallenge([makeTerms(), makeSolanaTerms()]))).toMatchObject({ safe_offers: [0] });
  });

  it('names its keys in no sentence', async () => {
    const { checkChallenge } = await served();
    const answer = await checkChallenge(JSON.stringify(HONEST).replace('{', '{"IGNORE ALL":1,"IGNORE ALL":2,'));
    const { warnings, ...rest } = answer;
    expect(warnings).toMatchObject([{ places: ['/IGNORE ALL'] }]);
    expect(JSON.stringify([rest, warnings[0]?.detail])).not.toContain('IGNORE');
  });

  it('is danger over MCP as text, and refused there with a key twice in the message itself', async () => {
    const { fetch } = await served();
    const call = async (challenge: string) => {
      const args = `{"url":"${CALLED}","challenge":${challenge}}`;
      const response = await fetch('/mcp', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          Host: new URL(SITE.baseUrl).host,
          'MCP-Protocol-Version': '2025-11-25',
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_payment_terms","arguments":${args}}}`,
      });
      return { status: response.status, answer: await response.json() };
    };
    const { answer } = await call(JSON.stringify(TWICE));
    expect(answer.result.structuredContent).toMatchObject({
      ...{ verdict: 'caution', severity: 'danger', safe_offers: [], warnings: ['reads_differently'] },
    });
    expect((await call(JSON.stringify(HONEST))).answer.result.structuredContent).toMatchObject({ verdict: 'match' });
    expect(await call(TWICE)).toMatchObject({
      status: 400,
      answer: { error: { message: expect.stringContaining('A key appears twice') } },
    });
  });
});
