import './require-node.mjs';
import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, type Network, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { buildUsageFailure } from '../src/cli/failure.ts';
import { getErrorMessage, ServiceError } from '../src/errors.ts';
import { NETWORKS } from '../src/model/network.ts';
import { buildUrl, PATHS } from '../src/views/links.ts';
import type { MatchedRoute } from '../src/views/listing/matched-route.ts';
import { endWithFailure, readArguments } from './entry.ts';

const USAGE = {
  line: "npm run demo:buy -- <catalogue> '<request>'",
  about: `Searches a catalogue, calls the first route with the example on record, has the catalogue check what the seller asks,
pays that, and prints the answer. npm run demo prints this command with the key of a wallet that has funds.

  -h, --help    shows this
  -V, --version shows the version

EVM_PRIVATE_KEY is a wallet on Base, SVM_PRIVATE_KEY one on Solana, with SOLANA_RPC_URL as its node.`,
};

/** Most that a call may cost. */
const CAP = '$0.10';

/** Buys from the market of `npm run demo` as an agent does, with the packages and the hook that the pages show. */
async function run(): Promise<void> {
  const [catalogue, request] = readArguments(USAGE, {}, { allowPositionals: true }).positionals;
  if (!catalogue || !request) throw buildUsageFailure('It needs the address of a catalogue and a request.', USAGE.line);
  const client = await openWallet();
  const search = `${buildUrl(catalogue, PATHS.agentList)}?${new URLSearchParams({ q: request, limit: '1' })}`;
  const { listings } = await (await fetch(search)).json();
  const [found]: { title: string; route?: MatchedRoute }[] = listings;
  if (!found?.route) throw new ServiceError('not_found', 'Nothing was found that can be called.', { hint: search });
  const { method, example, ...route } = found.route;
  const url = example?.query ? `${route.url}?${new URLSearchParams(example.query)}` : route.url;
  const body = example?.body === undefined ? null : JSON.stringify(example.body);
  tell('Found', `${found.title}: ${method} ${url}`);
  client.setSpendControls({ maxAmountPerPayment: CAP });
  client.onBeforePaymentCreation(async ({ paymentRequired, selectedRequirements }) => {
    const { amount, network, payTo } = selectedRequirements;
    tell('Asked', `${amount} millionths of a USDC on ${network} to ${payTo}`);
    const answer = await fetch(buildUrl(catalogue, PATHS.agentCheck), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url, method, challenge: paymentRequired }),
    });
    const { verdict, severity, safe_offers = [], summary, detail } = await answer.json();
    tell('Checked', `${verdict}. ${summary ?? detail}`);
    const isSafe = severity !== 'danger' && safe_offers.includes(paymentRequired.accepts.indexOf(selectedRequirements));
    return isSafe ? undefined : { abort: true, reason: summary ?? detail };
  });
  const headers: HeadersInit = body === null ? {} : { 'Content-Type': 'application/json' };
  const response = await wrapFetchWithPayment(fetch, client)(url, { method, headers, body, redirect: 'error' });
  const receipt = response.headers.get('payment-response') ?? response.headers.get('x-payment-response');
  if (receipt) tell('Paid', `in transaction ${decodePaymentResponseHeader(receipt).transaction}`);
  tell('Answer', `${response.status} ${await response.text()}`);
}

/** Opens the wallet whose key is in the environment. */
async function openWallet(): Promise<x402Client> {
  const { EVM_PRIVATE_KEY, SVM_PRIVATE_KEY, SOLANA_RPC_URL } = process.env;
  if (!EVM_PRIVATE_KEY && !SVM_PRIVATE_KEY)
    throw buildUsageFailure('There is no wallet.', 'Set EVM_PRIVATE_KEY or SVM_PRIVATE_KEY.');
  const client = new x402Client();
  const [base, solana] = [NETWORKS.base.id as Network, NETWORKS.solana.id as Network];
  if (EVM_PRIVATE_KEY) {
    registerExactEvmScheme(client, { signer: privateKeyToAccount(EVM_PRIVATE_KEY as Hex), networks: [base] });
  }
  if (SVM_PRIVATE_KEY) {
    const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(SVM_PRIVATE_KEY));
    client.register(solana, new ExactSvmScheme(signer, SOLANA_RPC_URL ? { rpcUrl: SOLANA_RPC_URL } : {}));
  }
  return client;
}

function tell(step: string, words: string): void {
  process.stdout.write(`${step.padEnd(8)} ${words}\n`);
}

try {
  await run();
  process.exit(0);
} catch (error) {
  // Errors of the payment packages are shown as a sentence: nobody answers, the key is wrong, or the check forbids the payment.
  endWithFailure(error instanceof ServiceError ? error : new ServiceError('unavailable', getErrorMessage(error)));
}
