import { findPaidRoute, findPayment } from '../catalogue/payment-records.ts';
import { findCorrection } from '../catalogue/receipts.ts';
import { ServiceError } from '../errors.ts';
import { buildPart } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { buildAgentReceipt } from '../views/agent-receipt.ts';
import { PATHS } from '../views/links.ts';
import { buildJoinedResponse } from './joined.ts';
import { refuseUnknown } from './parameters.ts';

/** Serves `GET /agent/receipts/{id}`: a settled payment with everything that it takes to check it on the chain. */
export function createAgentReceipt({
  catalogue,
  site,
  getSnapshot,
}: Reading): (request: Request, id: string) => Response {
  return (request, id) => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const { revision } = getSnapshot();
    const payment = findPayment(catalogue, id.toLowerCase());
    const paid = payment && findPaidRoute(catalogue, payment.route_id);
    if (!payment?.settlement || !paid) {
      throw new ServiceError('not_found', 'There is no receipt with this id.', {
        hint: `The routes at ${PATHS.agentListing('{slug}')} name theirs as proof.receipt_id.`,
      });
    }
    const { slug: listing, method, path } = paid;
    const { revision: _now, ...document } = buildAgentReceipt(
      { ...payment, settlement: payment.settlement },
      { listing, route: `${method} ${path}`, revision, site, correction: findCorrection(catalogue, payment.id) },
    );
    return buildJoinedResponse(request, {
      head: `{"revision":${revision}`,
      headKey: payment.id,
      body: buildPart(`,${JSON.stringify(document).slice(1)}`),
      revision,
    });
  };
}
