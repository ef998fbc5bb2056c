import { generatePrivateKey } from 'viem/accounts';
import { expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import { makeTerms } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { openPayingWith, PAY_TO, serveTool, type ToolSale } from './paying.ts';

const { base: chain } = await getMarket();

const TERMS = makeTerms({ pay_to: PAY_TO });
const DEEP = 100_000;

/** A wallet with 1 USDC, and the paid tool of a seller. */
async function openTool(sale: ToolSale) {
  const rail = openEvmRail(NETWORKS.base, { privateKey: generatePrivateKey(), rpcUrls: [chain.rpcUrl] });
  await chain.fund(rail.payer, 1_000_000n);
  const paying = await openPayingWith(rail, await serveTool(chain, sale), TERMS, { path: '/mcp#quote' });
  return { ...paying, getLost: async () => 1_000_000n - (await chain.getBalance(rail.payer)) };
}

/** Settles, and answers with these bytes. */
const say = (body: string, type = 'application/json'): ToolSale => ({
  sell: async (settle) => {
    await settle();
    return new Response(body, { headers: { 'content-type': type } });
  },
});

/** Settles, and answers with a message. */
const answer = (message: object, type?: string): ToolSale => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
  return say(type === undefined ? body : `event: message\ndata: ${body}\n\n`, type);
};

const quote = { result: { content: [{ type: 'text', text: '{"quote":42}' }] } };
const text = (value: string) => [{ type: 'text', text: value }];
const nest = (before: string, after: string) => `${before.repeat(DEEP)}1${after.repeat(DEEP)}`;

const DELIVERED = { delivered: true, conforming: 'yes' };
const ERROR = { delivered: false, unrecognised: 'error_in_body', answer: { status: 200 } };
const NOTHING = { delivered: false, unrecognised: null, answer: { status: 200, size: 0 } };

it.each<[string, ToolSale, object]>([
  ['a product', answer(quote), DELIVERED],
  ['a product in a stream', answer(quote, 'text/event-stream'), DELIVERED],
  ['a product in a stream that is spelled otherwise', answer(quote, 'Text/Event-Stream; charset=utf-8'), DELIVERED],
  ['an error without a word', answer({ result: { isError: true, content: [] } }), ERROR],
  ['an error that says ok', answer({ result: { isError: true, content: text('ok') } }), ERROR],
  ['an empty error', answer({ error: {} }), ERROR],
  ['a stream without an answer', say(': wait\n\n', 'text/event-stream'), NOTHING],
  ['JSON that is no message', say('{"quote":42}'), NOTHING],
  ['a result that nests without end', say(`{"result":{"structuredContent":${nest('{"a":', '}')}}}`), NOTHING],
  ['an error that nests without end', say(`{"error":${nest('{"a":', '}')}}`), NOTHING],
  [
    'a challenge that nests without end',
    answer({ result: { isError: true, content: text(`{"x402Version":2,"accepts":[${nest('[', ']')}]}`) } }),
    ERROR,
  ],
  [
    'a challenge within challenges without end',
    answer({ result: { isError: true, content: text(nest('{"x402/error":{"data":', '}}')) } }),
    ERROR,
  ],
])('%s of a paid tool is taken for what it is', async (_name, sale, expected) => {
  const { pay, getLost, getRoute } = await openTool(sale);
  const payment = await pay();
  expect(payment).toMatchObject({ state: 'settled', ...expected });
  expect(await getLost()).toBe(1000n);
  expect((await getRoute()).undelivered === null).toBe(payment.delivered);
});

it.each([
  ['another status', new Response('{"quote":42}', { status: 503 })],
  ['something that is no message', Response.json({ quote: 42 })],
  ['a request for payment', Response.json({ x402Version: 2, accepts: [] }, { status: 402 })],
])('a tool whose server opens the second session with %s gets no payment', async (_name, refusal) => {
  const { pay, getLost, rail, ledger } = await openTool({
    sell: async () => new Response(null, { status: 500 }),
    open: (count) => (count === 1 ? undefined : refusal),
  });
  expect(await pay()).toMatchObject({ state: 'not_settled', reason: 'not_sent_malformed', answer: null });
  expect([await getLost(), await ledger.listOpen(rail.payer)]).toEqual([0n, []]);
});
