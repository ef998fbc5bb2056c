import { execFile } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServer } from '../../scripts/market/loopback.ts';
import type { MarketNetwork } from '../../scripts/market/providers/route.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { AgentReceipt } from '../../src/views/receipt.ts';
import { makeFolder } from '../builders.ts';
import { serveLive } from '../http/serving.ts';
import { type Lie, openLyingNode } from '../paying/lying-node.ts';
import { HONEST, openMarketPaying } from '../paying/market-paying.ts';
import { getMarket } from '../worker-market.ts';
import { makeCommands } from './running.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NETWORK_KEYS = ['base', 'solana'] as const satisfies readonly MarketNetwork[];

const market = await getMarket();
/** A served receipt of each network, as it is. */
const documents = new Map<MarketNetwork, AgentReceipt>();

const getNode = (network: MarketNetwork) => (network === 'base' ? market.base.rpcUrl : (market.solana?.rpcUrl ?? ''));

async function getDocument(network: MarketNetwork): Promise<AgentReceipt> {
  const known = documents.get(network);
  if (known) return structuredClone(known);
  const { pay, catalogue } = await openMarketPaying(market, HONEST, { network, version: 2 });
  const { id } = await pay();
  const document: AgentReceipt = await (await (await serveLive(catalogue)).get(`/agent/receipts/${id}`)).json();
  documents.set(network, document);
  return structuredClone(document);
}

/** Serves what it is given on loopback and gives the origin. */
async function serve(answer: (path: string) => Response): Promise<string> {
  const server = await openServer((request) => answer(new URL(request.url).pathname));
  onTestFinished(server.close);
  return server.url;
}

interface Check {
  field: string;
  passed: boolean;
  found: string;
  node: string | null;
}

/** Checks a document as it would be served, from a folder with nothing in it. Returns the fields that are wrong. */
async function check(document: unknown, nodes: readonly string[], place?: (origin: string, id: string) => string) {
  const id = (document as AgentReceipt).receipt.id;
  const origin = await serve((path) =>
    path === `/agent/receipts/${id}` ? Response.json(document) : new Response('no', { status: 404 }),
  );
  const { folder, file, runJson, run } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
  const address = place?.(origin, id) ?? `${origin}/agent/receipts/${id}`;
  const args = ['receipts', 'check', address, ...nodes.flatMap((node) => ['--rpc', node])];
  const { code, json } = await runJson(...args);
  expect([existsSync(file), readdirSync(folder)]).toEqual([false, []]);
  const checks: Check[] = json.checks ?? [];
  const wrong = [...new Set(checks.filter(({ passed }) => !passed).map(({ field }) => field))];
  return { code, checks, wrong, json, text: async () => (await run(args)).stdout };
}

const flip = (text: string) => `${text.slice(0, -1)}${text.endsWith('2') ? '3' : '2'}`;

type Receipt = AgentReceipt['receipt'];
type Tampering = (receipt: Receipt) => Partial<Receipt>;
const settle = (change: (settlement: Receipt['settlement']) => Partial<Receipt['settlement']>): Tampering => {
  return ({ settlement }) => ({ settlement: { ...settlement, ...change(settlement) } });
};

/** Each says something else of one thing, by the name of the field that is then wrong. */
const TAMPERINGS = (
  [
    ['amount', ({ amount }) => ({ amount: `${amount}0`, amount_usdc: '0.01' })],
    ['amount', () => ({ amount: '-5' })],
    ['amount_usdc', () => ({ amount_usdc: '5' })],
    ['payer', ({ payer }) => ({ payer: flip(payer) })],
    ['payer', ({ pay_to }) => ({ payer: pay_to })],
    ['payer', () => ({ payer: 'nobody' })],
    ['pay_to', ({ pay_to }) => ({ pay_to: flip(pay_to) })],
    ['pay_to', ({ payer }) => ({ pay_to: payer })],
    ['nonce', ({ nonce }) => ({ nonce: flip(nonce) })],
    ['signature', ({ signature }) => ({ signature: flip(signature ?? '') })],
    ['transaction', settle(({ transaction }) => ({ transaction: flip(transaction) }))],
    ['transaction', settle(() => ({ transaction: 'none' }))],
    ['block', settle(({ block }) => ({ block: block + 1 }))],
    ['block_hash', settle(({ block_hash }) => ({ block_hash: flip(block_hash) }))],
    ['log_index', settle(({ log_index }) => ({ log_index: (log_index ?? 0) + 1 }))],
    ['settled_at', settle(() => ({ settled_at: '2026-01-01T00:00:00.000Z' }))],
    ['genesis', settle(({ genesis }) => ({ genesis: flip(genesis) }))],
    ['public_chain', () => ({ public_chain: true })],
    ['transaction_url', ({ settlement }) => ({ transaction_url: `https://basescan.org/tx/${settlement.transaction}` })],
    ['network_id', () => ({ network_id: 'eip155:1' })],
    ['asset', () => ({ asset: '0x00000000000000000000000000000000000000aa' })],
    ['from_block', ({ settlement }) => ({ from_block: settlement.block + 1 })],
    ['expires_at', () => ({ expires_at: '2020-01-01T00:00:00.000Z' }), 'base'],
    ['expires_at', () => ({ expires_at: '2100-01-01T00:00:00.000Z' }), 'base'],
    ['request', ({ request }) => ({ request: { ...request, url: `${request.url}&more=1` } })],
    ['request', ({ request }) => ({ request: { ...request, body: 'other' } })],
    ['route', () => ({ route: 'DELETE /v1/other' })],
    ['delivered', ({ answer }) => ({ delivered: true, answer: answer && { ...answer, status: 500 } })],
    ['delivered', () => ({ delivered: true, answer: null })],
    ['seller_agrees', ({ seller_agrees }) => ({ seller_agrees: !seller_agrees })],
    ['id', () => ({ id: '00000000-0000-4000-8000-000000000000' })],
  ] as readonly (readonly [field: string, change: Tampering, only?: MarketNetwork])[]
).map(([field, change, only]) => ({ field, change, only }));

describe.each(NETWORK_KEYS)('a served receipt of %s', (network) => {
  it('is checked by its own address, by that of its page, and as a file, without any catalogue', async () => {
    const document = await getDocument(network);
    const node = getNode(network);
    for (const place of [
      (origin: string, id: string) => `${origin}/agent/receipts/${id}`,
      (origin: string, id: string) => `${origin}/receipts/${id}`,
      (origin: string, id: string) => `${origin}/receipts/${id.toUpperCase()}/?from=page#paid`,
    ]) {
      const { code, wrong, checks, json, text } = await check(document, [node], place);
      expect([code, wrong]).toEqual([0, []]);
      expect(checks.filter(({ node: asked }) => asked !== null).length).toBeGreaterThan(8);
      expect(json.receipt).toEqual(document.receipt);
      expect(await text()).toContain('The chain shows this payment as in the receipt.');
    }
    const path = join(makeFolder(), 'receipt.json');
    writeFileSync(path, JSON.stringify(document));
    const { run, file } = makeCommands();
    expect(await run(['receipts', 'check', path, '--rpc', node])).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(file)).toBe(false);
  });

  it.each(TAMPERINGS.filter(({ only = network }) => only === network))(
    'with a false $field is detected',
    async ({ field, change }) => {
      const document = await getDocument(network);
      const receipt = { ...document.receipt, ...change(document.receipt) };
      const origin = await serve(() => Response.json({ ...document, receipt }));
      const { run, runJson } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
      const args = ['receipts', 'check', `${origin}/receipts/${document.receipt.id}`, '--rpc', getNode(network)];
      // In one form on each network: both forms show the same checks.
      if (network === 'base') {
        const { code, json } = await runJson(...args);
        expect(code).toBe(1);
        expect(json.checks.filter(({ passed }: Check) => !passed)).toContainEqual(expect.objectContaining({ field }));
        return;
      }
      const said = await run(args);
      expect([said.code, said.stdout]).toEqual([1, expect.stringMatching(/^NO\t/m)]);
      expect(said.stdout.split('\n').at(-2)).toContain(field.replaceAll('_', ' '));
    },
  );

  it('that claims the other network is detected', async () => {
    const document = await getDocument(network);
    const other = network === 'base' ? 'solana' : 'base';
    const { id: network_id, usdc: asset } = NETWORKS[other];
    const receipt = { ...document.receipt, network: other, network_id, asset };
    const { code, wrong } = await check({ ...document, receipt }, [getNode(other)]);
    expect([code, wrong]).toEqual([1, expect.arrayContaining(['genesis', 'transaction'])]);
  });

  it('is checked with every given node, and a disagreement is reported', async () => {
    const document = await getDocument(network);
    const honest = getNode(network);
    const second = await openLyingNode(honest);
    expect(await check(document, [honest, second.url])).toMatchObject({ code: 0, wrong: [] });
    second.lie = LIES[network];
    const { code, checks, wrong } = await check(document, [honest, second.url]);
    expect([code, wrong]).toEqual([1, ['settled_at', 'agreement']]);
    const said = checks.find(({ field }) => field === 'agreement')?.found;
    for (const url of [honest, second.url]) expect(said).toContain(`${new URL(url).host} says of settled at: `);
    const down = await check(document, [honest, 'http://127.0.0.1:9']);
    expect([down.code, down.wrong]).toEqual([1, ['node', 'agreement']]);
  });

  it('is not checked with a node of another chain, or with something that is not a node', async () => {
    const document = await getDocument(network);
    const path = join(makeFolder(), 'receipt.json');
    writeFileSync(path, JSON.stringify(document));
    const html = await serve(() => new Response('<h1>Hello</h1>', { headers: { 'Content-Type': 'text/html' } }));
    const foreign = await openLyingNode(getNode(network), FOREIGN);
    const { run } = makeCommands();
    for (const node of [
      getNode(network === 'base' ? 'solana' : 'base'),
      html,
      'http://127.0.0.1:9/sesame',
      foreign.url,
    ]) {
      const { code, stdout, stderr } = await run(['receipts', 'check', path, '--rpc', node]);
      expect(code).toBe(1);
      if (stdout === '') {
        expect(stderr).toMatch(/^error: [^\n]+\.\n.*--rpc/);
        expect(stderr).not.toContain('sesame');
        expect(stderr).toContain(NETWORKS[network].label);
      } else {
        expect(stdout).toMatch(/^NO\tfirst block .*another chain/m);
      }
    }
  });
});

const LIES: Readonly<Record<MarketNetwork, Lie>> = {
  base: (method, _params, truth) =>
    method === 'eth_getBlockByHash' && typeof truth === 'object' ? { ...truth, timestamp: '0x1' } : undefined,
  solana: (method, _params, truth) =>
    method === 'getTransaction' && typeof truth === 'object' ? { ...truth, blockTime: 1 } : undefined,
};

/** Says it is of another chain. */
const FOREIGN: Lie = (method) => {
  if (method === 'eth_chainId') return '0x1';
  return method === 'getGenesisHash' ? '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY' : undefined;
};

describe('something that is not a receipt', () => {
  const NODE = ['--rpc', 'http://127.0.0.1:9'];
  const html = () => new Response('<!DOCTYPE html><p>Hello', { headers: { 'Content-Type': 'text/html' } });

  it.each<readonly [string, () => Response, string]>([
    ['HTML', html, 'sent HTML where JSON was expected.'],
    ['a 404', () => new Response('no', { status: 404 }), 'has no such receipt.'],
    ['a 500', () => new Response('no', { status: 500 }), 'answered with status 500.'],
    ['other JSON', () => Response.json({ receipt: { id: 1 } }), 'is not a receipt: '],
    ['a list', () => Response.json([]), 'is not a receipt: the whole of it is invalid.'],
    ['null', () => Response.json(null), 'is not a receipt: '],
    ['a huge answer', () => new Response(`{"x":"${'y'.repeat(300_000)}"}`), 'at most 256 KB'],
    ['deep JSON', () => new Response('['.repeat(100_000)), 'nested too deeply'],
  ])('is one plain sentence with a hint: %s', async (_name, answer, sentence) => {
    const origin = await serve(answer);
    const { run, runJson, file } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
    const args = ['receipts', 'check', `${origin}/agent/receipts/5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01`, ...NODE];
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(stderr).toContain('/agent/receipts/{id}');
    expect((await runJson(...args)).json).toMatchObject({
      error: { message: expect.any(String), hint: expect.any(String) },
    });
    expect(existsSync(file)).toBe(false);
  });

  it.each([
    ['http://127.0.0.1:4/agent/receipts/x', 'ALLOW_PRIVATE_NETWORKS=on'],
    ['https://10.0.0.1/agent/receipts/x', 'ALLOW_PRIVATE_NETWORKS=on'],
    ['https://10.0.0.1/agent/receipts/x', 'ALLOW_PRIVATE_NETWORKS=on', 'http://localhost:4321'],
    ['https://', 'address'],
    ['nothing.json', 'There is no file nothing.json.'],
    ['.', 'is a folder, a pipe or a device.'],
  ])('is refused as %s', async (source, sentence, BASE_URL = 'https://apis.example') => {
    const { run } = makeCommands({ BASE_URL });
    const { code, stdout, stderr } = await run(['receipts', 'check', source, ...NODE]);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(sentence)]);
  });

  it('a receipt without a node to ask is wrong usage', async () => {
    const path = join(makeFolder(), 'receipt.json');
    writeFileSync(path, JSON.stringify(await getDocument('base')));
    const { run } = makeCommands();
    const { code, stderr } = await run(['receipts', 'check', path]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Add --rpc <url>, or set EVM_RPC_URL.')]);
    expect(await run(['receipts', 'check', path, '--rpc', 'ftp://x'])).toMatchObject({ code: 2 });
  });

  it('writes no hostile text of a document unescaped to a terminal', async () => {
    const document = await getDocument('base');
    const receipt = { ...document.receipt, payer: '\u001b[2J\u202eevil\nNO' };
    const path = join(makeFolder(), 'receipt.json');
    writeFileSync(path, JSON.stringify({ ...document, receipt }));
    const { run } = makeCommands();
    const { code, stdout } = await run(['receipts', 'check', path, '--rpc', getNode('base')]);
    expect([code, stdout.includes('\u001b'), stdout.includes('\u202e')]).toEqual([1, false, false]);
  });
});

it('is checked by the real command in an empty folder, which stays empty', async () => {
  const folder = makeFolder();
  const document = await getDocument('base');
  const origin = await serve(() => Response.json(document));
  const command = ['--import', join(ROOT, 'scripts/require-node.mjs'), join(ROOT, 'scripts/catalogue.ts')];
  const args = [`${origin}/receipts/${document.receipt.id}`, '--rpc', getNode('base'), '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [...command, 'receipts', 'check', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ENV_FILES: 'off' },
  });
  expect(JSON.parse(stdout).checks.filter(({ passed }: Check) => !passed)).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});
