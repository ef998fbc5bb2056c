import { describe, expect, it } from 'vitest';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { makeTerms } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { PAY_TO, type Sale } from './paying.ts';
import { makePayingCommands, SLUG } from './verifying.ts';

const { base: chain } = await getMarket();

const terms = [makeTerms({ pay_to: PAY_TO })];
const GET = { example: { query: { of: 'gold' } }, terms };
const POST = { method: 'POST' as const, example: { body: { of: 'gold' } }, terms };
const describeInput = (input: object) => ({
  extensions: { bazaar: { info: { input: { type: 'http', ...input } } } },
});

const keepMoney: Sale<`0x${string}`> = async ({ response, settle }) => {
  await settle();
  response.writeHead(500).end('{}');
};

describe('a route of which only a feed says what it takes', () => {
  it('is paid for by GET; success verifies, and failure counts for nothing and is not paid again within days', async () => {
    const good = await makePayingCommands(chain, { kind: 'bazaar', route: GET });
    expect((await good.verify('--pay')).code).toBe(0);
    expect((await findListing(good.catalogue, { slug: SLUG }))?.routes[0]?.proof).not.toBeNull();
    const bad = await makePayingCommands(chain, { kind: 'bazaar', route: GET, sale: keepMoney });
    const { json } = await bad.verify('--pay');
    expect(json).toMatchObject({ payment: { state: 'settled', delivered: null, unrecognised: null } });
    expect(await bad.getLost()).toBe(1000n);
    expect((await findListing(bad.catalogue, { slug: SLUG }))?.routes[0]).toMatchObject({
      ...{ proof: null, undelivered: null, cautions: [{ code: 'never_seen' }] },
    });
    await bad.catalogue.query
      .updateTable('payments')
      .set({ prepared_at: new Date(Date.now() - 3 * 86_400_000).toISOString() })
      .execute();
    const due = await bad.runJson('verify', '--due', '--budget', '0.01');
    expect(due.json).toMatchObject({ spent: 0, routes: [{ outcome: 'skipped', reason: 'tried_lately' }] });
  });

  it('is not paid for by POST, unless the 402 describes the same request or the operator gives one', async () => {
    const { verify, getLost } = await makePayingCommands(chain, { kind: 'bazaar', route: POST });
    expect((await verify()).json).toMatchObject({ refused: 'input_of_others', payment: null });
    await verify('--pay');
    expect(await getLost()).toBe(0n);
    const same = describeInput({ method: 'POST', bodyType: 'json', body: { of: 'gold' } });
    const vouched = await makePayingCommands(chain, { kind: 'bazaar', route: POST, challenge: same, sale: keepMoney });
    expect((await vouched.verify('--pay')).json).toMatchObject({ payment: { state: 'settled', delivered: false } });
    expect((await findListing(vouched.catalogue, { slug: SLUG }))?.routes[0]?.undelivered).not.toBeNull();
    const other = describeInput({ method: 'POST', bodyType: 'json', body: { of: 'silver' } });
    const differs = await makePayingCommands(chain, { kind: 'bazaar', route: POST, challenge: other });
    expect((await differs.verify('--pay')).json).toMatchObject({ refused: 'input_of_others' });
  });

  it('counts against a seller whose own words or the operator’s say so', async () => {
    const { verify, catalogue } = await makePayingCommands(chain, { kind: 'manifest', route: POST, sale: keepMoney });
    await verify('--pay');
    expect((await findListing(catalogue, { slug: SLUG }))?.routes[0]?.undelivered).not.toBeNull();
  });
});
