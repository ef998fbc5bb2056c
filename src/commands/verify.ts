import { z } from 'zod';
import { readPayerConfig } from '../config.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { getListing, writeWith } from './opening.ts';
import { openProgress } from './terminal/progress.ts';
import { renderVerification } from './verify-report.ts';
import { type VerifyResult, verifyRoute, withPayer } from './verify-route.ts';

const input = z.object({
  slug: z.string().min(1),
  route: z.string().min(1, 'a method and a path').optional(),
  input: z.string().min(1, 'a file').optional(),
  pay: z.boolean().default(false),
});
type Input = z.infer<typeof input>;

export const verify: Command = defineCommand({
  summary: 'Show what a real call would cost, and with --pay make it, pay for it, and keep the receipt',
  details:
    'Reads the live 402 and compares it with the record: where amount, payee, asset, network or scheme differ, nothing is ' +
    'paid and the difference goes on record. With --pay the attempt is written down, signed and sent, and what became ' +
    'of it is read from the chain, whatever the seller says; stopped or killed at any moment, the next run finds out. ' +
    'A route that was settled and delivered becomes settlement-verified.\n\n' +
    'The wallet: PAYER_EVM_PRIVATE_KEY or PAYER_EVM_KEY_FILE with EVM_RPC_URL (and EVM_RPC_URL_SECOND), the same with ' +
    'SOLANA. MAX_USDC_PER_CALL and MAX_USDC_PER_DAY bound what is spent; while the file that PAYER_STOP_FILE names ' +
    'exists, nothing is.',
  arguments: [['<slug>', 'the listing']],
  options: [
    ['--route <route>', 'method and path, "POST /v1/x"; not needed where there is one'],
    ['--input <file>', 'the request as JSON {query, headers, body} in place of the route’s example'],
    ['--pay', 'really pay'],
  ],
  examples: [
    ['verify example-prices --route "GET /v1/price/:symbol"', 'what it would pay'],
    ['verify example-prices --pay', 'a real call, paid'],
  ],
  input,
  run: runVerify,
  render: renderVerification,
  isDone: ({ refused, payment }) =>
    refused === null && (payment === null || (payment.state === 'settled' && payment.delivered === true)),
});

async function runVerify(wish: Input, context: CommandContext): Promise<VerifyResult> {
  const { now, signal, stderr } = context;
  const progress = openProgress(stderr, 'Paying', 'payments', () => performance.now());
  return writeWith(context, { create: false }, async (catalogue) => {
    const listing = getListing(catalogue, wish.slug);
    const options = { pay: wish.pay, config: context.getConfig(), payer: readPayerConfig(), now, signal };
    const { route, input } = wish;
    return withPayer(catalogue, { ...options, say: progress.note }, (payer) =>
      verifyRoute(payer, listing, { route, input }),
    );
  });
}
