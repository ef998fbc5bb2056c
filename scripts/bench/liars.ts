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
import { type DeclaredRoute, getRouteUrl, type Route } from '../../src/model/route.ts';
import type { Terms } from '../../src/model/terms.ts';
import { openPublishing } from '../../src/probing/publishing.ts';
import { readCopiedTerms } from '../../src/x402/given-challenge.ts';
import { buildRow, getMedian, type Row } from './measuring.ts';
import { createRandom } from './synthetic.ts';
import type { Run } from './world.ts';

/** The numbers of the market at scale 1. They were fixed before the rules that they measure; no rule is tuned to them. */
const MARKET = Object.freeze({
  /** Sellers who do what they say, and liars of each of the eight kinds: three of ten sellers lie. */
  honest: 300,
  liars_of_each_kind: 17,
  /** Subjects of agents' calls: about eleven sellers offer each, so that agents can choose. */
  topics: 40,
  /** Calls that a day of verifying can pay for: far fewer than there are routes. */
  paid_calls_a_day: 6,
  agent_calls_a_day: 60,
  /** Share of agents who look for one seller by name, whom imitators wait for. */
  called_by_name: 0.3,
  /** Most routes of a seller, and those of one who floods the catalogue to be found more often. */
  most_routes: 3,
  flooded_routes: 40,
  /** Prices of a call, in atomic USDC: 0.002 to 0.019, as most real sellers ask. */
  price: Object.freeze({ lowest: 2000, step: 1000, steps: 18 }),
  /** The worst host still answers 19 of 20 requests: downtime is no lie. */
  least_uptime: 0.95,
  /** Every fifth honest seller has a document on its own host: few real ones have. */
  document_every: 5,
  /** Shares of honest sellers who raise their price once, by half, and who move to another wallet: liars do both, too. */
  raising: 0.1,
  raised_to: 1.5,
  moving: 0.03,
  /** Days before the first 402 with the new payee that a document names it. */
  announced_before: 1.5,
  /** A bait declares a tenth of its price and asks for five times as much: fifty times what it declared. */
  bait_declares: 0.1,
  bait_asks: 5,
  /** Days in which liars who begin honestly turn: the first, and how many more. */
  turns_from: 10,
  turns_within: 25,
  /** Day on which liars tell feeds lies about rivals, how many rivals each has, and the routes invented for each. */
  lies_on: 3,
  rivals_of_each: 3,
  invented_routes: 16,
  /** Price of the invented routes, in atomic USDC: lower than any honest seller's. */
  invented_price: 10,
  /** Price of an imitator as a share of that of its model. */
  imitator_price: 0.9,
  /** Day before which nobody pays half of the imitated sellers: a known name is not always a verified one. */
  half_paid_from: 10,
});

/**
 * Kinds of liars. `bait`: declares a low price and asks a high one. `switch`: after a while asks for another payee and
 * delivers nothing. `never`: never delivers. `stops`: stops delivering. `rivals`: delivers, and lies about others in
 * feeds. `name`: imitates a name and delivers nothing. `flood`: many routes, of which one delivers. `prober`: delivers to
 * this service alone.
 */
const LIARS = ['bait', 'switch', 'never', 'stops', 'rivals', 'name', 'flood', 'prober'] as const;
type LiarKind = (typeof LIARS)[number];
const SELLER_KINDS = ['honest', ...LIARS] as const;
type SellerKind = (typeof SELLER_KINDS)[number];

/** Events for an honest seller that may harm its listing; the first that applies counts. */
const FATES = [
  'attacked_in_both_feeds',
  'attacked_in_second_feed',
  'imitated',
  'moved_announced',
  'moved_unannounced',
  'undisturbed',
] as const;
type Fate = (typeof FATES)[number];

/** A seller. Days are counted from the start of the market, prices are atomic USDC. */
interface Seller {
  readonly number: number;
  readonly kind: SellerKind;
  readonly base_url: string;
  readonly title: string;
  readonly topic: number;
  readonly price: number;
  readonly payee: string;
  readonly paths: readonly string[];
  readonly uptime: number;
  /** Day on which a liar begins to lie. */
  readonly lies_from: number;
  /** Day on which it raises its price, and day on which it moves to another wallet; never if infinite. */
  readonly raises_on: number;
  readonly moves_on: number;
  readonly has_document: boolean;
  readonly fate: Fate;
  /** First day on which somebody pays it for verification. */
  readonly paid_from: number;
}

/** A liar and one of its rivals. */
interface Attack {
  readonly liar: Seller;
  readonly victim: Seller;
  /** True if it also adds invented routes to the victim's own entry in the first feed. */
  readonly in_both_feeds: boolean;
}

interface Market {
  readonly seed: number;
  readonly sellers: readonly Seller[];
  readonly honest: readonly Seller[];
  readonly attacks: readonly Attack[];
}

/** Returns the number of something at a scale: at least one. */
function scaleCount(count: number, scale: number): number {
  return Math.ceil(count * scale);
}

/**
 * Creates the random numbers of one part of the market. Each day, call and host has its own, so that a changed rule does
 * not change what agents look for or when a host is down.
 */
function createStream(seed: number, ...part: readonly number[]): () => number {
  return createRandom(part.reduce((mixed, one) => Math.imul((mixed ^ (mixed >>> 15)) + one + 1, 0x9e3779b1), seed));
}

/** Builds all sellers of a market, and their attacks on rivals. The same arguments give the same market. */
export function buildMarket({ seed, scale, days }: { seed: number; scale: number; days: number }): Market {
  const random = createStream(seed, 0);
  const count = scaleCount(MARKET.honest, scale);
  const liars = scaleCount(MARKET.liars_of_each_kind, scale);
  const rivals = shuffle(count, random).slice(0, liars * MARKET.rivals_of_each);
  const imitated = shuffle(count, random).slice(0, liars);
  const build = (number: number, kind: SellerKind) => buildSeller({ number, kind, days, scale, random });
  const honest = Array.from({ length: count }, (_, index): Seller => {
    const seller = build(index + 1, 'honest');
    const attack = rivals.indexOf(index);
    const isUnpaid = imitated.indexOf(index) % 2 === 1;
    const liar = attack < 0 ? null : Math.floor(attack / MARKET.rivals_of_each);
    const fate = getFate(seller, liar, imitated.includes(index));
    return { ...seller, fate, paid_from: isUnpaid ? MARKET.half_paid_from : 0 };
  });
  const others = LIARS.flatMap((kind, place) =>
    Array.from({ length: liars }, (_, index): Seller => {
      const seller = build(count + place * liars + index + 1, kind);
      return kind === 'name' ? imitate(seller, honest[imitated[index] ?? 0] as Seller, index) : seller;
    }),
  );
  const tellers = others.filter(({ kind }) => kind === 'rivals');
  const attacks = rivals.map((victim, place): Attack => {
    const liar = Math.floor(place / MARKET.rivals_of_each);
    return { liar: tellers[liar] as Seller, victim: honest[victim] as Seller, in_both_feeds: isInBothFeeds(liar) };
  });
  return { seed, sellers: [...honest, ...others], honest, attacks };
}

/** Returns whether a liar about rivals gets its lies into both feeds, as every second one does. */
function isInBothFeeds(liar: number): boolean {
  return liar % 2 === 0;
}

function getFate({ moves_on, has_document }: Seller, liar: number | null, isImitated: boolean): Fate {
  if (liar !== null) return isInBothFeeds(liar) ? 'attacked_in_both_feeds' : 'attacked_in_second_feed';
  if (isImitated) return 'imitated';
  if (moves_on === Number.POSITIVE_INFINITY) return 'undisturbed';
  return has_document ? 'moved_announced' : 'moved_unannounced';
}

function buildSeller(options: {
  number: number;
  kind: SellerKind;
  days: number;
  scale: number;
  random: () => number;
}): Seller {
  const { number, kind, days, scale, random } = options;
  const { price, most_routes, flooded_routes, least_uptime } = MARKET;
  const routes = 1 + Math.floor(random() * most_routes);
  const topic = Math.floor(random() * scaleCount(MARKET.topics, scale));
  const amount = price.lowest + Math.floor(random() * price.steps) * price.step;
  const uptime = least_uptime + random() * (1 - least_uptime);
  const turn = MARKET.turns_from + random() * MARKET.turns_within;
  const pickDay = (share: number) => {
    const [isIt, day] = [random() < share, random() * days];
    return kind === 'honest' && isIt ? day : Number.POSITIVE_INFINITY;
  };
  return {
    number,
    kind,
    base_url: `https://api.brand${number}tool.com`,
    title: `Brand${number}tool`,
    topic,
    price: amount,
    payee: buildAddress(number),
    paths: Array.from({ length: kind === 'flood' ? flooded_routes : routes }, (_, route) => `/v1/r${route}`),
    uptime,
    lies_from: kind === 'switch' || kind === 'stops' ? turn : kind === 'rivals' ? MARKET.lies_on : 0,
    raises_on: pickDay(MARKET.raising),
    moves_on: pickDay(MARKET.moving),
    has_document: kind === 'honest' && (number - 1) % MARKET.document_every === 0,
    fate: 'undisturbed',
    paid_from: 0,
  };
}

/** Gives a liar the name of another seller, in one of three ways: another suffix, a lookalike, a platform's free host. */
function imitate(liar: Seller, model: Seller, index: number): Seller {
  const name = model.title.toLowerCase();
  const lookalike =
    index % 2 === 0 ? (text: string) => text.replace('o', '0') : (text: string) => text.replace('tool', '-tool');
  const ways = [
    { base_url: `https://api.${name}.io`, title: model.title },
    { base_url: `https://api.${lookalike(name)}.com`, title: lookalike(model.title) },
    { base_url: `https://${name}.vercel.app`, title: model.title },
  ] as const;
  const price = Math.round(model.price * MARKET.imitator_price);
  return { ...liar, ...ways[(index % 3) as 0 | 1 | 2], topic: model.topic, price };
}

/** Lists the numbers below `count` in a random order. */
function shuffle(count: number, random: () => number): number[] {
  return Array.from({ length: count }, (_, number) => ({ number, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ number }) => number);
}

function buildAddress(number: number): string {
  return `0x${number.toString(16).padStart(40, '0')}`;
}

/**
 * Numbers of wallets that are no seller's first one: those to which `switch` turns, and those to which honest sellers
 * move.
 */
const WALLETS = Object.freeze({ turned: 900_000, moved: 500_000, invented: 666_666 });

/** Price and payee of one call. */
type Offer = Pick<Terms, 'amount' | 'pay_to'> & { pay_to: string };

/** Returns the offer of a seller's route on a day; null if there is no such route. */
function getOffer(seller: Seller, path: string, day: number): Offer | null {
  const { kind, price, payee, paths, number } = seller;
  if (!paths.includes(path)) return null;
  if (kind === 'bait') return { amount: price * MARKET.bait_asks, pay_to: payee };
  if (kind === 'switch' && day > seller.lies_from) return { amount: price, pay_to: buildAddress(WALLETS.turned) };
  return {
    amount: day > seller.raises_on ? Math.round(price * MARKET.raised_to) : price,
    pay_to: day > seller.moves_on ? buildAddress(WALLETS.moved + number) : payee,
  };
}

/** Lists every price that an honest seller ever asks. */
function listOwnPrices({ price }: Seller): number[] {
  return [price, Math.round(price * MARKET.raised_to)];
}

/** Returns whether a paid call is delivered. */
function isDelivered(seller: Seller, path: string, day: number, caller: 'agent' | 'us'): boolean {
  switch (seller.kind) {
    case 'never':
    case 'name':
      return false;
    case 'switch':
    case 'stops':
      return day <= seller.lies_from;
    case 'flood':
      return path === seller.paths[0];
    case 'prober':
      return caller === 'us';
    default:
      return true;
  }
}

const START = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the time of a day of the market, ISO 8601 UTC. */
function getTime(day: number): string {
  return new Date(START + day * DAY_MS).toISOString();
}

/** The feed that all sellers are in from the beginning, and the one that holds nothing but lies. */
const FEEDS = ['https://feed-a.example/discovery/resources', 'https://feed-b.example/discovery/resources'] as const;

/** Returns the one line in which sellers with a topic describe themselves. */
function getTagline({ topic }: Pick<Seller, 'topic'>): string {
  return `Answers questions about topic ${topic}.`;
}

/** Returns the description that sellers with a topic give of themselves. */
function getDescription({ topic }: Pick<Seller, 'topic'>): string {
  return `Answers about topic ${topic}, with one call for each question.`;
}

/** Builds a seller's declaration in the first feed: its own words, true or not. */
function declareInFeed(seller: Seller, day: number): Declaration {
  const amount = seller.kind === 'bait' ? Math.round(seller.price * MARKET.bait_declares) : seller.price;
  const routes = seller.paths.map((path) => buildRoute(path, { amount, pay_to: seller.payee }));
  return buildDeclaration(seller, { kind: 'bazaar', name: FEEDS[0], observed_at: getTime(day) }, routes);
}

/**
 * Builds the declaration of the document on a seller's own host, which has no date: its terms of the day, and a payee
 * to come.
 */
function declareInDocument(seller: Seller, day: number): Declaration {
  const { base_url, paths, moves_on } = seller;
  const named = day >= moves_on - MARKET.announced_before ? Number.POSITIVE_INFINITY : day;
  const routes = paths.flatMap((path) => {
    const [now, later] = [getOffer(seller, path, day), getOffer(seller, path, named)];
    return now && later ? buildRoute(path, { ...now, pay_to: later.pay_to }) : [];
  });
  return buildDeclaration(seller, { kind: 'openapi', name: `${base_url}/openapi.json`, observed_at: null }, routes);
}

/**
 * Builds the declarations about a rival that liars put into feeds: another entry in the second feed, and more routes in
 * the first.
 */
function listLies({ liar, victim, in_both_feeds }: Attack, day: number): Declaration[] {
  const lie = { amount: MARKET.invented_price, pay_to: buildAddress(WALLETS.invented) };
  const invented = Array.from({ length: MARKET.invented_routes }, (_, route) => buildRoute(`/invented/${route}`, lie));
  const real = victim.paths.map((path) => buildRoute(path, lie));
  const source = { kind: 'bazaar', name: FEEDS[1], observed_at: getTime(day) } as const;
  const second = {
    ...buildDeclaration(victim, source, [...real, ...invented]),
    title: 'Moved',
    tagline: 'DEPRECATED, use another API.',
    description: 'DEPRECATED, use another API.',
    docs_url: `${liar.base_url}/docs`,
  };
  const first = declareInFeed(victim, day);
  return in_both_feeds ? [second, { ...first, routes: [...first.routes, ...invented] }] : [second];
}

/** Builds the terms as which an offer is recorded. */
function buildTerms(offer: Offer): Terms {
  const exact = { network: 'base', scheme: 'exact', asset: NETWORKS.base.usdc } as const;
  return { ...exact, ...offer, max_timeout_seconds: 60, x402_version: 2 };
}

function buildRoute(path: string, offer: Offer): DeclaredRoute {
  return {
    method: 'GET',
    path,
    description: 'Answers one question.',
    mime_type: 'application/json',
    input_schema: null,
    output_schema: null,
    // A route without an example request is never paid for.
    example: { query: {} },
    terms: [buildTerms(offer)],
  };
}

function buildDeclaration(seller: Seller, source: Declaration['source'], routes: DeclaredRoute[]): Declaration {
  const { base_url, title } = seller;
  return {
    source,
    base_url,
    slug: null,
    service_name: null,
    title,
    tagline: getTagline(seller),
    description: getDescription(seller),
    provider_name: title,
    category: 'Data',
    mcp_endpoint: null,
    docs_url: null,
    price: null,
    networks: [],
    routes,
  };
}

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
        for (const { base_url, delisted_at, route } of await listProbeTasks(writing.catalogue, listing_id, scope)) {
          const sample = buildSample(world, { base_url, path: route.path, day });
          const failing_since = await findFailingSince(writing.catalogue, listing_id, sample);
          const nextAt = getNextProbeAt({ at, failing_since, delisted_at, wait_until: null }, random);
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
    seed,
    days,
    honest: honest.length,
    liars: sellers.length - honest.length,
    calls: 0,
    unserved: 0,
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
