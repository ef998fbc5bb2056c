import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Validator } from '@cfworker/json-schema';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import * as evm from '@x402/evm/exact/client';
import ts from 'typescript';
import * as accounts from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { getProvider, type Market, startMarket } from '../../scripts/market/market.ts';
import type { PayableRoute } from '../../scripts/market/providers/route.ts';
import { isLive } from '../../src/model/listing.ts';
import { findListing } from '../../src/published/listings.ts';
import { buildRouteCall, type CallGuide } from '../../src/views/call/guide.ts';
import { makeCommands } from '../cli/running.ts';
import { openTestReading } from '../reading.ts';
import { runPython } from '../views/python.ts';

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
  market = await startMarket({ solana: false });
  buyer = await openBuyer({ base: market.base, solana: undefined });
});
afterAll(() => market.stop());

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
  const reading = openTestReading({ address: commands.file });
  sold = market.providers.flatMap(({ url, plan }) => {
    const listing = findListing(reading.published, { base_url: url });
    if (!listing || !isLive(listing)) throw new Error(`${plan.key} is not listed`);
    return listing.routes.map((route) => {
      const own = plan.routes.find(({ method, path }) => method === route.method && path === route.path);
      if (!own) throw new Error(`${plan.key} does not sell ${route.path}`);
      return { call: buildRouteCall(listing, route), route: own, keepsMoney: plan.settlesFirst === true };
    });
  });
  reading.close();
  return sold;
}

/** Sends a request and pays what is asked, as `@x402/fetch` does around the same client. */
function wrapFetchWithPayment(send: typeof fetch, client: x402Client): typeof fetch {
  const http = new x402HTTPClient(client);
  return async (input, init) => {
    const asked = await send(input, init);
    if (asked.status !== 402) return asked;
    const text = await asked.text();
    const body: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    const required = http.getPaymentRequiredResponse((name) => asked.headers.get(name), body);
    const headers = new Headers(init?.headers);
    const payment = http.encodePaymentSignatureHeader(await http.createPaymentPayload(required));
    for (const [name, value] of Object.entries(payment)) headers.set(name, value);
    return send(input, { ...init, headers });
  };
}

const MODULES: Record<string, unknown> = {
  '@x402/fetch': { x402Client, wrapFetchWithPayment },
  '@x402/evm/exact/client': evm,
  'viem/accounts': accounts,
};

/** What compiles code that waits at its top. */
const AsyncFunction = Object.getPrototypeOf(listSold).constructor as FunctionConstructor;

/** Runs a module as a reader would, and gives what it prints. */
async function runTypescript(code: string): Promise<unknown[]> {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(code, { compilerOptions });
  const printed: unknown[] = [];
  const names = ['require', 'exports', 'process', 'console'];
  await new AsyncFunction(...names, outputText)(
    (name: string) => MODULES[name],
    {},
    { env: { EVM_PRIVATE_KEY: buyer.evmPrivateKey } },
    { log: (...words: unknown[]) => printed.push(...words) },
  );
  return printed;
}

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

  it('asks for the product in Python, which pays no more than its price', async () => {
    const client = new x402Client();
    evm.registerExactEvmScheme(client, { signer: buyer.evm, networks: ['eip155:8453'] });
    const send = wrapFetchWithPayment(fetch, client);
    for (const one of await listSold()) {
      // The package itself is not at hand: the SDK for TypeScript sends what the script asks it to.
      const said = runPython(one.call.paying?.python ?? '');
      if (!said) return;
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
