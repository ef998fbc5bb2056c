import { findLastAttempt, listPayeesSince } from '../catalogue/read/payments.ts';
import { ServiceError } from '../errors.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { type DueProof, openReportedShare, PROOF_METHOD } from '../evidence/verification.ts';
import type { Listing } from '../model/listing.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import { formatRoute, type Route } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';
import { type BuyerReport, tryReadQueue } from '../submissions/queue.ts';
import { openChainReader } from './networks.ts';
import type { ChainReader } from './rail.ts';
import type { Payer } from './verify-route.ts';

/** Most reports that are looked up on a chain in one run, and of one route: anybody can write what is no transaction. */
const MAX_LOOKED_UP = 100;
const MAX_OF_ROUTE = 30;

/** Most failed look-ups of one run: a stranger can name a transaction at which a node fails. */
const MAX_FAILED = 10;

const DAY_MS = 24 * 60 * 60 * 1000;

type Reported = DueProof<Listing>;

/**
 * Lists the routes of which buyers reported a payment that brought nothing, where the chain has that payment: to the payee of
 * the route, of its price at least, later than our last attempt, and a week old at most. Together they cost their share of
 * `budget` at most, in atomic USDC, and no payee is among them that we paid within a week.
 */
export async function listReportedRoutes(
  payer: Payer,
  live: readonly Listing[],
  { budget, getPrice }: { budget: number; getPrice: (route: Route) => number | null },
): Promise<Reported[]> {
  const { catalogue, config, now, say } = payer;
  const since = new Date(now().getTime() - PROOF_METHOD.retried_after_days * DAY_MS).toISOString();
  const reports = tryReadQueue(config.submissionsFile, (queue) => queue.listReports(since), say);
  if (reports.length === 0) return [];
  const share = openReportedShare(budget, await listPayeesSince(catalogue, since));
  const bySlug = new Map(live.map((listing) => [listing.slug, listing]));
  const openReader = keepReaders(payer);
  const looked = new Map<string, number>();
  const reported: Reported[] = [];
  let [lookedUp, failed] = [0, 0];
  for (const report of reports) {
    const listing = bySlug.get(report.slug);
    const route = listing?.routes.find(({ method, path }) => method === report.method && path === report.path);
    const price = route ? getPrice(route) : null;
    const count = looked.get(route?.id ?? '') ?? 0;
    if (!listing || !route?.example || price === null || count >= MAX_OF_ROUTE) continue;
    const offers = getCurrentTerms(route.terms).filter((offer) => isNamedOn(offer.network, report.transaction));
    if (offers.length === 0 || !share.allows(price, offers)) continue;
    if (lookedUp >= MAX_LOOKED_UP) break;
    looked.set(route.id, count + 1);
    lookedUp += 1;
    const last = await findLastAttempt(catalogue, [route.id]);
    const earliest = last !== null && last > since ? last : since;
    try {
      if (!(await isOnChain(report, offers, earliest, openReader))) continue;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      say(`A report of a buyer cannot be looked up: ${error.message}`);
      failed += 1;
      if (failed >= MAX_FAILED) break;
      continue;
    }
    share.take(price, offers);
    say(`A buyer reports, and the chain has it: ${listing.slug}, ${formatRoute(route)}`);
    reported.push({ listing, route });
  }
  return reported;
}

/** Says whether a name of a transaction is one of a network's family. */
function isNamedOn(network: NetworkKey, transaction: string): boolean {
  return (NETWORKS[network].family === 'evm') === transaction.startsWith('0x');
}

function keepReaders({ payer: { rpcUrls } }: Payer): (network: NetworkKey) => Promise<ChainReader> | undefined {
  const readers = new Map<NetworkKey, Promise<ChainReader>>();
  return (network) => {
    const [url] = rpcUrls[network];
    if (url === undefined) return undefined;
    const reader = readers.get(network) ?? openChainReader(network, url);
    readers.set(network, reader);
    return reader;
  };
}

/** Says whether a transaction paid one of the offers after a time. */
async function isOnChain(
  { transaction }: BuyerReport,
  offers: readonly RecordedTerms[],
  earliest: string,
  openReader: (network: NetworkKey) => Promise<ChainReader> | undefined,
): Promise<boolean> {
  for (const { network, pay_to, amount } of offers) {
    const reader = await openReader(network);
    const paid = pay_to === null ? undefined : await reader?.findReceived(transaction, pay_to);
    if (paid && paid.amount >= amount && paid.settled_at > earliest) return true;
  }
  return false;
}
