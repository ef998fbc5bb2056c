import { expect, it } from 'vitest';
import { agentList } from '../../src/views/listing/query.ts';
import { makeRoute, makeTerms } from '../builders.ts';
import { connectModern } from '../mcp/clients.ts';
import { serveMcp } from '../mcp/serving.ts';
import {
  buildChallenge,
  buildFields,
  buildOffer,
  CALLED,
  makeFresh,
  makeSolanaTerms,
  recordSeen,
  serveChecks,
} from './checking.ts';

const PERMIT2 = makeTerms({ amount: 500, extra_needs: ['permit2'] });
const UPTO = makeTerms({ amount: 9000, scheme: 'upto' });

/** Four sellers, each of which other clients can pay. */
const SELLERS = [
  makeFresh(),
  makeFresh({
    slug: 'permit-prices',
    base_url: 'https://permit.example-provider.com',
    routes: [makeRoute({ terms: [PERMIT2, makeTerms({ amount: 2000 })] })],
  }),
  makeFresh({
    slug: 'upto-prices',
    base_url: 'https://upto.example-provider.com',
    routes: [makeRoute({ terms: [UPTO] })],
  }),
  makeFresh({
    slug: 'solana-prices',
    base_url: 'https://solana.example-provider.com',
    routes: [makeRoute({ terms: [makeSolanaTerms()] })],
  }),
];

async function serve() {
  const served = await serveChecks(await recordSeen(SELLERS));
  const list = async (query: string) => agentList.parse(await (await served.get(`/agent/list?${query}`)).json());
  return { ...served, list };
}

it.each([
  ['can=exact', 'example-prices permit-prices solana-prices'],
  ['can=evm,exact,eip3009', 'example-prices permit-prices'],
  ['can=v2, EVM ,exact,permit2', 'permit-prices'],
  ['can=evm,upto', 'upto-prices'],
  ['can=svm', 'solana-prices'],
  ['can=v1', ''],
  // The price that it can pay counts, and not a lower one that it cannot.
  ['can=eip3009&network=base&max_price_usdc=0.001', 'example-prices'],
  ['can=permit2,exact&max_price_usdc=0.001', 'permit-prices solana-prices'],
  ['can=eip3009,exact&q=prices&max_price_usdc=0.001&network=base', 'example-prices'],
])('lists for %s what such a client can pay', async (query, slugs) => {
  const { list } = await serve();
  const answer = await list(`${query}&sort=name&facets=true`);
  expect(answer.listings.map(({ slug }) => slug).join(' ')).toBe(slugs);
  expect(answer.total).toBe(slugs === '' ? 0 : slugs.split(' ').length);
  for (const { value, count } of answer.facets?.network ?? []) {
    const asked = new URLSearchParams(query);
    asked.set('network', value);
    expect(count, value).toBe((await list(`${asked}`)).total);
  }
});

it('says of each offer what it needs, and of a given client what it lacks', async () => {
  const { checkFields, checkChallenge, checkOffers } = await serve();
  const called = 'https://permit.example-provider.com/v1/price/x';
  const expected = await checkFields({ url: called, can: 'evm,exact,eip3009' });
  expect(expected).toMatchObject({
    can_pay: true,
    missing: [],
    on_record: [
      { needs: ['v2', 'evm', 'exact', 'permit2'], missing: ['permit2'] },
      { needs: ['v2', 'evm', 'exact', 'eip3009'], missing: [] },
    ],
  });
  const extra = { assetTransferMethod: 'permit2', name: 'USD Coin', version: '2' };
  const challenge = { ...buildChallenge([PERMIT2]), accepts: [{ ...buildOffer(PERMIT2, 2), extra }] };
  const asked = { url: called, can: 'exact,eip3009,payment-identifier' };
  const refused = await checkChallenge(challenge, asked);
  expect(refused).toMatchObject({ verdict: 'match', safe_offers: [0], can_pay: false, missing: ['permit2'] });
  const extensions = { 'sign-in-with-x': { info: { required: true } }, other: { info: {} } };
  const signed = await checkChallenge({ ...challenge, extensions }, { ...asked, can: 'exact,permit2' });
  expect(signed).toMatchObject({ can_pay: false, missing: ['sign-in-with-x'] });
  // Copied fields do not say how the money moves: then the record does.
  const copied = await checkFields({ ...buildFields(PERMIT2, called), can: 'evm,exact,eip3009' });
  expect(copied).toMatchObject({ verdict: 'match', safe_offers: [0], can_pay: false, missing: ['permit2'] });
  expect(copied.offers[0]?.needs).toEqual(['v2', 'evm', 'exact', 'permit2']);
  // The safe offer decides, wherever it is.
  const others = Array.from({ length: 24 }, (_, at) => buildOffer(makeTerms({ amount: 3000 + at }), 2));
  const late = { ...challenge, accepts: [...others, ...challenge.accepts] };
  expect(await checkChallenge(late, asked)).toMatchObject({ safe_offers: [24], can_pay: false, missing: ['permit2'] });
  const unasked = await checkOffers([makeTerms()]);
  expect(unasked).not.toHaveProperty('can_pay');
  expect(unasked.offers[0]).not.toHaveProperty('missing');
});

it.each(['/agent/list?can=exact,eip3000', '/agent/list?can=', `/agent/check?url=${CALLED}&can=exact;permit2`])(
  'refuses %s, and names what there is',
  async (path) => {
    const { get } = await serve();
    const response = await get(path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'bad_parameter',
      hint: expect.stringContaining('v1, v2, evm, svm, exact, upto'),
    });
  },
);

it('answers the same to tools', async () => {
  const { url } = await serveMcp(SELLERS);
  const client = await connectModern(url);
  const found = await client.call('search_listings', { can: 'evm,upto' });
  expect(found.structured.listings).toMatchObject([{ slug: 'upto-prices' }]);
  const detail = await client.call('get_listing', { slug: 'permit-prices', can: 'exact,eip3009' });
  const plain = { network: 'base', pay_to: PERMIT2.pay_to, price_usdc: '0.002' };
  expect(detail.structured.pay).toEqual([
    { ...plain, price_usdc: '0.0005', needs: 'permit2', missing: 'permit2' },
    plain,
  ]);
  const called = 'https://upto.example-provider.com/v1/price/x';
  const checked = await client.call('check_payment_terms', { url: called, can: 'exact' });
  expect(checked.structured).toMatchObject({ missing: ['upto'] });
  const tool = await serveMcp([makeFresh({ routes: [makeRoute({ method: 'POST', path: '/mcp#report' })] })]);
  const desk = await (await connectModern(tool.url)).call('get_listing', { slug: 'example-prices', can: 'exact' });
  expect(desk.structured).toMatchObject({
    how_to_pay: expect.stringContaining('_meta["x402/payment"]'),
    pay: [{ needs: 'mcp', missing: 'mcp' }],
    routes: [{ url: expect.stringContaining('/mcp#report') }],
  });
  const wrong = await client.call('search_listings', { can: 'everything' });
  expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('eip3009, permit2') });
});
