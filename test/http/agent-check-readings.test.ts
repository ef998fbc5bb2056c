import { describe, expect, it } from 'vitest';
import { agentCheck } from '../../src/views/check.ts';
import { makeTerms } from '../builders.ts';
import { buildChallenge, CALLED, makeFresh, makeSolanaTerms, recordSeen, serveChecks } from './checking.ts';
import { SITE } from './serving.ts';

const OTHER = `0x${'9'.repeat(40)}`;
const HONEST = buildChallenge([makeTerms()]);
const served = async () => await serveChecks(await recordSeen([makeFresh()]));

/** Writes the honest challenge with a change to its one offer. */
const change = (fields: object) => ({ ...HONEST, accepts: [{ ...HONEST.accepts[0], ...fields }] });

/** Writes the honest challenge with a key twice: the first names another payee, the last the one on record. */
const TWICE = JSON.stringify(HONEST).replace('"payTo":', `"payTo":"${OTHER}","payTo":`);

describe('a challenge that two readers read differently', () => {
  it.each([
    ['a key twice, as text', TWICE, '/accepts/0/payTo'],
    ['a key twice, encoded', Buffer.from(TWICE).toString('base64'), '/accepts/0/payTo'],
    ['two payees', change({ pay_to: OTHER }), '/accepts/0/pay_to'],
    ['two amounts', change({ maxAmountRequired: '7' }), '/accepts/0/maxAmountRequired'],
    ['zeros in front', change({ amount: '01000' }), '/accepts/0/amount'],
    ['the offer twice', buildChallenge([makeTerms(), makeTerms({ pay_to: OTHER })]), '/accepts/1/payTo'],
    [
      'a loose amount beside',
      { ...HONEST, accepts: [...HONEST.accepts, { ...HONEST.accepts[0], amount: '1e3' }] },
      '/accepts/1/amount',
    ],
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
