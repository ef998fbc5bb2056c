import type { FetchResponse, GuardedClient } from '../../../src/fetching/client.ts';
import { buildFetchFailure } from '../../../src/fetching/failure.ts';
import type { Declaration } from '../../../src/model/declaration.ts';
import { NETWORKS, type NetworkKey } from '../../../src/model/network.ts';
import { PROVIDER_FILE_PATH } from '../../../src/model/source.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../../records.ts';
import { encodeHeader, makeChallenge, makeChallengeV1, makeOffer, makeOfferV1 } from '../../x402/challenges.ts';
import { type Answer, getAnswer } from './answers.ts';
import { STORIES, type Story } from './sellers.ts';

export const START = Date.parse('2027-01-01T00:00:00.000Z');
const HOUR = 3_600_000;

/** A time when our own network is down, in hours. */
export interface Outage {
  from: number;
  to: number;
}

export interface Seller extends Story {
  index: number;
  kind: string;
  slug: string;
  base_url: string;
  host: string;
  paths: string[];
  /** It speaks version 1 of x402. */
  isOld: boolean;
}

/** A market with simulated time and without a network. */
export interface Market {
  sellers: Seller[];
  /** When its time begins, in milliseconds since 1970: at the beginning of a round. */
  start: number;
  outage: Outage;
  now: () => Date;
  getHours: () => number;
  setHours: (hours: number) => void;
  openClient: () => GuardedClient;
  /** How a seller answers now, ignoring our own network. */
  getAnswer: (seller: Seller) => Answer;
}

/** Makes sellers of every kind in turn, for a number of days. Those of the first kind share hosts. */
export function makeMarket(count: number, days: number, outage: Outage, random: () => number): Market {
  const end = days * 24;
  const kinds = Object.keys(STORIES);
  const sellers = Array.from({ length: count }, (_, index): Seller => {
    const kind = kinds[index % kinds.length] ?? '';
    const price = 1000 + 10 * index;
    const story = STORIES[kind]?.({ t: (share) => share * end, end, price, random });
    if (!story) throw new Error(`no story ${kind}`);
    const host = `https://${kind === 'steady' ? `shared-${index % 4}` : `host-${index}`}.market-of-tests.com`;
    const slug = `${kind.replaceAll('_', '-')}-${index}`;
    // Sellers that must be recognised by few answers have one route, the others up to four.
    const routes = /rotate|rotating|wildcard/.test(kind) ? 1 : 1 + (index % 4);
    const paths = Array.from({ length: routes }, (_path, number) => `/v1/${'abcd'[number]}`);
    return { ...story, index, kind, slug, base_url: `${host}/s${index}`, host, paths, isOld: index % 3 === 0 };
  });
  const byBase = new Map(sellers.map((seller) => [seller.base_url, seller]));
  let ms = START;
  let challenges = 0;
  const getHours = () => (ms - START) / HOUR;

  async function fetch(address: string | URL): Promise<FetchResponse> {
    // Each request takes a moment of simulated time.
    ms += 150;
    const url = new URL(address);
    const hours = getHours();
    if (hours >= outage.from && hours < outage.to) throw buildOutageFailure(hours);
    const seller = byBase.get(`${url.origin}/${url.pathname.split('/')[1] ?? ''}`);
    if (!seller) {
      if (url.pathname === PROVIDER_FILE_PATH) return buildStatement(url, sellers, hours);
      if (url.pathname !== '/robots.txt') return buildResponse(url, 404);
      const robots = sellers.find(({ host, robots: text }) => host === url.origin && text)?.robots;
      return buildResponse(url, robots === undefined ? 404 : 200, {}, robots ?? '');
    }
    const route = seller.paths.indexOf(url.href.slice(seller.base_url.length));
    const answer = getAnswer(seller.timeline, hours);
    if (answer.kind === 'down') throw buildFetchFailure(answer.reason, 'It is down.');
    if (route < 0 && !(answer.kind === 'ask' && answer.wildcard)) return buildResponse(url, 404);
    if (answer.kind === 'ask') {
      challenges += 1;
      // A seller that answers 402 to every address asks the same everywhere.
      const price = answer.wildcard ? answer.price : answer.price * (route + 1);
      return buildChallenge(url, answer, { price, isOld: seller.isOld, challenges });
    }
    const { retryAfterSeconds } = answer;
    const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    return buildResponse(url, answer.status, headers);
  }

  return {
    sellers,
    start: START,
    outage,
    now: () => new Date(ms),
    getHours,
    setHours: (hours) => {
      ms = START + Math.round(hours * HOUR);
    },
    openClient: () => ({ fetch, close: async () => undefined }),
    getAnswer: ({ timeline }) => getAnswer(timeline, getHours()),
  };
}

/** Without a network names are not resolved; in every third of four hours this machine reports that it has none. */
function buildOutageFailure(hours: number): Error {
  if (Math.floor(hours) % 4 !== 2) return buildFetchFailure('name_not_resolved', 'The name is not resolved.');
  const cause = Object.assign(new Error('ENETUNREACH'), { code: 'ENETUNREACH' });
  return buildFetchFailure('refused', 'There is no network.', { cause });
}

/** Returns the address that a number stands for. */
export function getPayee(network: NetworkKey, number: number): string {
  const text = String(number);
  return network === 'base'
    ? `0x${text.padStart(40, '0')}`
    : `${'So'.padEnd(43 - text.length, '1')}${text.replaceAll('0', 'z')}`;
}

function buildChallenge(
  url: URL,
  { networks, payee, elsewhere }: Extract<Answer, { kind: 'ask' }>,
  { price, isOld, challenges }: { price: number; isOld: boolean; challenges: number },
): FetchResponse {
  const offers = networks.map((key) => {
    const payTo = getPayee(key, payee === 'rotating' ? 1000 + challenges : payee);
    const asset = NETWORKS[key].usdc;
    const extra = key === 'solana' ? { feePayer: payTo } : { name: 'USD Coin', version: '2' };
    const network = elsewhere ? 'eip155:137' : NETWORKS[key].id;
    return isOld
      ? makeOfferV1({ network: elsewhere ? 'polygon' : key, asset, payTo, maxAmountRequired: String(price), extra })
      : makeOffer({ network, asset, payTo, amount: String(price), extra });
  });
  if (isOld) return buildResponse(url, 402, {}, JSON.stringify(makeChallengeV1({ accepts: offers })));
  return buildResponse(url, 402, { 'payment-required': encodeHeader(makeChallenge({ accepts: offers })) });
}

/** What the sellers of a host state in its provider's file. */
function buildStatement(url: URL, sellers: readonly Seller[], hours: number): FetchResponse {
  const listings = sellers
    .filter(({ host }) => host === url.origin)
    .flatMap(({ base_url, door = [] }) => {
      const listed = door.findLast(({ from }) => from <= hours)?.listed ?? null;
      return listed === null ? [] : { base_url, listed, ...(listed ? {} : { reason: 'we are moving' }) };
    });
  if (listings.length === 0) return buildResponse(url, 404);
  return buildResponse(url, 200, { 'content-type': 'application/json' }, JSON.stringify({ version: 1, listings }));
}

function buildResponse(url: URL, code: number, headers: Record<string, string> = {}, text = '{}'): FetchResponse {
  const body = Buffer.from(text);
  return {
    status: code,
    headers: new Headers(headers),
    body,
    receivedBytes: body.length,
    url: url.href,
    redirects: [],
    elapsedMs: 40,
  };
}

/** What a source says about a seller at the beginning. */
export function buildDeclaration(seller: Seller, at: string): Declaration {
  const { answer } = seller.timeline[0] ?? {};
  const asked = answer?.kind === 'ask' ? answer : undefined;
  const price = asked?.price ?? seller.expected.price;
  const payTo = asked && asked.payee !== 'rotating' ? asked.payee : 1;
  const routes = seller.paths.map((path, index) =>
    makeRoute({
      path,
      terms: seller.unpriced ? [] : [makeTerms({ amount: price * (index + 1), pay_to: getPayee('base', payTo) })],
    }),
  );
  return makeDeclaration({
    source: { kind: 'manifest', name: `${seller.slug}.yaml`, observed_at: at },
    slug: seller.slug,
    base_url: seller.base_url,
    title: `Seller ${seller.index}`,
    routes,
  });
}
