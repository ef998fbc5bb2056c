import type { Declaration, Finding } from '../../model/declaration.ts';
import { DAY_MS } from '../../model/duration.ts';
import { isObject } from '../../model/json.ts';
import { httpMethod } from '../../model/request.ts';
import { compareRoutes, type DeclaredRoute, type ItemWords } from '../../model/route.ts';
import { getTermsKey, type Terms } from '../../model/terms.ts';
import { compareTexts, cutText } from '../../model/text.ts';
import { findPaymentIdentifier } from '../../x402/payment-identifier.ts';
import { formatQuote, removeInvisible } from '../clean-string.ts';
import { type FeedDeclarations, type FeedFormat, type FeedOptions, getItemHash, type ItemOutcome } from '../feed.ts';
import { buildFinding, type FindingCode, formatPointer, type Note } from '../findings.ts';
import { findMember, findText } from '../json-value.ts';
import { getTemplatePath, hasWildcard, parseListedUrl, parseResourceUrl } from '../outside-address.ts';
import { cleanText, readMimeType, readText } from '../provider-text.ts';
import {
  type FeedTool,
  findFeedTool,
  findResourcePlace,
  getFeedItemKey,
  listMethods,
  listOffers,
  readOutputSchema,
  readRequest,
  readToolRequest,
} from './item.ts';
import { readItemTerms } from './offer.ts';
import { pullFeed } from './pull.ts';

/** The Bazaar: `GET /discovery/resources` of a facilitator. */
export const BAZAAR: FeedFormat = {
  kind: 'bazaar',
  pull: pullFeed,
  getItemKey: getFeedItemKey,
  buildDeclarations: buildFeedDeclarations,
};

/** Feeds of facilitators that list the resources they settle payments for, by the name of the facilitator. */
export const KNOWN_FEEDS: Readonly<Record<string, string>> = {
  cdp: 'https://api.cdp.coinbase.com/platform/v2/x402/discovery/resources',
  payai: 'https://facilitator.payai.network/discovery/resources',
  thirdweb: 'https://api.thirdweb.com/v1/payments/x402/discovery/resources',
  aurracloud: 'https://x402-facilitator.aurracloud.com/discovery/resources',
  questflow: 'https://facilitator.questflow.ai/discovery/resources',
  anyspend: 'https://mainnet.anyspend.com/x402/discovery/resources',
};

/**
 * Builds the declarations of a whole pull: the items of one origin become one listing with a route each. Several items
 * for one route are merged, and all but one of them count as `duplicate`, as does a refused item that comes again
 * unchanged. Only `outcomes` depends on the order of the items. Never throws, whatever the raw items contain.
 */
export function buildFeedDeclarations(items: readonly unknown[], options: FeedOptions): FeedDeclarations {
  return mergeFeedItems(
    items.map((raw) => parseFeedItem(raw, options)),
    options,
  );
}

/** Builds the declarations of parsed items, as `buildFeedDeclarations` does. */
export function mergeFeedItems(items: readonly FeedItem[], options: FeedOptions): FeedDeclarations {
  const outcomes = new Map<FeedItem, ItemOutcome>();
  const findings: Finding[] = [];
  const routes: TakenItem[] = [];
  for (const group of Map.groupBy(items, ({ key }) => key).values()) {
    const [newest, ...older] = sortNewestFirst(group.filter((item) => item.outcome === 'taken'));
    const refused = group.filter((item) => item.outcome === 'refused');
    const firsts = new Map<string, RefusedItem>();
    for (const item of refused) if (!firsts.has(item.hash)) firsts.set(item.hash, item);
    if (newest) {
      const { name, base_url } = newest;
      routes.push(mergeRouteItems([newest, ...older]));
      outcomes.set(newest, { name, outcome: 'taken', base_url });
      findings.push(...newest.findings);
    }
    for (const item of firsts.values()) {
      outcomes.set(item, { name: item.name, outcome: 'refused', code: item.code });
      findings.push(...item.findings);
    }
    const again = [...older, ...refused.filter((item) => firsts.get(item.hash) !== item)];
    for (const item of again) outcomes.set(item, { name: item.name, outcome: 'duplicate' });
    if (again[0]) {
      const message = `The item came ${again.length + 1} times in one pull and counts once.`;
      findings.push(buildFinding('noted', 'duplicate', again[0].name, message));
    }
  }
  return {
    declarations: [...Map.groupBy(routes, ({ base_url }) => base_url)]
      .map(([base, group]) => buildDeclaration(base, group, options))
      .sort((a, b) => compareTexts(a.base_url, b.base_url)),
    findings: findings.sort((a, b) => compareTexts(getFindingKey(a), getFindingKey(b))),
    outcomes: items.flatMap((item) => outcomes.get(item) ?? []),
  };
}

/**
 * Builds the declaration of the items of one origin. Which of their words are about the whole listing is decided later.
 */
function buildDeclaration(baseUrl: string, items: TakenItem[], { feed, pulledAt, isFile }: FeedOptions): Declaration {
  const dates = items.flatMap(({ updated_at }) => updated_at ?? []).sort();
  const names = new Set(items.flatMap(({ words }) => words.service_name ?? []));
  return {
    source: { kind: 'bazaar', name: feed, observed_at: dates.at(-1) ?? (isFile ? null : pulledAt) },
    base_url: baseUrl,
    slug: null,
    service_name: names.size === 1 ? ([...names][0] ?? null) : null,
    title: '',
    tagline: '',
    description: '',
    provider_name: '',
    category: null,
    mcp_endpoint: null,
    docs_url: null,
    price: null,
    networks: [],
    routes: items
      .map(({ route, words }) => (Object.keys(words).length === 0 ? route : { ...route, item: words }))
      .sort(compareRoutes),
  };
}

function getFindingKey({ item, code, message, severity }: Finding): string {
  return [item, code, severity, message].join('\n');
}

/**
 * Sorts items for one route, the newest first. Equally new ones are sorted by content and not by their place in the
 * feed.
 */
function sortNewestFirst(items: readonly TakenItem[]): TakenItem[] {
  return items.toSorted((a, b) => compareTexts(b.updated_at ?? '', a.updated_at ?? '') || compareTexts(a.hash, b.hash));
}

/**
 * Merges several items for one route, sorted newest first. Texts and offers come from the newest one. An older item
 * adds offers whose network and scheme no newer item has. The offers of equally new items are united.
 */
function mergeRouteItems(items: readonly [TakenItem, ...TakenItem[]]): TakenItem {
  const [newest] = items;
  const kept: { offer: Terms; updatedAt: string | null }[] = [];
  for (const { route, updated_at } of items) {
    for (const offer of route.terms) {
      const isOutdated = kept.some((one) => isSameNetworkAndScheme(one.offer, offer) && one.updatedAt !== updated_at);
      if (!isOutdated) kept.push({ offer, updatedAt: updated_at });
    }
  }
  return { ...newest, route: { ...newest.route, terms: listDistinct(kept.map(({ offer }) => offer)) } };
}

/** Returns whether two offers are for the same way to pay: they differ only in amount or payee. */
function isSameNetworkAndScheme(a: Terms, b: Terms): boolean {
  return a.network === b.network && a.scheme === b.scheme;
}

/** Lists distinct offers in a fixed order. Of two equal ones the one for the newer protocol version stays. */
function listDistinct(offers: readonly Terms[]): Terms[] {
  const sorted = [...offers].sort((a, b) => compareTexts(getSortKey(a), getSortKey(b)));
  return sorted.filter((offer, index) => {
    const before = sorted[index - 1];
    return before === undefined || getTermsKey(before) !== getTermsKey(offer);
  });
}

/** Sorts by network, scheme, amount and payee, then the newer version and the longer time-out first. */
function getSortKey(offer: Terms): string {
  const descending = [3 - (offer.x402_version ?? 0), 1e6 - (offer.max_timeout_seconds ?? 0)];
  const [version, timeout] = descending.map((value) => String(value).padStart(8, '0'));
  const amount = String(offer.amount).padStart(16, '0');
  return [offer.network, offer.scheme, amount, offer.pay_to ?? '', version, timeout].join('|');
}

type FeedItemOptions = Pick<FeedOptions, 'allowPrivateNetworks' | 'pulledAt'>;

interface ItemBase {
  /** Key within the feed, as returned by `getFeedItemKey`. */
  key: string;
  /** Hash of its whole content. */
  hash: string;
  /** Name of the item in findings. */
  name: string;
  findings: Finding[];
}

/** An item that becomes a route. */
export interface TakenItem extends ItemBase {
  outcome: 'taken';
  /** The base address of its listing: the origin with its port. */
  base_url: string;
  route: DeclaredRoute;
  words: ItemWords;
  updated_at: string | null;
}

/** An item that does not become a route, and the reason. One of its findings is `refused` and has this code. */
interface RefusedItem extends ItemBase {
  outcome: 'refused';
  code: FindingCode;
}

export type FeedItem = TakenItem | RefusedItem;

/**
 * Parses one item of a Bazaar feed, of any protocol version and shape seen so far, into a route with its terms. Never
 * throws: everything that cannot be taken becomes a finding, whose code is explained in `FINDING_CODES`. Its place is
 * below `itemPlace`, the JSON pointer of the item; `addressPlace` is where the item has its address, if it had another name.
 */
export function parseFeedItem(raw: unknown, options: FeedItemOptions, itemPlace = '', addressPlace?: string): FeedItem {
  const key = getFeedItemKey(raw);
  const hash = getItemHash(raw);
  const name = getItemName(raw, key, hash);
  const notes = new Map<string, Finding>();
  const note: Note = (code, message, place = '') => {
    const finding = buildFinding('noted', code, name, message, `${itemPlace}${place}`);
    const known = `${code} ${finding.message}`;
    if (!notes.has(known)) notes.set(known, finding);
  };
  const refuse = (code: FindingCode, place = '', message?: string): RefusedItem => ({
    outcome: 'refused',
    key,
    hash,
    name,
    code,
    findings: [buildFinding('refused', code, name, message, `${itemPlace}${place}`)],
  });

  if (!isObject(raw)) return refuse('not_an_item');
  const tool = findFeedTool(raw);
  if (raw.type !== undefined && raw.type !== 'http' && !tool) return refuse('not_http_type', '/type');
  const resource = findResourcePlace(raw);
  if (resource === undefined) return refuse('no_resource', addressPlace ?? '/resource');
  const place = addressPlace ?? resource.place;
  const url = parseResourceUrl(resource.address, options, (code, message) => note(code, message, place));
  if (!(url instanceof URL)) return refuse(url.code, place, url.message);
  const method = httpMethod.safeParse(tool ? 'POST' : (listMethods(raw)[0] ?? 'GET'));
  if (!method.success) return refuse('bad_method', findMethodPlace(raw));
  const terms = readItemTerms(raw, note);
  if (!Array.isArray(terms)) return refuse(terms.code, terms.place, terms.message);

  noteMethodAndAddress(raw, { address: resource.address, isTool: tool !== undefined }, note);
  if (hasWildcard(url)) note('wildcard_path', undefined, place);
  const description = findDescription(raw) ?? tool?.input.description;
  const facts = { method: method.data, url, tool, description, mimeType: findMimeType(raw), payment: { terms } };
  const route = readItemRoute(raw, facts, note);
  const whole = readText(description, 'description', note);
  return {
    outcome: 'taken',
    key,
    hash,
    name,
    base_url: url.origin,
    route,
    words: { ...(whole !== route.description && { text: whole }), ...readItemWords(raw, options, note) },
    updated_at: readUpdatedAt(raw.lastUpdated ?? raw.last_updated ?? raw.updatedAt, options.pulledAt, note),
    findings: [...notes.values()],
  };
}

/** Facts about an item's route, besides its request and answer. */
interface RouteFacts {
  method: DeclaredRoute['method'];
  url: URL;
  tool?: FeedTool | undefined;
  description: unknown;
  mimeType: unknown;
  payment: Pick<DeclaredRoute, 'terms' | 'network_assumed' | 'payment_identifier'>;
}

/** Reads the route of an item. The order of its fields is that of stored declarations, which are compared as text. */
export function readItemRoute(
  raw: unknown,
  { method, url, tool, description, mimeType, payment }: RouteFacts,
  note: Note,
): DeclaredRoute {
  const holders = [raw, ...listOffers(raw)].map((holder) => findPaymentIdentifier(findMember(holder, 'extensions')));
  const payment_identifier = holders.find((found) => found !== undefined);
  return {
    method,
    path: `${getTemplatePath(url)}${tool ? `#${tool.name}` : ''}`,
    description: readText(description, 'route_description', note),
    mime_type: readMimeType(mimeType, note),
    ...(tool ? readToolRequest(tool, note) : readRequest(raw, method, note)),
    output_schema: readOutputSchema(raw, note),
    ...payment,
    ...(payment_identifier && { payment_identifier }),
  };
}

function noteMethodAndAddress(
  raw: unknown,
  { address: resource, isTool }: { address: string; isTool: boolean },
  note: Note,
): void {
  const methods = isTool ? ['POST'] : listMethods(raw);
  if (methods.length === 0) note('method_assumed');
  if (methods.length > 1)
    note(
      'method_differs',
      `The item declares ${formatQuote(methods.join(', '))}; ${formatQuote(methods[0] ?? '')} is taken.`,
      findMethodPlace(raw),
    );
  const others = listOffers(raw).map((offer) => findMember(offer, 'resource'));
  const other = others.findIndex((address) => typeof address === 'string' && !isSameAddress(address, resource));
  if (other >= 0) note('resource_differs', undefined, formatPointer('accepts', other, 'resource'));
}

/** Returns whether two addresses are one, however they are written. */
function isSameAddress(a: string, b: string): boolean {
  return a === b || URL.parse(a, b)?.href === URL.parse(b)?.href;
}

/** Returns the place of the method that counts; the place of the description if the method is not in it. */
function findMethodPlace(raw: unknown): string {
  const places = [['method'], ['resource', 'method'], ['extensions', 'bazaar', 'info', 'input', 'method']];
  const place = places.find((path) => typeof findMember(raw, ...path) === 'string');
  return place ? formatPointer(...place) : '';
}

function getItemName(raw: unknown, key: string, hash: string): string {
  if (!key.startsWith('sha256:')) return cutText(removeInvisible(key), 200);
  const resource = findResourcePlace(raw)?.address;
  return resource?.trim() ? cutText(removeInvisible(resource.slice(0, 500)), 200) : `item ${hash.slice(0, 12)}`;
}

function findDescription(raw: unknown): unknown {
  const offers = listOffers(raw);
  return findText([
    findMember(raw, 'description'),
    findMember(raw, 'resource', 'description'),
    findMember(raw, 'metadata', 'description'),
    ...offers.map((offer) => findMember(offer, 'description')),
    ...offers.map((offer) => findMember(offer, 'extra', 'description')),
  ]);
}

function findMimeType(raw: unknown): unknown {
  const offers = listOffers(raw).map((offer) => findMember(offer, 'mimeType'));
  const places = [findMember(raw, 'mimeType'), findMember(raw, 'resource', 'mimeType'), ...offers];
  return places.find((place) => place !== undefined && place !== null && place !== '');
}

/** Longest time by which a date may be ahead of our clock and count as now, in milliseconds: clocks differ. */
const CLOCK_TOLERANCE_MS = DAY_MS;

/** Earliest time of a valid date: the x402 protocol did not exist before. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);

/**
 * Reads when a feed last saw an item: ISO 8601, or seconds or milliseconds since 1970. Returns ISO 8601 UTC, at most
 * `pulledAt`; null if the date is missing or invalid. An invalid date is noted.
 */
function readUpdatedAt(raw: unknown, pulledAt: string, note: Note): string | null {
  if (raw === undefined || raw === null || raw === '') return null;
  const time =
    typeof raw === 'number' ? (raw < 1e11 ? raw * 1000 : raw) : typeof raw === 'string' ? Date.parse(raw) : Number.NaN;
  const now = Date.parse(pulledAt);
  if (!(time >= EARLIEST_MS && time <= now + CLOCK_TOLERANCE_MS)) {
    note('bad_date', undefined, '/lastUpdated');
    return null;
  }
  return new Date(Math.min(time, now)).toISOString();
}

/**
 * Reads the further words of an item: its name, and those about its service. `extra.name` is the name of the token and is not
 * read. A documentation address that could not be fetched is left out.
 */
export function readItemWords(raw: unknown, options: { allowPrivateNetworks: boolean }, note: Note): ItemWords {
  const holders = [raw, findMember(raw, 'resource'), findMember(raw, 'metadata')];
  const extras = listOffers(raw).map((offer) => findMember(offer, 'extra'));
  const docs = findNamedText([...holders, ...extras], ['docs_url', 'docsUrl', 'documentationUrl']);
  const docsUrl = docs === undefined ? undefined : parseListedUrl(docs, options);
  const name = readText(findNamedText([holders[2], holders[1], raw], ['name', 'title']), 'title', note);
  const service_name = readText(findNamedText([...holders, ...extras], ['serviceName']), 'title', note);
  const site_title = readSiteTitle(holders, note);
  const description = readText(findNamedText([...holders, ...extras], ['serviceDescription']), 'description', note);
  const tags = readTags([...holders, ...extras]);
  return {
    ...(name && { name }),
    ...(service_name && { service_name }),
    ...(site_title && { site_title }),
    ...(description && { description }),
    ...(docsUrl instanceof URL && { docs_url: docsUrl.href }),
    ...(tags.length > 0 && { tags }),
  };
}

/** Reads the title of the site that a feed found at the host, up to the separator before its slogan. */
function readSiteTitle(holders: unknown[], note: Note): string {
  const sites = holders.flatMap((holder) => [findMember(holder, 'origin'), findMember(holder, 'site')]);
  const title = findNamedText(holders, ['siteTitle']) ?? findNamedText(sites, ['title']);
  const [name = ''] = readText(title, 'title', note).split(/ [|–—·-] /, 1);
  return name;
}

/** Most tags of one item that are read, and the longest one, in UTF-16 units. */
const MAX_TAGS = 20;
const TAG_LENGTH = 40;

/** Reads the tags of an item, and its category, which is one more: short words in small letters, each once. */
function readTags(holders: unknown[]): string[] {
  const tags = holders.map((holder) => findMember(holder, 'tags')).find(Array.isArray) ?? [];
  const category = findNamedText(holders, ['category']);
  const read = [...tags, ...(category === undefined ? [] : [category])];
  const clean = read.slice(0, MAX_TAGS).map((tag) => cleanText(tag, 'title').toLowerCase());
  return [...new Set(clean)].filter((tag) => tag !== '' && tag.length <= TAG_LENGTH);
}

function findNamedText(holders: unknown[], names: string[]): string | undefined {
  return findText(holders.flatMap((holder) => names.map((name) => findMember(holder, name))));
}
