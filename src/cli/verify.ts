import { z } from 'zod';
import { readPayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { PROOF_METHOD } from '../evidence/verification.ts';
import { parseUsdc } from '../model/usdc.ts';
import { withPayer } from '../paying/payer.ts';
import { type DueResult, verifyDue } from '../paying/verify-due.ts';
import { type VerifyResult, verifyRoute } from '../paying/verify-route.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { getListing, withWritableCatalogue } from './open-catalogue.ts';
import { openProgress } from './terminal/progress.ts';
import { renderDue, renderVerification } from './verify-report.ts';

const input = z
  .object({
    slug: z.string().min(1).optional(),
    route: z.string().min(1, 'a method and a path').optional(),
    input: z.string().min(1, 'a file').optional(),
    pay: z.boolean().default(false),
    due: z.boolean().default(false),
    budget: z
      .string()
      .transform((text, context) => {
        const amount = parseUsdc(text);
        if (amount === undefined) context.addIssue('a decimal amount of USDC, such as 0.50');
        return amount ?? 0;
      })
      .optional(),
  })
  .refine(({ slug, due }) => (slug === undefined) === due, 'Name a listing, or add --due for all that are due.')
  .refine(
    ({ due, route, input: file, pay }) => !due || (route === undefined && file === undefined && !pay),
    '--route, --input and --pay go with one listing.',
  )
  .refine(({ due, budget }) => due || budget === undefined, '--budget goes with --due.');
type Input = z.infer<typeof input>;

export const verify: Command = defineCommand({
  summary: 'Show what a real call would cost, and with --pay make it, pay for it, and keep the receipt',
  details:
    'Reads the live 402 and compares it with the record: if amount, payee, asset, network or scheme differ, ' +
    'nothing is paid and the difference is recorded. With --pay the payment is recorded, signed and sent, and its ' +
    'result is read from the chain, whatever the seller says. After a stop or a crash the next run resolves it. A ' +
    'route whose call was settled and delivered becomes settlement-verified.\n\n' +
    'With --due it keeps proofs current: it takes routes with an example request whose proof is missing or older ' +
    `than ${PROOF_METHOD.renewed_after_days} days, those without one first, then one route of each listing before ` +
    'a second one, then the more reliable listings. With --budget it pays for them until that is used up. Up to ' +
    `${100 * PROOF_METHOD.drawn_share} % of the budget first pays for proven routes chosen at random, so that ` +
    'a seller who stops delivering is found before its proof is old. Results are recorded at once, and the next run continues. A seller with a caution of danger is paid again after ' +
    `${PROOF_METHOD.retried_after_days} days at the earliest.\n\n` +
    'The wallet: PAYER_EVM_PRIVATE_KEY or PAYER_EVM_KEY_FILE with EVM_RPC_URL (and EVM_RPC_URL_SECOND), the same ' +
    'with SOLANA. MAX_USDC_PER_CALL and MAX_USDC_PER_DAY limit what is spent; while the file that PAYER_STOP_FILE ' +
    'names exists, nothing is.',
  arguments: [['[slug]', 'the listing']],
  options: [
    ['--route <route>', 'method and path, "POST /v1/x"; not needed if there is only one'],
    ['--input <file>', 'the request as JSON {query, headers, body} instead of the route’s example'],
    ['--pay', 'really pay'],
    ['--due', 'all routes whose proof is missing or old, instead of one listing'],
    ['--budget <usdc>', 'with --due: really pay, for at most this much in this run'],
  ],
  examples: [
    ['verify example-prices --route "GET /v1/price/:symbol"', 'what it would pay'],
    ['verify example-prices --pay', 'a real call, paid'],
    ['verify --due', 'which proofs are missing or old, and what they would cost'],
    ['verify --due --budget 0.50', 'every day from cron: keeps proofs current'],
  ],
  input,
  run: runVerify,
  render: (result, page) => ('ended' in result ? renderDue(result, page) : renderVerification(result, page)),
  isDone: (result) => ('ended' in result ? result.ended === 'done' : isVerified(result)),
});

function isVerified({ refused, payment }: VerifyResult): boolean {
  return refused === null && (payment === null || (payment.state === 'settled' && payment.delivered === true));
}

async function runVerify(given: Input, context: CommandContext): Promise<VerifyResult | DueResult> {
  const { now, signal, stderr } = context;
  const progress = openProgress(stderr, 'Paying', 'payments');
  return withWritableCatalogue(context, { create: false }, async (catalogue) => {
    const { slug, route, input: file, budget } = given;
    const listing = slug === undefined ? undefined : await getListing(catalogue, slug);
    const pay = given.pay || budget !== undefined;
    const options = { pay, config: context.getConfig(), payer: readPayerConfig(), now, signal, say: progress.note };
    return withPayer(catalogue, options, (payer): Promise<VerifyResult | DueResult> => {
      if (listing) return verifyRoute(payer, listing, { route, input: file });
      if (pay && payer.rails.length === 0) throw buildNoWallet();
      return verifyDue(payer, budget ?? null, Math.random);
    });
  });
}

function buildNoWallet(): ServiceError {
  return new ServiceError('refused', 'No wallet is set to pay from.', {
    hint: 'Set PAYER_EVM_PRIVATE_KEY or PAYER_EVM_KEY_FILE with EVM_RPC_URL, or the same with SOLANA.',
    reason: 'no_wallet',
  });
}
