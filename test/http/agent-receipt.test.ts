import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import type { Payment } from '../../src/model/payment.ts';
import { makeCommands } from '../cli/running.ts';
import { DELIVERY_CHEATS } from '../market/cheats/delivery.ts';
import { listFalsehoods, openAsking, type ReceiptDocument } from '../paying/independent-check.ts';
import { HONEST, openMarketPaying, type RailOptions } from '../paying/market-paying.ts';
import { getMarket } from '../worker-market.ts';
import { serveLive } from './serving.ts';

const RAILS: readonly RailOptions[] = [
  { network: 'base', version: 1 },
  { network: 'base', version: 2 },
  { network: 'solana', version: 1 },
  { network: 'solana', version: 2 },
];

const market = await getMarket();

const getNode = (network: RailOptions['network']) =>
  network === 'base' ? market.base.rpcUrl : (market.solana?.rpcUrl ?? '');

async function payAndRead(options: RailOptions) {
  const { pay, catalogue } = await openMarketPaying(market, HONEST, options);
  const payment = await pay();
  const response = await (await serveLive(catalogue)).get(`/agent/receipts/${payment.id}`);
  expect(response.status).toBe(200);
  const document: ReceiptDocument & { receipt: Record<string, unknown> } = await response.json();
  return { payment, catalogue, document };
}

const read = new Map<string, Promise<Awaited<ReturnType<typeof payAndRead>>['document']>>();

/** The document of one payment of each rail. */
function readOnce(options: RailOptions) {
  const key = JSON.stringify(options);
  const document = read.get(key) ?? payAndRead(options).then((paid) => paid.document);
  read.set(key, document);
  return document;
}

/** Says something else of one thing: a digit more, another name. */
const OTHERS: Readonly<Record<string, (receipt: ReceiptDocument['receipt'], node: RailOptions['network']) => object>> =
  {
    amount: () => ({ amount: '1001' }),
    pay_to: ({ payer }) => ({ pay_to: payer }),
    payer: ({ pay_to }) => ({ payer: pay_to }),
    nonce: ({ nonce }) => ({ nonce: flip(nonce) }),
    transaction: ({ settlement }) => ({ settlement: { ...settlement, transaction: flip(settlement.transaction) } }),
    block: ({ settlement }) => ({ settlement: { ...settlement, block: settlement.block - 1 } }),
    block_hash: ({ settlement }) => ({ settlement: { ...settlement, block_hash: flip(settlement.block_hash) } }),
    genesis: ({ settlement }) => ({ settlement: { ...settlement, genesis: flip(settlement.genesis) } }),
    settled_at: ({ settlement }) => ({ settlement: { ...settlement, settled_at: '2026-01-01T00:00:00.000Z' } }),
  };

const flip = (text: string) => `${text.slice(0, -1)}${text.endsWith('2') ? '3' : '2'}`;

describe.each(RAILS)('a receipt of $network, version $version', (options) => {
  const { network } = options;

  it('holds before who knows nothing of us, and no tampered one does', async () => {
    const document = await readOnce(options);
    const node = getNode(network);
    expect(await listFalsehoods(document, node)).toEqual([]);
    for (const [name, change] of Object.entries(OTHERS)) {
      const receipt = { ...document.receipt, ...change(document.receipt, network) };
      expect([name, await listFalsehoods({ ...document, receipt }, node)]).toEqual([
        name,
        expect.arrayContaining([expect.any(String)]),
      ]);
    }
  });

  it('names bare calls that show what they are said to', async () => {
    const { receipt, check } = await readOnce(options);
    const ask = openAsking(getNode(network));
    const answers = await Promise.all(check.json_rpc.map(({ method, params }) => ask<unknown>(method, params)));
    const { transaction } = receipt.settlement;
    if (network === 'base') {
      const [used, moved] = answers as { transactionHash: string; data: string }[][];
      expect(used).toMatchObject([{ transactionHash: transaction }]);
      const data = /0x[0-9a-f]{64}(?=:)/.exec(check.json_rpc[1]?.expect ?? '')?.[0];
      expect(BigInt(data ?? '0')).toBe(BigInt(receipt.amount));
      expect(moved).toContainEqual(expect.objectContaining({ transactionHash: transaction, data }));
      expect(check.json_rpc.map(({ expect: words }) => words.includes(transaction))).toContain(true);
    } else {
      expect(answers).toMatchObject([
        { meta: { err: null }, transaction: { signatures: [transaction, receipt.signature] } },
      ]);
      expect(JSON.stringify(answers)).toContain(`"amount":"${1_000_000 - Number(receipt.amount)}"`);
    }
  });

  it('is checked again by the command, which ends with 1 where anything is not so', async () => {
    const { document, catalogue, payment } = await payAndRead(options);
    const { runJson, run } = makeCommands({ CATALOGUE: catalogue.address });
    const check = ['receipts', 'check', payment.id, '--rpc', getNode(network)];
    const honest = await runJson(...check);
    expect([honest.code, honest.json.checks.every(({ passed }: { passed: boolean }) => passed)]).toEqual([0, true]);
    for (const [name, change] of Object.entries(OTHERS)) {
      const { amount, ...rest } = change(document.receipt, network) as { amount?: string };
      store(catalogue, { ...payment, ...rest, ...(amount === undefined ? {} : { amount: Number(amount) }) });
      const { code, stdout } = await run(check);
      expect([name, code]).toEqual([name, 1]);
      expect(stdout).toContain('NO');
    }
    store(catalogue, payment);
    expect((await run(check)).code).toBe(0);
  });
});

/** Rewrites history, as whoever holds the file could. */
function store({ engine: { sqlite } }: Catalogue, payment: Payment): void {
  sqlite.prepare('UPDATE payments SET document = ? WHERE id = ?').run(JSON.stringify(payment), payment.id);
}

describe('GET /agent/receipts/{id}', () => {
  it('says of a test chain that it is one, and links nowhere', async () => {
    expect(await readOnce({ network: 'base', version: 2 })).toMatchObject({
      receipt: { public_chain: false, transaction_url: null, seller_agrees: true, delivered: true, conforming: 'yes' },
      check: { statement: expect.stringContaining('A local test chain, whose money is worth nothing') },
    });
  });

  it('holds no payment and no secret, and the request that worked', async () => {
    const { document, payment } = await payAndRead({ network: 'base', version: 2 });
    expect(document.receipt.request).toEqual(payment.request);
    expect(JSON.stringify(document)).not.toMatch(/payment-signature|x-payment"|authorization"|0x[0-9a-f]{130}/i);
    const answer = await fetch(document.receipt.request.url);
    expect(answer.status).toBe(402);
  });

  it('shows a payment that brought nothing as what it is', async () => {
    const { pay, catalogue } = await openMarketPaying(market, DELIVERY_CHEATS.settles_then_fails, {
      network: 'base',
      version: 2,
    });
    const { id } = await pay();
    const document = await (await (await serveLive(catalogue)).get(`/agent/receipts/${id}`)).json();
    expect(document).toMatchObject({
      receipt: { delivered: false, answer: { status: 500 } },
      check: { statement: expect.stringContaining('Nothing was delivered') },
    });
    expect(await listFalsehoods(document, market.base.rpcUrl)).toEqual([]);
  });

  it('has none of a payment that is not settled, and none of an id that is none', async () => {
    const { pay, catalogue } = await openMarketPaying(market, DELIVERY_CHEATS.no_settlement, {
      network: 'base',
      version: 2,
    });
    const { id } = await pay({ signal: AbortSignal.timeout(50) });
    const { get } = await serveLive(catalogue);
    for (const path of [id, '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01', '..%2f', 'x'.repeat(5000)]) {
      const response = await get(`/agent/receipts/${path}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    }
    expect((await get(`/agent/receipts/${id}?all=1`)).status).toBe(400);
  });
});

it('the independent check shares no code with what it checks', () => {
  for (const name of ['check', 'base', 'solana']) {
    const source = readFileSync(new URL(`../paying/independent-${name}.ts`, import.meta.url), 'utf8');
    const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, target]) => target);
    expect(imports.filter((target) => !/^(node:crypto|\.\/independent-\w+\.ts)$/.test(target ?? ''))).toEqual([]);
  }
});
