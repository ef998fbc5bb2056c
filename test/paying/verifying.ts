import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { onTestFinished } from 'vitest';
import type { BaseChain } from '../../scripts/market/chain-base.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import type { DeclaredRoute } from '../../src/model/route.ts';
import type { SourceKind } from '../../src/model/source.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { recordDeclaration } from '../written.ts';
import { deliver, PAY_TO, type Sale, serveSeller } from './paying.ts';

export const SLUG = 'example-prices';

/** Settles, delivers, and says so. */
const sellHonestly: Sale<`0x${string}`> = async ({ response, settle }) => deliver(response, await settle());

/** Delivers and never settles, so that the payment stays open. The signal says that it has been delivered. */
export function sellWithoutSettling(): { sale: Sale<`0x${string}`>; signal: AbortSignal } {
  const delivered = new AbortController();
  const sale: Sale<`0x${string}`> = ({ response }) => {
    response.once('close', () => delivered.abort());
    deliver(response);
  };
  return { sale, signal: delivered.signal };
}

interface PayingOptions {
  sale?: Sale<`0x${string}`>;
  /** What the seller's offer says in place of what is on record. */
  offer?: Record<string, unknown>;
  route?: Partial<DeclaredRoute>;
  /** Who declares the route. */
  kind?: SourceKind;
  /** Members of the seller's challenge besides its offers. */
  challenge?: Record<string, unknown>;
  settings?: Record<string, string>;
}

/** A seller on loopback, listed in a catalogue of its own, a wallet with 1 USDC, and the commands to run with it. */
export async function makePayingCommands(chain: BaseChain, options: PayingOptions = {}) {
  const { sale = sellHonestly, offer = {}, route = {}, settings = {}, kind = 'manifest', challenge = {} } = options;
  const privateKey = generatePrivateKey();
  const payer = privateKeyToAddress(privateKey);
  const commands = makeCommands(
    {
      ALLOW_PRIVATE_NETWORKS: 'on',
      [chain.network.nodeSetting]: chain.rpcUrl,
      PAYER_EVM_PRIVATE_KEY: privateKey,
      ...settings,
    },
    () => new Date(),
  );
  const [url] = await Promise.all([serveSeller(chain, sale, 2, offer, challenge), chain.fund(payer, 1_000_000n)]);
  const catalogue = await openNewCatalogue(commands.file, { identity: IDENTITY, at: new Date().toISOString() });
  onTestFinished(() => catalogue.close());
  await writeCatalogue(catalogue, new Date().toISOString(), async (writing) => {
    const routes = [
      makeRoute({
        path: '/v1/quote',
        terms: [makeTerms({ network: chain.network.key, asset: chain.network.usdc, pay_to: PAY_TO })],
        ...route,
      }),
    ];
    const source = { kind, name: `a source of kind ${kind}`, observed_at: null };
    await recordDeclaration(writing, makeDeclaration({ source, base_url: url, routes }));
  });
  const verify = (...args: string[]) => commands.runJson('verify', SLUG, ...args);
  const getLost = async () => 1_000_000n - (await chain.getBalance(payer));
  return { ...commands, catalogue, privateKey, payer, url, verify, getLost };
}
