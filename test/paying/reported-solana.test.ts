import { join } from 'node:path';
import {
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  generateKeyPairSigner,
  getBase58Decoder,
  type KeyPairSigner,
} from '@solana/kit';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type SolanaChain, startSolanaChain } from '../../scripts/market/chain-solana.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openQueue } from '../../src/submissions/queue.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { signTransfer } from '../market/transfers.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { declareListings } from '../written.ts';
import { deliver } from './paying.ts';
import { serveSolanaSeller } from './solana-seller.ts';
import { SLUG } from './verifying.ts';

let chain: SolanaChain;
beforeAll(async () => {
  chain = await startSolanaChain();
});
afterAll(() => chain.stop());

/** Commands on a route that asks 1000 atomic USDC, a way to report a transaction of it, and to transfer USDC. */
async function makeReported() {
  const seller = await serveSolanaSeller(chain, async ({ response, settle }) => deliver(response, await settle()));
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const commands = makeCommands(
    {
      ALLOW_PRIVATE_NETWORKS: 'on',
      [NETWORKS.solana.nodeSetting]: chain.rpcUrl,
      PAYER_SOLANA_PRIVATE_KEY: getBase58Decoder().decode(bytes),
    },
    () => new Date(),
  );
  const [wallet, buyer, other] = await Promise.all([
    createKeyPairSignerFromPrivateKeyBytes(bytes),
    generateKeyPairSigner(),
    generateKeyPairSigner(),
  ]);
  for (const { address } of [wallet, buyer, seller.signers.payee]) await chain.fund(address, 1_000_000n);
  await chain.fund(other.address, 0n);
  const catalogue = await openNewCatalogue(commands.file, { identity: IDENTITY, at: new Date().toISOString() });
  onTestFinished(() => catalogue.close());
  const terms = [makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: seller.payee })];
  const routes = [makeRoute({ path: '/v1/quote', example: { query: { of: 'gold' } }, terms })];
  await declareListings(catalogue, [makeDeclaration({ base_url: seller.url, routes })], new Date().toISOString());
  const report = (transaction: string) => {
    const queue = openQueue(join(commands.folder, 'submissions.sqlite'));
    const of = { transaction, slug: SLUG, method: 'GET', path: '/v1/quote' } as const;
    queue.report(of, { client: 'one', at: new Date().toISOString() });
    queue.close();
  };
  const rpc = createSolanaRpc(chain.rpcUrl);
  const transfer = async (payer: KeyPairSigner, payee: KeyPairSigner, amount: bigint) => {
    const signed = { payer, payee: payee.address, feePayer: seller.signers.feePayer, amount };
    return rpc.sendTransaction(await signTransfer(rpc, signed), { encoding: 'base64' }).send();
  };
  return { ...commands, report, transfer, payee: seller.signers.payee, buyer, other };
}
type Reported = Awaited<ReturnType<typeof makeReported>>;

it.each<[string, number, (made: Reported) => Promise<string> | string]>([
  ['what the payee got', 1, ({ transfer, buyer, payee }) => transfer(buyer, payee, 1000n)],
  ['what another payee got', 0, ({ transfer, buyer, other }) => transfer(buyer, other, 1000n)],
  ['less than the price', 0, ({ transfer, buyer, payee }) => transfer(buyer, payee, 999n)],
  ['a transaction that is not there', 0, () => '5'.repeat(87)],
  ['what the payee transferred to itself', 0, ({ transfer, payee }) => transfer(payee, payee, 1000n)],
])('of reports on Solana, verify --due of %s takes %i', async (_what, reported, transact) => {
  const made = await makeReported();
  made.report(await transact(made));
  const { json } = await made.runJson('verify', '--due', '--budget', '0.004');
  expect(json).toMatchObject({ reported, spent: 1000, routes: [{ reported: reported > 0, outcome: 'verified' }] });
});
