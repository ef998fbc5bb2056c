import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { findListing, listListings } from '../../src/catalogue/read/listings.ts';
import { listProbeHosts, listProbeTasks } from '../../src/catalogue/read/probe-plan.ts';
import { findFailingSince } from '../../src/catalogue/read/samples.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { recordReceipt } from '../../src/catalogue/write/receipts.ts';
import { recordSample } from '../../src/catalogue/write/samples.ts';
import { getNextProbeAt } from '../../src/evidence/schedule.ts';
import { getCurrentTerms } from '../../src/evidence/terms.ts';
import { judgeChallenge } from '../../src/evidence/terms-check.ts';
import { type DueProof, isDueForProof, listDueRoutes, PROOF_METHOD } from '../../src/evidence/verification.ts';
import { isDangerous } from '../../src/model/caution.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { isLive, type Listing, listRouteCautions } from '../../src/model/listing.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Receipt } from '../../src/model/payment.ts';
import type { ProbeSample } from '../../src/model/probe.ts';
import { getRouteUrl, type Route } from '../../src/model/route.ts';
import { openPublishing } from '../../src/probing/run.ts';
import { readCopiedTerms } from '../../src/x402/given-challenge.ts';
import { buildRow, getMedian, type Row } from './measuring.ts';
import {
  buildMarket,
  buildTerms,
  createStream,
  declareInDocument,
  declareInFeed,
  FATES,
  type Fate,
  getDescription,
  getOffer,
  getTagline,
  getTime,
  isDelivered,
  LIARS,
  type LiarKind,
  listLies,
  listOwnPrices,
  MARKET,
  type Market,
  type Offer,
  SELLER_KINDS,
  type Seller,
  type SellerKind,
  scaleCount,
} from './sellers.ts';
import type { Run } from './world.ts';

/** Options of a market. */
export interface MarketOptions {
  readonly seed: number;
  /** Share of the full size: of sellers, topics, calls and payments alike. */
  readonly scale: number;
  readonly days: number;
  /** The file of the market's catalogue, which is removed in the end. */
  readonly file: string;
  /** Share of the paid calls that goes to proven routes at random, and not to those that are due; default: that of the rules. */
  readonly proven_share?: number;
  readonly tell?: (line: string) => void;
}

/** Ways in which a listing of an honest seller may be harmed. */
const HARMS = ['delisted', 'danger', 'reworded', 'mispriced', 'imitation'] as const;
type Harm = (typeof HARMS)[number];

/** Payments of agents to sellers of one kind, in atomic USDC. */
export interface Sales {
  calls: number;
  spent: number;
  /**
   * Amount spent on calls that were not delivered, and the part of it before anything could show what the seller is.
   */
  lost: number;
  unavoidable: number;
}

/** Figures of the listings of honest sellers that had the same fate. */
export interface FateFigures {
  sellers: number;
  /** Number of sellers that were ever harmed, and the days of all of them together, by kind of harm. */
  harm: Record<Harm, { sellers: number; days: number }>;
  /** Average score on all days, and on the last; null without a score. */
  score: number | null;
  last_score: number | null;
}

/** Figures of a whole market. */
export interface MarketFigures {
  seed: number;
  days: number;
  honest: number;
  liars: number;
  /** Calls that agents wanted to make, and those that found no safe answer. */
  calls: number;
  unserved: number;
  sales: Record<SellerKind, Sales>;
  /** Paid calls of the service itself, and those that were not delivered. */
  verifying: { calls: number; failed: number; spent: number };
  fates: Record<Fate, FateFigures>;
  /** Liars that have begun, those of them that were marked since, and the days until then in the middle. */
  marked: Record<LiarKind, { sellers: number; marked: number; median_days: number | null }>;
}

/** Number of times a day that hosts are asked. */
const TICKS_A_DAY = 4;

/** Parts of the market that have random numbers of their own. */
const STREAMS = Object.freeze({ uptime: 1, schedule: 2, verifying: 3, agents: 4 });

/** The state of a running market. */
interface World extends MarketOptions {
  readonly market: Market;
  readonly catalogue: Catalogue;
  readonly byUrl: ReadonlyMap<string, Seller>;
  /** Day of our last paid call to each seller, and the sellers to whom one was lost. */
  readonly paidOn: Map<Seller, number>;
  readonly caught: Set<Seller>;
  readonly figures: MarketFigures;
}

/**
 * Simulates weeks of a market in which three of ten sellers lie, with the catalogue's own rules, probing plan and store.
 * Agents search, take the first answer that the check calls safe, and pay. The same options give the same figures.
 */
export async function runMarket(options: MarketOptions): Promise<MarketFigures> {
  const { days, file, tell } = options;
  const market = buildMarket(options);
  const created = { identity: '6f1f3a52-0c0e-4d52-9a0b-7d7f5a0c9e11', at: getTime(0) };
  const catalogue = await openCatalogue(file, created, { checksClock: false });
  const world: World = {
    ...options,
    market,
    catalogue,
    byUrl: new Map(market.sellers.map((seller) => [seller.base_url, seller])),
    paidOn: new Map(),
    caught: new Set(),
    figures: buildFigures(options, market),
  };
  const observation = openObservation(world);
  try {
    const documents = market.honest.filter(({ has_document }) => has_document);
    await declare(world, 0, [
      ...market.sellers.map((seller) => declareInFeed(seller, 0)),
      ...documents.map((seller) => declareInDocument(seller, 0)),
    ]);
    for (let tick = 0; tick < days * TICKS_A_DAY; tick += 1) {
      const day = tick / TICKS_A_DAY;
      const isSince = (from: number) => day >= from && day - 1 / TICKS_A_DAY < from;
      const announcing = documents.filter(({ moves_on }) => isSince(moves_on - MARKET.announced_before));
      const lies = isSince(MARKET.lies_on) ? market.attacks.flatMap((attack) => listLies(attack, day)) : [];
      await declare(world, day, [...announcing.map((seller) => declareInDocument(seller, day)), ...lies]);
      await probe(world, day);
      if ((tick + 1) % TICKS_A_DAY > 0) continue;
      await verify(world, day);
      const listings = await listListings(catalogue);
      callAsAgents(world, day, listings);
      observation.observe(day, listings);
      if ((day + 1) % 20 < 1) tell?.(`Day ${Math.ceil(day)} of ${days} …`);
    }
  } finally {
    await catalogue.close();
    for (const part of ['', '-wal', '-shm']) rmSync(file + part, { force: true });
  }
  return observation.finish();
}

/** Records the declarations of sources on a day. */
async function declare({ catalogue }: World, day: number, declarations: readonly Declaration[]): Promise<void> {
  await writeCatalogue(catalogue, getTime(day), (writing) => recordDeclarations(writing, declarations));
}

/** Asks each listing that is due, as a probe run does, and publishes the results. */
async function probe(world: World, day: number): Promise<void> {
  const { catalogue, seed } = world;
  const at = getTime(day);
  const scope = { kind: 'due', at } as const;
  const hosts = await listProbeHosts(catalogue, scope);
  const random = createStream(seed, STREAMS.schedule, day * TICKS_A_DAY);
  await writeCatalogue(catalogue, at, async (writing) => {
    for (const { host, listing_ids } of hosts) {
      for (const listing_id of listing_ids) {
        for (const { base_url, out_since, route } of await listProbeTasks(writing.catalogue, listing_id, scope)) {
          const sample = buildSample(world, { base_url, path: route.path, day });
          const failing_since = await findFailingSince(writing.catalogue, listing_id, sample);
          const nextAt = getNextProbeAt({ at, failing_since, out_since, wait_until: null }, random);
          await recordSample(writing, { listing_id, route_id: route.id, host, prober: 'bench' }, sample, nextAt);
        }
      }
    }
  });
  await openPublishing(catalogue, { now: () => new Date(at), freshens: true }).finish();
}

/** Builds the sample of a probe: now and then a host is down. */
function buildSample(world: World, asked: { base_url: string; path: string; day: number }): ProbeSample {
  const { base_url, path, day } = asked;
  const seller = getSeller(world, base_url);
  const isUp = createStream(world.seed, STREAMS.uptime, seller.number, day * TICKS_A_DAY)() < seller.uptime;
  const offer = isUp ? getOffer(seller, path, day) : null;
  return {
    at: getTime(day),
    duration_ms: 120,
    url: getRouteUrl(base_url, path),
    method: 'GET',
    outcome: offer ? 'payable' : isUp ? 'no_402' : 'server_error',
    cause: null,
    status: offer ? 402 : isUp ? 404 : 503,
    latency_ms: 90,
    x402_version: offer ? 2 : null,
    terms: offer ? [buildTerms(offer)] : [],
    differences: [],
    payee_rotates: null,
    retry_after_seconds: null,
    detail: {},
  };
}

/** Pays for as many due routes as a day allows, under the rules of `catalogue verify --due`. */
async function verify(world: World, day: number): Promise<void> {
  const { catalogue, paidOn, caught, figures } = world;
  const at = getTime(day);
  let left = getBudget(world);
  for (const { listing: planned, route: wanted, is_due } of planPayments(world, day, await listListings(catalogue))) {
    if (left === 0) break;
    const seller = getSeller(world, planned.base_url);
    const offer = getOffer(seller, wanted.path, day);
    if (!offer || day < seller.paid_from) continue;
    // An earlier payment of the day may have changed the listing.
    const listing = await findListing(catalogue, { id: planned.id });
    const route = listing?.routes.find(({ id }) => id === wanted.id);
    if (!listing || !route || (is_due && !isDueForProof(route, at))) continue;
    const cautions = [...listing.cautions, ...listing.routes.flatMap((one) => one.cautions)];
    const since = day - (paidOn.get(seller) ?? Number.NEGATIVE_INFINITY);
    if (isDangerous(cautions) && since < PROOF_METHOD.retried_after_days) continue;
    const delivered = isDelivered(seller, route.path, day, 'us');
    const receipt = buildReceipt({ number: figures.verifying.calls, route, offer, at, delivered });
    await writeCatalogue(catalogue, at, (writing) => recordReceipt(writing, receipt));
    left -= 1;
    paidOn.set(seller, day);
    if (!delivered) caught.add(seller);
    figures.verifying.calls += 1;
    figures.verifying.spent += offer.amount;
    figures.verifying.failed += delivered ? 0 : 1;
  }
}

/** Returns the number of calls that a day of verifying can pay for. */
function getBudget({ scale }: World): number {
  return scaleCount(MARKET.paid_calls_a_day, scale);
}

interface PlannedPayment extends DueProof<Listing> {
  readonly is_due: boolean;
}

/** Lists the routes to be paid for on a day, in this order: a share of proven ones at random, then those that are due. */
function planPayments(world: World, day: number, listings: readonly Listing[]): PlannedPayment[] {
  const { seed, proven_share = PROOF_METHOD.drawn_share } = world;
  const live = listings.filter(isLive);
  const random = createStream(seed, STREAMS.verifying, day);
  const proven = live.flatMap((listing) => {
    return listing.routes.filter(({ proof }) => proof !== null).map((route) => ({ listing, route, turn: random() }));
  });
  const again = Math.round(getBudget(world) * proven_share);
  const chosen = proven.sort((a, b) => a.turn - b.turn).slice(0, again);
  return [
    ...chosen.map(({ listing, route }) => ({ listing, route, is_due: false })),
    ...listDueRoutes(live, getTime(day)).map((due) => ({ ...due, is_due: true })),
  ];
}

function buildReceipt(paid: { number: number; route: Route; offer: Offer; at: string; delivered: boolean }): Receipt {
  const { number, route, offer, at, delivered } = paid;
  return {
    id: `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
    route_id: route.id,
    network: 'base',
    asset: NETWORKS.base.usdc,
    amount: offer.amount,
    payer: `0x${'2'.repeat(40)}`,
    pay_to: offer.pay_to,
    transaction: `0x${number.toString(16).padStart(64, '0')}`,
    genesis: NETWORKS.base.genesis,
    request: null,
    settled_at: at,
    settled: true,
    delivered,
    unrecognised: null,
    conforming: 'undeclared',
    correction: null,
  };
}

/** Lets agents make their calls of a day: each takes the best answer for its topic that is safe to pay. */
function callAsAgents(world: World, day: number, listings: readonly Listing[]): void {
  const { seed, scale, market, figures, caught } = world;
  const live = listings.filter(isLive);
  const byTagline = Map.groupBy(live, ({ tagline }) => tagline);
  const byName = Map.groupBy(live, ({ title }) => getLetters(title));
  for (let call = 0; call < scaleCount(MARKET.agent_calls_a_day, scale); call += 1) {
    const random = createStream(seed, STREAMS.agents, day * TICKS_A_DAY, call);
    const isByName = random() < MARKET.called_by_name;
    const wanted = market.honest[Math.floor(random() * market.honest.length)] as Seller;
    const found = isByName ? byName.get(getLetters(wanted.title)) : byTagline.get(getTagline(wanted));
    const bought = findSafeOffer(world, day, rankRoutes(found ?? [], random));
    figures.calls += 1;
    if (!bought) {
      figures.unserved += 1;
      continue;
    }
    const { seller, route, offer } = bought;
    const sales = figures.sales[seller.kind];
    sales.calls += 1;
    sales.spent += offer.amount;
    if (isDelivered(seller, route.path, day, 'agent')) continue;
    sales.lost += offer.amount;
    if (!isRecognisable(seller, caught)) sales.unavoidable += offer.amount;
  }
}

/** Writes a name as a hasty reader sees it: no signs, and a zero is an o. */
function getLetters(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('0', 'o')
    .replace(/[^a-z\d]/g, '');
}

interface FoundRoute {
  readonly listing: Listing;
  readonly route: Route;
}

/** Sorts routes as agents might: proven and reliable ones first, then cheap ones, each agent with a taste of its own. */
function rankRoutes(listings: readonly Listing[], random: () => number): FoundRoute[] {
  return listings
    .flatMap((listing) =>
      listing.routes.map((route) => {
        const score = (listing.reliability.score ?? 50) / 100;
        const worth = (route.proof ? 1 : 0) + score - 0.1 * Math.log10(listing.price_min ?? 1) + 0.4 * random();
        return { listing, route, worth };
      }),
    )
    .sort((a, b) => b.worth - a.worth);
}

/** Finds the first route whose own 402 the check calls safe; undefined if there is none. */
function findSafeOffer(
  world: World,
  day: number,
  found: readonly FoundRoute[],
): { seller: Seller; route: Route; offer: Offer } | undefined {
  for (const { listing, route } of found) {
    const cautions = listRouteCautions(listing.cautions, route);
    if (isDangerous(cautions) || cautions.some(({ code }) => code === 'imitates_name')) continue;
    const seller = getSeller(world, listing.base_url);
    const offer = getOffer(seller, route.path, day);
    if (!offer) continue;
    const { network, scheme, asset, amount } = buildTerms(offer);
    const given = readCopiedTerms({ network, scheme, asset, amount: String(amount), pay_to: offer.pay_to });
    const record = { terms: getCurrentTerms(route.terms), payee: route.payee, proofs: route.proofs, cautions };
    const judged = judgeChallenge(given, record, { at: new Date(getTime(day)), isForAnother: false });
    if (judged.safe_offers.length > 0) return { seller, route, offer };
  }
  return undefined;
}

/**
 * Returns whether anything could have shown by now what a liar is: its name, another payee, or a call that we lost to
 * it.
 */
function isRecognisable(seller: Seller, caught: ReadonlySet<Seller>): boolean {
  return seller.kind === 'name' || seller.kind === 'switch' || caught.has(seller);
}

/** Watches the listings of all sellers, and writes the results to the figures at the end. */
function openObservation({ market, byUrl, figures }: World) {
  const harmed = new Map(market.honest.map((seller) => [seller, buildRecord(HARMS, () => 0)]));
  const scores = new Map(market.honest.map((seller): [Seller, number[]] => [seller, []]));
  const last = new Map<Seller, number>();
  const markedOn = new Map<Seller, number>();
  return {
    observe(day: number, listings: readonly Listing[]): void {
      last.clear();
      for (const listing of listings) {
        const seller = byUrl.get(listing.base_url);
        if (!seller) throw new Error(`nobody sells at ${listing.base_url}`);
        if (seller.kind !== 'honest') {
          if (day >= seller.lies_from && !markedOn.has(seller) && isMarked(listing)) markedOn.set(seller, day);
          continue;
        }
        const harm = harmed.get(seller);
        for (const one of HARMS) if (harm && IS_HARMED[one](listing, seller)) harm[one] += 1;
        const { score } = listing.reliability;
        if (score === null) continue;
        scores.get(seller)?.push(score);
        last.set(seller, score);
      }
    },
    finish(): MarketFigures {
      for (const fate of FATES) {
        const sellers = market.honest.filter((seller) => seller.fate === fate);
        const days = sellers.flatMap((seller) => harmed.get(seller) ?? []);
        figures.fates[fate] = {
          sellers: sellers.length,
          harm: buildRecord(HARMS, (one) => ({
            sellers: days.filter((of) => of[one] > 0).length,
            days: sum(days.map((of) => of[one])),
          })),
          score: getAverage(sellers.flatMap((seller) => scores.get(seller) ?? [])),
          last_score: getAverage(sellers.flatMap((seller) => last.get(seller) ?? [])),
        };
      }
      for (const kind of LIARS) {
        const begun = market.sellers.filter((seller) => seller.kind === kind && seller.lies_from < figures.days);
        const waited = begun.flatMap((seller) => (markedOn.get(seller) ?? Number.NaN) - seller.lies_from);
        const known = waited.filter((days) => !Number.isNaN(days));
        figures.marked[kind] = {
          sellers: begun.length,
          marked: known.length,
          median_days: known.length === 0 ? null : roundTo(getMedian(known), 2),
        };
      }
      return figures;
    },
  };
}

/** Test for each harm of a listing. One that cannot be found counts as delisted, whatever the reason. */
const IS_HARMED: Readonly<Record<Harm, (listing: Listing, seller: Seller) => boolean>> = {
  delisted: (listing) => !isLive(listing),
  danger: ({ cautions, routes }) => isDangerous([...cautions, ...routes.flatMap((route) => route.cautions)]),
  reworded: ({ title, tagline, description, docs_url }, seller) =>
    title !== seller.title ||
    tagline !== getTagline(seller) ||
    description !== getDescription(seller) ||
    docs_url !== null,
  mispriced: ({ price_min, price_max }, seller) =>
    [price_min, price_max].some((price) => price !== null && !listOwnPrices(seller).includes(price)),
  imitation: ({ cautions }) => cautions.some(({ code }) => code === 'imitates_name'),
};

/** Returns whether readers are warned of a liar: it is removed, or a caution says what it does. */
function isMarked(listing: Listing): boolean {
  const cautions = [...listing.cautions, ...listing.routes.flatMap((route) => route.cautions)];
  const isSaid = cautions.some(({ code }) => code === 'imitates_name' || code === 'price_above_record');
  return !isLive(listing) || isDangerous(cautions) || isSaid;
}

function buildFigures({ seed, days }: MarketOptions, { honest, sellers }: Market): MarketFigures {
  return {
    ...{ seed, days, honest: honest.length, liars: sellers.length - honest.length, calls: 0, unserved: 0 },
    sales: buildRecord(SELLER_KINDS, () => ({ calls: 0, spent: 0, lost: 0, unavoidable: 0 })),
    verifying: { calls: 0, failed: 0, spent: 0 },
    fates: buildRecord(FATES, () => ({
      sellers: 0,
      harm: buildRecord(HARMS, () => ({ sellers: 0, days: 0 })),
      score: null,
      last_score: null,
    })),
    marked: buildRecord(LIARS, () => ({ sellers: 0, marked: 0, median_days: null })),
  };
}

function getSeller({ byUrl }: Pick<World, 'byUrl'>, baseUrl: string): Seller {
  const seller = byUrl.get(baseUrl);
  if (!seller) throw new Error(`nobody sells at ${baseUrl}`);
  return seller;
}

function buildRecord<Key extends string, Value>(keys: readonly Key[], build: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, build(key)])) as Record<Key, Value>;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function getAverage(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : roundTo(sum(numbers) / numbers.length, 1);
}

function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Seeds of three markets: a rule that helps in one by chance does not help in all. */
const SEEDS = [1, 2, 3];
const DAYS = 60;
/** Size of a market in which everything that can happen begins. */
const QUICK = Object.freeze({ honest: 30, days: 20 });

/**
 * Measures what liars take from agents and do to honest sellers, as the median of three simulated markets with this
 * many honest sellers.
 */
export async function measureLiars({ folder, rounds, tell }: Run, honest: number): Promise<Row[]> {
  const isQuick = rounds === 1;
  const sellers = isQuick ? Math.min(honest, QUICK.honest) : honest;
  const days = isQuick ? QUICK.days : DAYS;
  const markets: MarketFigures[] = [];
  for (const seed of isQuick ? SEEDS.slice(0, 1) : SEEDS) {
    tell(`Market ${seed}: ${sellers} honest sellers, ${days} days …`);
    const file = join(folder, `market-${seed}.sqlite`);
    markets.push(await runMarket({ seed, scale: sellers / MARKET.honest, days, file, tell }));
    tell(JSON.stringify(markets.at(-1)));
  }
  return listRows(markets);
}

/** Returns a function that builds a row from the markets that have a figure, and no row if none has it. */
function openRows(markets: readonly MarketFigures[]) {
  const listings = (markets[0]?.honest ?? 0) + (markets[0]?.liars ?? 0);
  return (what: string, unit: string, get: (market: MarketFigures) => number | null): Row[] => {
    const found = markets.flatMap((market) => get(market) ?? []);
    return found.length === 0 ? [] : [buildRow({ listings, what, unit, ours: getMedian(found) })];
  };
}

function getShare(part: number, whole: number): number | null {
  return whole === 0 ? null : (100 * part) / whole;
}

function sumSales({ sales }: MarketFigures, field: keyof Sales): number {
  return sum(SELLER_KINDS.map((kind) => sales[kind][field]));
}

function getPart(market: MarketFigures, lost: number): number | null {
  return getShare(lost, sumSales(market, 'spent'));
}

function sumHarm({ fates }: MarketFigures, harm: Harm): number {
  return sum(FATES.map((fate) => fates[fate].harm[harm].days));
}

function listRows(markets: readonly MarketFigures[]): Row[] {
  const build = openRows(markets);
  return [
    ...build('calls without a safe answer', '%', ({ unserved, calls }) => getShare(unserved, calls)),
    ...build('spend lost', '%', (market) => getPart(market, sumSales(market, 'lost'))),
    ...build('spend lost before any sign', '%', (market) => getPart(market, sumSales(market, 'unavoidable'))),
    ...LIARS.flatMap((kind) => listRowsOf(kind, build)),
    ...HARMS.flatMap((harm) => build(`honest: ${harm}`, 'days of listings', (market) => sumHarm(market, harm))),
    ...FATES.flatMap((fate) =>
      build(`score: ${fate.replaceAll('_', ' ')}`, 'of 100', ({ fates }) => fates[fate].score),
    ),
  ];
}

function listRowsOf(kind: LiarKind, build: ReturnType<typeof openRows>): Row[] {
  return [
    ...build(`${kind}: spend lost`, '%', (market) => getPart(market, market.sales[kind].lost)),
    ...build(`${kind}: marked`, '%', ({ marked }) => getShare(marked[kind].marked, marked[kind].sellers)),
    ...build(`${kind}: until marked`, 'days', ({ marked }) => marked[kind].median_days),
  ];
}
