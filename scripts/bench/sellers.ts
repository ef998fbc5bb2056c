import type { Declaration } from '../../src/model/declaration.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { DeclaredRoute } from '../../src/model/route.ts';
import type { Terms } from '../../src/model/terms.ts';
import { createRandom } from './synthetic.ts';

/** The numbers of the market at scale 1. They were fixed before the rules that they measure; no rule is tuned to them. */
export const MARKET = Object.freeze({
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
export const LIARS = ['bait', 'switch', 'never', 'stops', 'rivals', 'name', 'flood', 'prober'] as const;
export type LiarKind = (typeof LIARS)[number];
export const SELLER_KINDS = ['honest', ...LIARS] as const;
export type SellerKind = (typeof SELLER_KINDS)[number];

/** Events for an honest seller that may harm its listing; the first that applies counts. */
export const FATES = [
  'attacked_in_both_feeds',
  'attacked_in_second_feed',
  'imitated',
  'moved_announced',
  'moved_unannounced',
  'undisturbed',
] as const;
export type Fate = (typeof FATES)[number];

/** A seller. Days are counted from the start of the market, prices are atomic USDC. */
export interface Seller {
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
export interface Attack {
  readonly liar: Seller;
  readonly victim: Seller;
  /** True if it also adds invented routes to the victim's own entry in the first feed. */
  readonly in_both_feeds: boolean;
}

export interface Market {
  readonly seed: number;
  readonly sellers: readonly Seller[];
  readonly honest: readonly Seller[];
  readonly attacks: readonly Attack[];
}

/** Returns the number of something at a scale: at least one. */
export function scaleCount(count: number, scale: number): number {
  return Math.ceil(count * scale);
}

/**
 * Creates the random numbers of one part of the market. Each day, call and host has its own, so that a changed rule does
 * not change what agents look for or when a host is down.
 */
export function createStream(seed: number, ...part: readonly number[]): () => number {
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
export type Offer = Pick<Terms, 'amount' | 'pay_to'> & { pay_to: string };

/** Returns the offer of a seller's route on a day; null if there is no such route. */
export function getOffer(seller: Seller, path: string, day: number): Offer | null {
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
export function listOwnPrices({ price }: Seller): number[] {
  return [price, Math.round(price * MARKET.raised_to)];
}

/** Returns whether a paid call is delivered. */
export function isDelivered(seller: Seller, path: string, day: number, caller: 'agent' | 'us'): boolean {
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
export function getTime(day: number): string {
  return new Date(START + day * DAY_MS).toISOString();
}

/** The feed that all sellers are in from the beginning, and the one that holds nothing but lies. */
const FEEDS = ['https://feed-a.example/discovery/resources', 'https://feed-b.example/discovery/resources'] as const;

/** Returns the one line in which sellers with a topic describe themselves. */
export function getTagline({ topic }: Pick<Seller, 'topic'>): string {
  return `Answers questions about topic ${topic}.`;
}

/** Returns the description that sellers with a topic give of themselves. */
export function getDescription({ topic }: Pick<Seller, 'topic'>): string {
  return `Answers about topic ${topic}, with one call for each question.`;
}

/** Builds a seller's declaration in the first feed: its own words, true or not. */
export function declareInFeed(seller: Seller, day: number): Declaration {
  const amount = seller.kind === 'bait' ? Math.round(seller.price * MARKET.bait_declares) : seller.price;
  const routes = seller.paths.map((path) => buildRoute(path, { amount, pay_to: seller.payee }));
  return buildDeclaration(seller, { kind: 'bazaar', name: FEEDS[0], observed_at: getTime(day) }, routes);
}

/**
 * Builds the declaration of the document on a seller's own host, which has no date: its terms of the day, and a payee
 * to come.
 */
export function declareInDocument(seller: Seller, day: number): Declaration {
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
export function listLies({ liar, victim, in_both_feeds }: Attack, day: number): Declaration[] {
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
export function buildTerms(offer: Offer): Terms {
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
