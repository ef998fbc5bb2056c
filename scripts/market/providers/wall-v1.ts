import type { MiddlewareHandler } from 'hono';
import { decodeHeader, encodeHeader, settlePayment, verifyPayment } from './facilitation.ts';
import { buildOfferV1, type Payees } from './offers.ts';
import type { ProviderPlan } from './route.ts';

/**
 * Opens the middleware that asks for payment by x402 version 1, which the SDK's no longer supports: terms in the body of the
 * 402, the payment in `X-PAYMENT`, the receipt in `X-PAYMENT-RESPONSE`. It verifies the payment, has the route do its work,
 * settles, and only then sends the product.
 */
export function openWallV1(
  plan: ProviderPlan,
  { facilitatorUrl, payees, feePayer }: { facilitatorUrl: string; payees: Payees; feePayer: string | undefined },
): MiddlewareHandler {
  return async (context, next) => {
    const route = plan.routes.find(({ method, path }) => method === context.req.method && path === context.req.path);
    if (!route) return next();
    const resource = context.req.url;
    const accepts = plan.networks.map((network) => buildOfferV1(route, { network, payees, feePayer, resource }));
    const ask = (error: string) => context.json({ x402Version: 1, error, accepts }, 402);
    const header = context.req.header('x-payment');
    if (!header) return ask('X-PAYMENT header is required');
    const payment = decodeHeader(header);
    const requirement = accepts.find(({ network }) => network === payment?.network);
    if (!payment || !requirement) return ask('Unable to find matching payment requirements');
    const { isValid, invalidReason } = await verifyPayment(facilitatorUrl, { payment, requirement });
    if (!isValid) return ask(invalidReason ?? 'invalid_payment');
    await next();
    if (!context.res.ok) return;
    const settlement = await settlePayment(facilitatorUrl, { payment, requirement });
    if (settlement.success) {
      context.res.headers.set('X-PAYMENT-RESPONSE', encodeHeader(settlement));
      return;
    }
    context.res = undefined;
    context.res = ask(settlement.errorReason ?? 'settlement_failed');
  };
}
