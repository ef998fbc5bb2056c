import type { Catalogue } from '../../../src/catalogue/database.ts';
import { findListing } from '../../../src/catalogue/read/listings.ts';
import { findNextDue } from '../../../src/catalogue/read/probe-plan.ts';
import { writeCatalogue } from '../../../src/catalogue/transaction.ts';
import { delistListing } from '../../../src/catalogue/write/decisions.ts';
import { recordReceipt } from '../../../src/catalogue/write/receipts.ts';
import { readConfig } from '../../../src/config.ts';
import { getRouteId } from '../../../src/model/ids.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import type { ProbeOutcome } from '../../../src/model/probe.ts';
import { runProbing } from '../../../src/probing/run.ts';
import { recordDeclaration } from '../../written.ts';
import { type Answer, getTrueOutcome } from './answers.ts';
import { buildDeclaration, getPayee, type Market, type Seller, START } from './market.ts';
import type { Deed } from './sellers.ts';

const HOUR = 3_600_000;

/** One sample as it was recorded. */
export interface Logged {
  at: string;
  route_id: string;
  round: number;
  outcome: ProbeOutcome;
}

/** The results of a simulation besides the catalogue. */
export interface Simulated {
  /** Every sample ever taken, by listing. */
  log: Map<string, Logged[]>;
  runs: number;
  probed: number;
  /** Samples whose outcome did not match the seller. */
  wrong: string[];
}

/**
 * Simulates a number of days with the real schedule, recording and publishing: a run whenever something is due, with a
 * minimum interval. Only the network is simulated.
 */
export async function simulate(
  catalogue: Catalogue,
  market: Market,
  days: number,
  random: () => number,
): Promise<Simulated> {
  const end = days * 24;
  const deeds = listDeeds(market.sellers);
  const simulated: Simulated = { log: new Map(), runs: 0, probed: 0, wrong: [] };
  const byListing = new Map<string, Seller>();
  let lastSample = 0;
  market.setHours(0);
  for (let hours = 0; hours < end; ) {
    market.setHours(hours);
    while (deeds[0] && deeds[0].at <= hours) await doDeed(catalogue, market, deeds.shift() ?? deeds[0], byListing);
    const report = await runProbing(
      catalogue,
      { kind: 'due' },
      {
        config: readConfig({}),
        ...{ now: market.now, random, signal: new AbortController().signal, openClient: market.openClient },
        ...{ atOnce: 4, pauseMs: 0, timeoutMs: 5_000, onProgress: () => undefined },
      },
    );
    simulated.runs += 1;
    simulated.probed += report.routes.probed;
    lastSample = collect(catalogue, market, { after: lastSample, byListing, simulated });
    const due = await findNextDue(catalogue, market.now().toISOString());
    const next = due === undefined ? end : (Date.parse(due) - START) / HOUR;
    hours = Math.max(hours + 1, Math.min(next, deeds[0]?.at ?? end));
  }
  return simulated;
}

type SellersDeed = Deed & { seller: Seller };

/** By default a seller is declared at the beginning. */
function listDeeds(sellers: readonly Seller[]): SellersDeed[] {
  return sellers
    .flatMap((seller) => {
      const deeds = seller.deeds ?? [];
      const isLate = deeds.some(({ deed }) => deed === 'declare');
      const all: Deed[] = isLate ? deeds : [{ at: 0, deed: 'declare' }, ...deeds];
      return all.map((deed) => ({ ...deed, seller }));
    })
    .toSorted((a, b) => a.at - b.at);
}

async function doDeed(
  catalogue: Catalogue,
  market: Market,
  { deed, seller }: SellersDeed,
  byListing: Map<string, Seller>,
) {
  const at = market.now().toISOString();
  const { slug } = seller;
  await writeCatalogue(catalogue, at, async (writing) => {
    if (deed === 'declare') {
      const { identity } = await recordDeclaration(writing, buildDeclaration(seller, at));
      byListing.set(identity.id, seller);
    } else if (deed === 'verify') {
      const listing = await findListing(writing.catalogue, { slug });
      if (!listing) throw new Error(`no listing ${slug}`);
      const answer = market.getAnswer(seller);
      await recordReceipt(writing, buildReceipt(listing.id, seller, answer, at));
    } else await delistListing(writing, slug, { by: 'operator', reason: 'as wished' });
  });
}

function buildReceipt(listingId: string, seller: Seller, answer: Answer, at: string) {
  if (answer.kind !== 'ask') throw new Error(`${seller.slug} cannot be paid`);
  return {
    ...{ id: getRouteId(listingId, 'PAID', seller.paths[0] ?? ''), settled: true, delivered: true },
    ...{ route_id: getRouteId(listingId, 'GET', seller.paths[0] ?? ''), conforming: 'undeclared' as const },
    ...{ network: 'base' as const, asset: NETWORKS.base.usdc, amount: answer.price, settled_at: at },
    ...{ unrecognised: null, correction: null },
    payer: getPayee('base', 77),
    pay_to: getPayee('base', answer.payee === 'rotating' ? 999 : answer.payee),
    transaction: `0x${String(seller.index).padStart(64, 'a')}`,
    genesis: `0x${'b'.repeat(64)}`,
    request: null,
  };
}

/** Reads new samples, and compares each with the state of its seller at that time. */
function collect(
  catalogue: Catalogue,
  market: Market,
  { after, byListing, simulated }: { after: number; byListing: Map<string, Seller>; simulated: Simulated },
): number {
  const rows = catalogue.engine.sqlite
    .prepare<[number], Logged & { id: number; listing_id: string; cause: string | null }>(
      'SELECT id, listing_id, route_id, round, at, outcome, cause FROM samples WHERE id > ? ORDER BY id',
    )
    .all(after);
  for (const { id: _id, listing_id, cause, ...sample } of rows) {
    const seller = byListing.get(listing_id);
    const log = simulated.log.get(listing_id) ?? [];
    log.push(sample);
    simulated.log.set(listing_id, log);
    const fault = seller ? findFault(market, seller, { ...sample, cause }) : 'of nobody';
    if (fault) simulated.wrong.push(`${sample.at} ${seller?.slug}: ${sample.outcome} (${cause}), ${fault}`);
  }
  return rows.at(-1)?.id ?? after;
}

function findFault(market: Market, seller: Seller, sample: Logged & { cause: string | null }): string | undefined {
  const hours = (Date.parse(sample.at) - START) / HOUR;
  const { outage } = market;
  if (seller.robots) return sample.cause === 'robots_disallowed' ? undefined : 'and not asked';
  // A request may begin before the outage and end in it, or it may be the second one of its probe.
  const isNear = [outage.from, outage.to].some((edge) => Math.abs(edge - hours) < 0.1);
  if (isNear || seller.timeline.some(({ from }) => Math.abs(from - hours) < 0.1)) return undefined;
  if (hours >= outage.from && hours < outage.to) {
    return ['name_not_resolved', 'internal'].includes(sample.outcome) ? undefined : 'without a network';
  }
  const answer = seller.timeline.findLast(({ from }) => from <= hours)?.answer;
  const truth = answer ? getTrueOutcome(answer) : 'internal';
  const seen = sample.outcome === 'payable_with_changed_terms' ? 'payable' : sample.outcome;
  // A decoy path is requested once a day, and again as long as it answers 402.
  const since = hours - (seller.timeline.findLast(({ from }) => from <= hours)?.from ?? 0);
  if (truth === 'wildcard_402' && seen === 'payable' && since < 25) return undefined;
  return seen === truth ? undefined : `and it was ${truth}`;
}
