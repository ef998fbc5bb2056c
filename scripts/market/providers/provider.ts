import { generateKeyPairSigner } from '@solana/kit';
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { isEvm } from '../../../src/model/network.ts';
import type { SolanaChain } from '../chain-solana.ts';
import type { Facilitator } from '../facilitator.ts';
import { openServer, type Serving } from '../loopback.ts';
import { buildDocument, type Payees } from './offers.ts';
import type { PayableRoute, ProviderPlan } from './route.ts';
import { openWallV1 } from './wall-v1.ts';
import { openWallV2 } from './wall-v2.ts';

/** A seller on loopback. */
export interface Provider extends Serving {
  readonly plan: ProviderPlan;
  readonly payees: Payees;
  /** Address of its OpenAPI document. */
  readonly documentUrl: string;
}

/** Opens a provider on a port of its own. It offers Solana only if that chain is given. */
export async function openProvider(
  whole: ProviderPlan,
  { facilitator, solana }: { facilitator: Facilitator; solana: SolanaChain | undefined },
): Promise<Provider> {
  const networks = whole.networks.filter((network) => isEvm(network) || solana);
  const plan = { ...whole, networks };
  const payees = await openPayees(solana);
  const terms = { facilitatorUrl: facilitator.url, payees, feePayer: facilitator.solanaFeePayer };
  const app = new Hono();
  // Pages of others may ask for the terms, pay and read the receipt, in both versions of x402.
  app.use(cors({ origin: '*', exposeHeaders: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'] }));
  app.onError((_error, context) => context.json({ error: 'internal error' }, 500));
  app.notFound((context) => context.json({ error: 'not found' }, 404));
  app.get('/openapi.json', (context) => context.json(buildDocument(plan, new URL(context.req.url).origin, payees)));
  if (plan.checksInputFirst) {
    for (const route of plan.routes) {
      app.on(route.method, route.path, async (context, next) => {
        const outcome = route.answer(await readInput(context, route));
        return 'problem' in outcome ? context.json({ error: outcome.problem }, 400) : next();
      });
    }
  }
  app.use(plan.version === 1 ? openWallV1(plan, terms) : await openWallV2(plan, terms));
  for (const route of plan.routes) {
    app.on(route.method, route.path, async (context) => {
      const outcome = route.answer(await readInput(context, route));
      return 'problem' in outcome ? context.json({ error: outcome.problem }, 400) : context.json(outcome.product);
    });
  }
  const server = await openServer((request) => app.fetch(request));
  return { ...server, plan, payees, documentUrl: `${server.url}/openapi.json` };
}

/** Makes an account on each chain. On Solana, an account must exist before it can receive USDC. */
export async function openPayees(solana: SolanaChain | undefined): Promise<Payees> {
  const { address } = await generateKeyPairSigner();
  await solana?.fund(address, 0n);
  return { base: privateKeyToAddress(generatePrivateKey()), solana: address };
}

/** Reads the query or the JSON body of a request. A body that is not JSON counts as empty. */
async function readInput({ req }: Context, { method }: PayableRoute): Promise<unknown> {
  if (method === 'GET') return req.query();
  try {
    return await req.json();
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
