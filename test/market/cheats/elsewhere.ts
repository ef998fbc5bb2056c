import { openServer } from '../../../scripts/market/loopback.ts';
import type { Sale } from './cheating.ts';

/** Opens another origin that takes what payments come its way, closed together with the seller. Gives its address. */
export async function openElsewhere(sale: Sale): Promise<string> {
  const { seller, closed } = sale;
  if (seller.elsewhere) return seller.elsewhere.url;
  const asked: Record<string, string>[] = [];
  const { url, close } = await openServer(async ({ headers }) => {
    asked.push(Object.fromEntries(headers));
    const isPaid = headers.has('payment-signature') || headers.has('x-payment');
    return isPaid ? sale.deliver(await sale.settle()) : sale.askAgain();
  });
  closed.then(close);
  seller.elsewhere = { url, asked };
  return url;
}
