import { randomBytes } from 'node:crypto';
import { getBase58Decoder } from '@solana/kit';
import type { Settlement } from '../../../scripts/market/providers/facilitation.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import type { Cheating, Sale } from './cheating.ts';
import { payAsBystander, submitOnChain } from './relay.ts';

/** Sellers whose terms are honest, and whose delivery, settlement or receipt is not. */
export const DELIVERY_CHEATS = {
  invented_transaction: {
    lie: 'Delivers, settles nothing, and makes a transaction up',
    answerPaid: (sale) => sale.deliver(buildReceipt(sale, inventTransaction(sale))),
  },
  others_transaction: {
    lie: 'Delivers, settles nothing, and shows what somebody else paid it',
    answerPaid: async (sale) => sale.deliver(buildReceipt(sale, await payAsBystander(sale))),
  },
  no_receipt: {
    lie: 'Settles and delivers, without a receipt',
    async answerPaid(sale) {
      await sale.settle();
      return sale.deliver();
    },
  },
  settles_then_fails: {
    lie: 'Settles, then answers 500',
    async answerPaid(sale) {
      await sale.settle();
      return Response.json({ error: 'internal error' }, { status: 500 });
    },
  },
  settles_then_hangs: {
    lie: 'Settles, then never answers',
    async answerPaid({ settle, closed }) {
      await settle();
      await closed;
      return new Response(null, { status: 504 });
    },
  },
  settles_then_asks_again: {
    lie: 'Settles, then asks for the money once more',
    async answerPaid(sale) {
      await sale.settle();
      return sale.askAgain();
    },
  },
  no_settlement: {
    lie: 'Delivers without settling',
    answerPaid: (sale) => sale.deliver(),
  },
  settles_twice: {
    lie: 'Settles, and tries to settle the same payment again',
    async answerPaid(sale) {
      const first = await sale.settle();
      await sale.settle();
      sale.seller.settlements.push(await submitOnChain(sale));
      return sale.deliver(first);
    },
  },
  settles_late: {
    lie: 'Delivers at once, and settles when it likes',
    answerPaid(sale) {
      sale.seller.kept.push(async () => {
        const settlement = await submitOnChain(sale);
        sale.seller.settlements.push(settlement);
        return settlement;
      });
      return sale.deliver();
    },
  },
  empty_answer: {
    lie: 'Settles, and answers 200 with nothing',
    answerPaid: async (sale) => {
      const { headers } = sale.deliver(await sale.settle());
      headers.delete('content-length');
      return new Response(null, { status: 200, headers });
    },
  },
  other_answer: {
    lie: 'Settles, and answers with JSON of another shape than it declares',
    answerPaid: async (sale) => replaceBody(sale.deliver(await sale.settle()), '{"characters":"many"}'),
  },
  error_answer: {
    lie: 'Settles, and answers 200 with an error',
    answerPaid: async (sale) => replaceBody(sale.deliver(await sale.settle()), '{"error":"try again later"}'),
  },
  hollow_answer: {
    lie: 'Settles, and answers with an empty object',
    answerPaid: async (sale) => replaceBody(sale.deliver(await sale.settle()), '{}'),
  },
  opposite_answer: {
    lie: 'Settles, and answers with the opposite of its schema',
    answerPaid: async (sale) => replaceBody(sale.deliver(await sale.settle()), '[["characters"]]'),
  },
  disguised_page: {
    lie: 'Settles, and answers with a page that it calls JSON',
    answerPaid: async (sale) => replaceBody(sale.deliver(await sale.settle()), '<!doctype html><title>Soon</title>'),
  },
  page_answer: {
    lie: 'Settles, and answers with a page instead of JSON',
    answerPaid: async (sale) =>
      replaceBody(sale.deliver(await sale.settle()), '<!doctype html><title>Soon</title>', 'text/html'),
  },
} as const satisfies Record<string, Cheating>;

function replaceBody({ headers }: Response, body: string, type = 'application/json'): Response {
  headers.set('content-type', type);
  return new Response(body, { headers });
}

function buildReceipt({ options, payment }: Sale, transaction: string): Settlement {
  const network = options.version === 1 ? options.network : NETWORKS[options.network].id;
  const { authorization } = payment.payload as { authorization?: { from: string } };
  return { success: true, transaction, network, ...(authorization ? { payer: authorization.from } : {}) };
}

function inventTransaction({ options }: Sale): string {
  return options.network === 'base'
    ? `0x${randomBytes(32).toString('hex')}`
    : getBase58Decoder().decode(randomBytes(64));
}
