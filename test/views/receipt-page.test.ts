import { expect, it } from 'vitest';
import { NETWORKS, nameChain } from '../../src/model/network.ts';
import type { PublicPayment } from '../../src/model/payment.ts';
import {
  buildReceiptPage,
  describeMissingAnswer,
  formatSummary,
  listAnswered,
  listAsked,
  listNodeCommands,
  listPaid,
  listProved,
  listUnproved,
} from '../../src/views/pages/receipt-page.ts';
import { describeDelivery } from '../../src/views/receipt.ts';
import { SITE } from '../http/serving.ts';
import { makeDeclaration, makeTerms, NOW } from '../records.ts';
import { makeLiveListing } from './listings.ts';

const PAID: PublicPayment = {
  id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
  route_id: '6a4bdc0c-5b5f-5d3e-9a44-0f3f6f1c2d31',
  ...{ network: 'base', scheme: 'exact', x402_version: 2, asset: NETWORKS.base.usdc, amount: 1000 },
  payer: '0x2222222222222222222222222222222222222222',
  pay_to: makeTerms().pay_to ?? '',
  nonce: `0x${'7'.repeat(64)}`,
  ...{ signature: null, from_block: 1, expires_at: NOW, expires_block: null },
  ...{ delivered: true, unrecognised: null, conforming: 'yes' },
  request: { method: 'GET', url: "https://api.example.com/a?b='c'", headers: {}, body: null, hash: 'a'.repeat(64) },
  answer: {
    at: NOW,
    duration_ms: 5,
    status: 200,
    content_type: 'text/plain',
    size: 3,
    hash: 'b'.repeat(64),
    fields: null,
  },
  seller_receipt: { success: true, transaction: `0x${'f'.repeat(64)}`, network: null, payer: null, error: null },
  settlement: {
    transaction: `0x${'e'.repeat(64)}`,
    ...{ block: 255, block_hash: `0x${'d'.repeat(64)}`, log_index: 3, settled_at: NOW, read_from: 1 },
    genesis: NETWORKS.base.genesis,
  },
  sent_at: NOW,
};

/** What the receipt is shown with: a listing, whose route it is of. */
async function makeView() {
  const listing = await makeLiveListing(
    makeDeclaration({ slug: 'example', title: 'Example', base_url: 'https://api.example.com' }),
  );
  const routeId = listing.routes[0]?.id ?? '';
  return { view: { listing, route: { method: 'GET', path: '/a' }, site: SITE }, routeId };
}

it('shows what was asked, paid and answered, and how to check it with and without our software', async () => {
  const page = buildReceiptPage(PAID, (await makeView()).view);
  const facts = Object.fromEntries(
    [...listAsked(page), ...listPaid(page), ...listAnswered(page)].map(({ label, value }) => [label, value]),
  );
  expect(facts).toMatchObject({
    Request: "GET https://api.example.com/a?b='c'",
    'Paid by': PAID.payer,
    Transaction: PAID.settlement.transaction,
    Block: '255',
    'Log index': '3',
    'SHA-256 of the answer': 'b'.repeat(64),
    "Seller's own receipt": 'names another transaction',
  });
  expect([describeDelivery(PAID).outcome, nameChain(page.document.receipt)]).toEqual(['Delivered', 'Base']);
  expect(page.document.check.command).toBe(
    `npm run catalogue -- receipts check ${SITE.baseUrl}/agent/receipts/${PAID.id} --rpc <url>`,
  );
  expect(listNodeCommands(page)).toHaveLength(2);
  for (const { code } of listNodeCommands(page)) {
    const [, json = ''] = /-d '([^']*)'$/.exec(code) ?? [];
    expect(JSON.parse(json)).toMatchObject({ method: 'eth_getLogs', params: [{ fromBlock: '0xff', toBlock: '0xff' }] });
  }
  expect(listProved(page)[0]).toContain(`${PAID.payer} paid 0.001 USDC to ${PAID.pay_to} on Base`);
  expect(listUnproved(page).join(' ')).toContain('That the product came back: that is our own word');
});

it('shows beside what was taken the ceiling that was signed', async () => {
  const { view } = await makeView();
  const nonce = `0x${'0'.repeat(61)}102` as const;
  const page = buildReceiptPage({ ...PAID, scheme: 'upto', amount: 120, ceiling: 50_000, nonce }, view);
  expect(page.document.receipt).toMatchObject({ amount_usdc: '0.00012', ceiling_usdc: '0.05' });
  expect(formatSummary(page)).toContain('paid 0.00012 of at most 0.05 USDC on Base');
  expect(listPaid(page)).toContainEqual({ label: 'Signed for', value: 'at most 0.05 USDC (50000 atomic), by Permit2' });
  expect(listProved(page).join(' ')).toContain('signed for at most 0.05 USDC');
  const [used, sent, moved] = listNodeCommands(page);
  // Word 1 of the bitmap, bit 2.
  expect(used?.code).toContain(`${PAID.payer.slice(2)}${'0'.repeat(63)}1`);
  expect(used?.expect).toContain('bit 2 is 1');
  expect(sent?.expect).toContain(`${'c350'.padStart(64, '0')}${nonce.slice(2)}`);
  expect(moved?.expect).toContain(PAID.settlement.transaction);
  expect(buildReceiptPage(PAID, view).document.receipt.ceiling_usdc).toBeUndefined();
});

it('links to the explorer on a public chain alone, and to the route it was paid for', async () => {
  const { view, routeId } = await makeView();
  const paid = { ...PAID, route_id: routeId };
  const getLinks = (payment: PublicPayment) =>
    listPaid(buildReceiptPage(payment, view)).flatMap(({ href }) => href ?? []);
  expect(getLinks(paid)).toEqual([
    `https://basescan.org/address/${PAID.payer}`,
    `https://basescan.org/address/${PAID.pay_to}`,
    `https://basescan.org/tx/${PAID.settlement.transaction}`,
    'https://basescan.org/block/255',
  ]);
  const genesis = `0x${'1'.repeat(64)}`;
  expect(getLinks({ ...paid, settlement: { ...PAID.settlement, genesis } })).toEqual([]);
  expect(buildReceiptPage(paid, view).listing.href).toBe('/api/example#get-a');
  expect(buildReceiptPage(PAID, view).listing.href).toBe('/api/example');
  const held = { ...view.listing, state: 'held' as const };
  expect(buildReceiptPage(paid, { ...view, listing: held }).listing.href).toBeNull();
});

it('says of a local test chain that its money is worth nothing', async () => {
  const settlement = { ...PAID.settlement, genesis: `0x${'1'.repeat(64)}` };
  const page = buildReceiptPage({ ...PAID, settlement }, (await makeView()).view);
  expect(nameChain(page.document.receipt)).toBe('a local test chain for Base');
  expect(listUnproved(page)[0]).toContain('worth nothing');
});

const ANSWER = {
  at: NOW,
  duration_ms: 5,
  status: 200,
  content_type: null,
  size: 3,
  hash: 'b'.repeat(64),
  fields: null,
};

it.each([
  [null, 'Not delivered: no answer came'],
  [{ ...ANSWER, status: 500 }, 'Not delivered: the answer was status 500'],
  [{ ...ANSWER, size: 0 }, 'Not delivered: the answer was empty'],
])('says plainly that nothing was delivered (%#)', async (answer, outcome) => {
  const page = buildReceiptPage({ ...PAID, delivered: false, conforming: null, answer }, (await makeView()).view);
  expect(describeDelivery(page.payment)).toMatchObject({
    outcome,
    note: expect.stringContaining('the seller has the money'),
  });
  expect(formatSummary(page)).toContain(outcome);
  expect(listAnswered(page).length > 0).toBe(answer !== null);
});

it('claims nothing of a delivery that nobody knows of, and says what was not recognised', async () => {
  const { view } = await makeView();
  const killed = buildReceiptPage({ ...PAID, delivered: null, conforming: null, answer: null }, view);
  expect(listAnswered(killed)).toEqual([]);
  expect(describeMissingAnswer(killed.payment)).toContain('is not known');
  expect(listUnproved(killed).join(' ')).toContain('Whether a product came back: that is not known.');
  expect(describeMissingAnswer({ ...PAID, delivered: false, answer: null })).toContain('No answer came');
  const unrecognised = buildReceiptPage({ ...PAID, delivered: false, unrecognised: 'html_page' }, view);
  expect(listUnproved(unrecognised).join(' ')).toContain('That the answer was not the product');
});
