import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Validator } from '@cfworker/json-schema';
import * as mcpClient from '@modelcontextprotocol/sdk/client/index.js';
import * as mcpTransport from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as kit from '@solana/kit';
import * as core from '@x402/core/client';
import * as evm from '@x402/evm/exact/client';
import * as upto from '@x402/evm/upto/client';
import * as paidFetch from '@x402/fetch';
import * as svm from '@x402/svm/exact/client';
import * as svmV1 from '@x402/svm/exact/v1/client';
import * as accounts from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { allowPermit2 } from '../../scripts/market/chain-base.ts';
import { getProvider, type Market, startMarket } from '../../scripts/market/market.ts';
import type { PayableRoute } from '../../scripts/market/providers/route.ts';
import { getCanonicalBaseUrl } from '../../src/model/listing.ts';
import { findListing, listListingsAt } from '../../src/published/listings.ts';
import type { Reading } from '../../src/published/reading.ts';
import { buildRouteCall, type CallGuide } from '../../src/views/call/guide.ts';
import type { PublicListing } from '../../src/views/listing/record.ts';
import { makeCommands } from '../cli/running.ts';
import { openTestReading } from '../reading.ts';
import { skipWithout } from '../skipped.ts';
import { runPython } from '../views/python.ts';
import { runPrinted } from './printed-code.ts';

interface Sold {
  readonly call: CallGuide;
  readonly route: PayableRoute;
  /** It settles before it works, and then fails. */
  readonly keepsMoney: boolean;
}

let market: Market;
let buyer: Buyer;
let sold: readonly Sold[] | undefined;

beforeAll(async () => {
  market = await startMarket({ tools: true });
  buyer = await openBuyer(market);
});
afterAll(() => market.stop());

/** Finds the listing at a base address. */
function findAt({ published }: Pick<Reading, 'published'>, url: string): PublicListing | undefined {
  const [at] = listListingsAt(published, [getCanonicalBaseUrl(url)]);
  return at && findListing(published, at.slug);
}

/** Lists what is sold, with the calls that the catalogue makes of the feed; made by the first test that asks. */
async function listSold(): Promise<readonly Sold[]> {
  if (sold) return sold;
  const commands = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' }, () => new Date());
  for (const args of [
    ['--bazaar', market.feedUrl],
    // The feed does not describe the input of this one; its own document does.
    ['--openapi', getProvider(market, 'check-digits').documentUrl],
  ]) {
    expect((await commands.run(['import', ...args])).code).toBe(0);
  }
  const reading = await openTestReading({ address: commands.file });
  sold = market.providers.flatMap(({ url, plan }) => {
    const listing = findAt(reading, url);
    if (!listing) throw new Error(`${plan.key} is not listed`);
    return listing.routes.map((route) => {
      const own = plan.routes.find(({ method, path }) => method === route.method && path === route.path);
      if (!own) throw new Error(`${plan.key} does not sell ${route.path}`);
      return { call: buildRouteCall(listing, route), route: own, keepsMoney: plan.settlesFirst === true };
    });
  });
  reading.close();
  return sold;
}

/** What each tool of the market gives for its example, and what it takes for that. */
const TOOLS: Readonly<Record<string, { product: object; taken: bigint }>> = {
  count_letters: { product: { letters: { b: 1, a: 3, n: 2 } }, taken: 1_000n },
  reverse_text: { product: { text: 'desserts' }, taken: 2_000n },
  shout_text: { product: { text: 'MIND THE GAP' }, taken: 120n },
};

/** Lists the calls of the tools that are sold. */
async function listTools() {
  const commands = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' }, () => new Date());
  expect((await commands.run(['import', '--bazaar', market.feedUrl])).code).toBe(0);
  const reading = await openTestReading({ address: commands.file });
  const listing = findAt(reading, new URL(market.toolDesk?.endpoint ?? '').origin);
  reading.close();
  if (!listing) throw new Error('the tools are not listed');
  return listing.routes.map((route) => {
    const [, name = ''] = route.path.split('#');
    return { call: buildRouteCall(listing, route), ...(TOOLS[name] as (typeof TOOLS)[string]) };
  });
}

/** The packages that printed code names. What is signed for Solana asks the node of the market, which it cannot know. */
const listModules = (): Record<string, unknown> => ({
  '@modelcontextprotocol/sdk/client/index.js': mcpClient,
  '@modelcontextprotocol/sdk/client/streamableHttp.js': mcpTransport,
  '@solana/kit': kit,
  '@x402/core/client': core,
  '@x402/evm/exact/client': evm,
  '@x402/evm/upto/client': upto,
  '@x402/fetch': paidFetch,
  '@x402/svm/exact/client': {
    ...svm,
    registerExactSvmScheme: (client: core.x402Client, { signer, networks = [] }: svm.SvmClientConfig) => {
      const rpcUrl = market.solana?.rpcUrl ?? '';
      for (const network of networks) client.register(network, new svm.ExactSvmScheme(signer, { rpcUrl }));
      client.registerV1('solana', new svmV1.ExactSvmSchemeV1(signer, { rpcUrl }));
    },
  },
  'viem/accounts': accounts,
});

const runTypescript = (code: string) =>
  runPrinted(code, listModules(), { EVM_PRIVATE_KEY: buyer.evmPrivateKey, SVM_PRIVATE_KEY: buyer.solanaPrivateKey });

function checkProduct({ route, keepsMoney }: Sold, [status, text]: unknown[]): void {
  expect([route.path, status]).toEqual([route.path, keepsMoney ? 500 : 200]);
  if (keepsMoney) return;
  expect(new Validator(route.outputSchema).validate(JSON.parse(String(text))).errors).toEqual([]);
}

const getBalance = () => market.base.getBalance(buyer.evm.address);

describe('the call of every route of the market', () => {
  it('has nothing to be filled in, and is paid for', async () => {
    const all = await listSold();
    expect(all.length).toBeGreaterThan(8);
    for (const { call } of all) expect([call.route, call.replace, call.lack]).toEqual([call.route, [], null]);
  });

  it('asks free of charge for the terms, in curl', async () => {
    const before = await getBalance();
    for (const { call } of await listSold()) {
      // The sellers are in this process, which must not wait for it.
      const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${call.curl} --silent`]);
      expect([call.route, stdout.split('\r\n')[0]]).toEqual([call.route, 'HTTP/1.1 402 Payment Required']);
    }
    expect(await getBalance()).toBe(before);
  });

  it('pays its price and has the product, in TypeScript', async () => {
    for (const one of await listSold()) {
      const before = await getBalance();
      checkProduct(one, await runTypescript(one.call.paying?.typescript ?? ''));
      expect([one.call.route, before - (await getBalance())]).toEqual([one.call.route, BigInt(one.route.price)]);
    }
  });

  it('pays its price on Solana where the route takes it, in TypeScript', async () => {
    const taking = (await listSold()).filter(({ call }) => call.elsewhere.length > 0);
    expect(taking.length).toBeGreaterThan(2);
    const getSolana = async () => await market.solana?.getBalance(buyer.solana.address);
    for (const one of taking) {
      expect(one.call.elsewhere).toMatchObject([{ network: 'Solana' }]);
      const before = (await getSolana()) ?? 0n;
      checkProduct(one, await runTypescript(one.call.elsewhere[0]?.typescript ?? ''));
      expect([one.call.route, before - ((await getSolana()) ?? 0n)]).toEqual([one.call.route, BigInt(one.route.price)]);
    }
  });

  it('pays the tools of an MCP server, at their price or below their ceiling, in TypeScript', async () => {
    await allowPermit2(market.base, buyer.evm);
    const tools = await listTools();
    expect(tools.map(({ call }) => call.route).toSorted()).toEqual([
      'POST /mcp#count_letters',
      'POST /mcp#reverse_text',
      'POST /mcp#shout_text',
    ]);
    for (const { call, taken, product } of tools) {
      const before = await getBalance();
      const [result] = await runTypescript(call.paying?.typescript ?? '');
      expect([call.route, result]).toMatchObject([call.route, { structuredContent: product }]);
      expect([call.route, before - (await getBalance())]).toEqual([call.route, taken]);
    }
  });

  it('asks for the product in Python, which pays no more than its price', async (context) => {
    skipWithout('python', context);
    const client = new core.x402Client();
    evm.registerExactEvmScheme(client, { signer: buyer.evm, networks: ['eip155:8453'] });
    const send = paidFetch.wrapFetchWithPayment(fetch, client);
    for (const one of await listSold()) {
      // The package itself is not at hand: the SDK for TypeScript sends what the script asks it to.
      const said = await runPython(one.call.paying?.python ?? '');
      const { method, url, options, cap } = said;
      const { headers = {}, data } = options;
      const response = await send(url, { method, headers, ...(data !== undefined && { body: data }) });
      checkProduct(one, [response.status, await response.text()]);
      expect([one.call.route, cap]).toEqual([one.call.route, one.route.price]);
    }
  });
});

it('refuses to pay more than the price on record, in TypeScript', async () => {
  const [one] = await listSold();
  const code = one?.call.paying?.typescript.replace(
    /maxAmountPerPayment: '\$[\d.]+'/,
    "maxAmountPerPayment: '$0.000001'",
  );
  const before = await getBalance();
  await expect(runTypescript(code ?? '')).rejects.toThrow();
  expect(await getBalance()).toBe(before);
});
