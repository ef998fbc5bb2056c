import { isObject, type JsonObject, writeScalar } from '../../model/json.ts';
import { findNamedNetwork, findNetwork, NETWORKS, type NetworkKey } from '../../model/network.ts';
import { httpMethod } from '../../model/request.ts';
import { PAYEE_NAMES } from '../../x402/ambiguities.ts';
import { findAccount, parsePayTo } from '../../x402/offer-fields.ts';
import { findResourcePlace, listMethods, listOffers } from '../bazaar/item.ts';
import { formatPointer } from '../findings.ts';
import { findMember, listNamed, type Named } from '../json-value.ts';
import { findStatedPrice, PAYMENT_HOLDERS, type StatedPrice } from '../payment-info.ts';

/** Most resources that are taken from one file. */
export const MAX_RESOURCES = 2_000;

/** Names of a list or a map of resources, without case and punctuation, in all shapes seen so far. */
const LIST_NAMES = new Set([
  ...['items', 'resources', 'endpoints', 'services', 'routes', 'apis', 'products', 'tools', 'operations', 'offerings'],
  ...['paidendpoints', 'paidapis', 'paidroutes', 'paidresources', 'paidhttpresources', 'payableendpoints'],
  ...['x402endpoints', 'x402resources', 'protectedresources', 'protectedroutes', 'catalog', 'catalogue'],
  ...['capabilitycatalog', 'resourcedetails', 'endpointdetails', 'routedetails', 'pricing', 'prices'],
]);

/** Names of an object that may hold such a list. */
const HOLDER_NAMES = new Set(['x402', 'payment', 'payments', 'api', 'discovery', 'manifest', 'data', 'service']);

/** Names of the base address for relative ones. */
const BASE_NAMES = new Set(['baseurl', 'servicebaseurl', 'apibaseurl', 'apibase', 'origin', 'server', 'serverurl']);

/** Names of the address of an OpenAPI document, and of objects that may hold one. */
const OPENAPI_NAMES = new Set(['openapi', 'openapiurl', 'openapispec', 'openapijson', 'openapidocument']);
const LINK_HOLDERS = new Set([
  'contracts',
  'links',
  'docs',
  'documentation',
  'discovery',
  'x402',
  'service',
  'publisher',
]);

/** One entry of a file: its content and its place. */
export interface Entry {
  raw: unknown;
  /** JSON pointer in the file. */
  place: string;
  /** Base address for relative ones, or null. */
  base: string | null;
  /** The service of several that lists it; absent for an entry of the file itself. */
  service?: JsonObject;
}

/**
 * Lists the entries of all lists of a `/.well-known/x402` file, also of maps by address and of lists within services;
 * undefined if there is no list. A file about one resource has only its offers (`accepts`), each of which is an entry.
 */
export function listEntries(file: unknown, url: string | null): Entry[] | undefined {
  const base = findBase(file, url);
  if (Array.isArray(file))
    return file.slice(0, MAX_RESOURCES + 1).map((raw, index) => ({ raw, place: `/${index}`, base }));
  const found = listEntriesIn(file, '', base, 0);
  if (found) return found;
  const accepts = findMember(file, 'accepts');
  if (!Array.isArray(accepts)) return undefined;
  const version = findMember(file, 'x402Version');
  return accepts.slice(0, MAX_RESOURCES + 1).map((offer, index) => ({
    raw: { x402Version: version, accepts: [offer] },
    place: formatPointer('accepts', index),
    base,
  }));
}

function listEntriesIn(holder: unknown, place: string, base: string | null, depth: number): Entry[] | undefined {
  const lists = listNamed(holder).flatMap(([normal, member, name]) => {
    const below = `${place}${formatPointer(name)}`;
    if (LIST_NAMES.has(normal)) {
      const members = listMembers(normal, member);
      return members
        ? [members.flatMap(([key, raw]) => listEntriesOf(raw, `${below}${formatPointer(key)}`, base, depth))]
        : [];
    }
    const nested = HOLDER_NAMES.has(normal) && depth < 2 ? listEntriesIn(member, below, base, depth + 1) : undefined;
    return nested ? [nested] : [];
  });
  return lists.length > 0 ? lists.flat().slice(0, MAX_RESOURCES + 1) : undefined;
}

/**
 * Lists the members of a list, or of a map by address or by name; undefined for a value that is no list of resources.
 */
function listMembers(normal: string, member: unknown): [key: string | number, raw: unknown][] | undefined {
  const isAboutPrices = normal === 'pricing' || normal === 'prices';
  if (Array.isArray(member)) {
    if (isAboutPrices && !member.some((one) => findAddress(one) !== undefined)) return undefined;
    return member.slice(0, MAX_RESOURCES + 1).map((raw, index) => [index, raw]);
  }
  if (!isObject(member)) return undefined;
  const entries = Object.entries(member).slice(0, MAX_RESOURCES + 1);
  const isMap = entries.some(
    ([key, value]) =>
      isAddress(key) ||
      (!isAboutPrices && (findAddress(value) !== undefined || (typeof value === 'string' && isPayableLine(value)))),
  );
  if (!isMap) return undefined;
  const routes = entries.filter(([key, value]) => isAddress(key) || typeof value !== 'string' || isPayableLine(value));
  return routes.map(([key, value]) => [key, nameEntry(key, value)]);
}

/** Returns whether the value of a map by name is the address of a route: whole, or a path with its method. */
function isPayableLine(text: string): boolean {
  const [, method] = RESOURCE_LINE.exec(text.slice(0, MAX_ADDRESS)) ?? [];
  return isAddress(text) && (method !== undefined || /^\s*https?:/i.test(text));
}

/** Returns an entry of a map with its key as its address, unless it has one. */
function nameEntry(key: string, value: unknown): unknown {
  if (!isAddress(key)) return value;
  if (isObject(value)) return findAddress(value) === undefined ? { ...value, path: key } : value;
  return typeof value === 'string' || typeof value === 'number' ? { path: key, price: value } : key;
}

/** Returns an entry, or the entries of the lists within it: those of one service of several. */
function listEntriesOf(raw: unknown, place: string, base: string | null, depth: number): Entry[] {
  const own: Entry = { raw, place, base: findBase(raw, base) };
  if (!isObject(raw) || depth >= 2 || Array.isArray(raw.accepts)) return [own];
  const inner = listNamed(raw).some(([normal]) => LIST_NAMES.has(normal) && !['pricing', 'prices'].includes(normal));
  const address = findAddress(raw);
  const parent = address !== undefined && /^https?:/i.test(address) ? address : base;
  const nested = inner ? listEntriesIn(raw, place, findBase(raw, parent), depth + 1) : undefined;
  return nested && nested.length > 0 ? nested.map((entry) => ({ service: raw, ...entry })) : [own];
}

function findBase(holder: unknown, url: string | null): string | null {
  const stated = listNamed(holder).find(
    ([normal, member]) => BASE_NAMES.has(normal) && typeof member === 'string',
  )?.[1];
  const address = typeof stated === 'string' ? URL.parse(stated, url ?? undefined) : null;
  if (!address || !/^https?:$/.test(address.protocol)) return url;
  // Relative paths are below the whole base address, and not beside its last segment.
  return address.pathname.endsWith('/') || stated === url ? address.href : `${address.origin}${address.pathname}/`;
}

/** `https://…`, `/v1/x`, or either with the method before it. */
const RESOURCE_LINE = /^\s*(?:([A-Za-z]{3,7})\s+)?(\S+)\s*$/;

const MAX_ADDRESS = 2_200;

function isAddress(text: string): boolean {
  const [, , address = ''] = RESOURCE_LINE.exec(text.slice(0, MAX_ADDRESS)) ?? [];
  return /^(?:https?:\/\/|\/)/i.test(address);
}

/** The address and the method of an entry. */
export interface Resource {
  entry: Entry;
  /** Full address; undefined if there is none. */
  address: string | undefined;
  method: string | undefined;
  /** JSON pointer of the address in the file. */
  place: string;
}

/** Names of the address of an entry, without case and punctuation, besides those that items of feeds have. */
const ADDRESS_NAMES = ['url', 'endpoint', 'path', 'route', 'href', 'uri', 'fullurl', 'endpointurl', 'pathpattern'];
const METHOD_NAMES = new Set(['method', 'httpmethod', 'verb', 'methods']);

/** Lists the resources of an entry: one for each method that it names. */
export function listResources(entry: Entry): Resource[] {
  const resource = locateResource(entry);
  const [, ...others] = listMethodsOf(entry.raw);
  return [resource, ...others.map((method) => ({ ...resource, method }))];
}

/** Finds the address and the first method of an entry, which is text or an object of any shape seen so far. */
export function locateResource(entry: Entry): Resource {
  const { raw, base } = entry;
  const stated = typeof raw === 'string' ? { address: raw, place: '' } : findAddressPlace(raw);
  const [, before, address] = RESOURCE_LINE.exec((stated?.address ?? '').slice(0, MAX_ADDRESS)) ?? [];
  // A bare word is a name and not an address, although it could be one below the base.
  const isBareWord = address === undefined || (typeof raw === 'string' && !address.includes('/'));
  const below = address?.startsWith('/') && base !== null ? joinBase(base, address) : address;
  const url = isBareWord || below === undefined ? null : URL.parse(below, base ?? undefined);
  return {
    entry,
    address: url?.href ?? (isBareWord ? undefined : address),
    method: listMethodsOf(raw)[0] ?? before?.toUpperCase(),
    place: `${entry.place}${stated?.place ?? ''}`,
  };
}

/** Joins a path and the path of a base address. A document of its own is no base: its paths begin at the root. */
function joinBase(base: string, path: string): string {
  const url = URL.parse(base);
  if (!url?.pathname.endsWith('/') || url.pathname === '/' || path.startsWith('//')) return path;
  return path.startsWith(url.pathname) ? path : `${url.pathname.slice(0, -1)}${path}`;
}

function findAddress(raw: unknown): string | undefined {
  return typeof raw === 'string' ? undefined : findAddressPlace(raw)?.address;
}

function findAddressPlace(raw: unknown): { address: string; place: string } | undefined {
  const item = findResourcePlace(raw);
  if (item) return item;
  const members = listNamed(raw);
  for (const wanted of ADDRESS_NAMES) {
    const found = members.find(([normal, member]) => normal === wanted && typeof member === 'string');
    if (found) return { address: String(found[1]), place: formatPointer(found[2]) };
  }
  const extra = findMember(listOffers(raw)[0], 'extra', 'resource');
  return typeof extra === 'string' ? { address: extra, place: '/accepts/0/extra/resource' } : undefined;
}

/**
 * Lists the methods of an entry, in capitals and each once: several are a list or one text (`GET,POST`). If none is a method
 * of HTTP, the first word that stands for one is returned alone.
 */
function listMethodsOf(raw: unknown): string[] {
  const member = listNamed(raw).find(([normal]) => METHOD_NAMES.has(normal))?.[1];
  const stated = listMethods(raw)[0] ?? (Array.isArray(member) ? member.slice(0, 20) : [member]);
  const words = [stated]
    .flat()
    .flatMap((text) =>
      typeof text === 'string'
        ? text
            .trim()
            .slice(0, 40)
            .toUpperCase()
            .split(/[,|/\s]+/)
        : [],
    )
    .filter((word) => word !== '');
  const known = words.filter((word) => httpMethod.safeParse(word).success);
  return known.length > 0 ? [...new Set(known)] : words.slice(0, 1);
}

/** Text by which an entry says that it costs nothing. */
const FREE = /\(\s*free\s*\)/i;

/** Returns whether an entry says that it costs nothing, and states no price and no offer of its own. */
export function isFree(raw: unknown): boolean {
  const says = [findMember(raw, 'free'), findMember(raw, 'isFree')].includes(true) || findMember(raw, 'paid') === false;
  const prices = ['price', 'pricing', 'cost'].map((name) => findMember(raw, name));
  if (says || prices.some((price) => typeof price === 'string' && /^\s*free\s*$/i.test(price))) return true;
  const texts = ['name', 'title', 'description', 'summary', 'purpose'].map((name) => findMember(raw, name));
  return (
    listOffers(raw).length === 0 &&
    !findStatedPrice(raw) &&
    texts.some((text) => FREE.test(writeScalar(text).slice(0, 500)))
  );
}

/** Finds the address of the OpenAPI document that a file names, relative to `url`; null if it names none. */
export function findOpenApiAddress(file: unknown, url: string | null): string | null {
  const holders = [file, ...listNamed(file).flatMap(([normal, member]) => (LINK_HOLDERS.has(normal) ? [member] : []))];
  for (const holder of holders) {
    const named = listNamed(holder).find(([normal]) => OPENAPI_NAMES.has(normal))?.[1];
    const address = isObject(named) ? (named.url ?? named.href) : named;
    if (typeof address !== 'string' || !/[/.]/.test(address) || /^\d/.test(address)) continue;
    const found = URL.parse(address, url ?? undefined);
    if (found && /^https?:$/.test(found.protocol)) return found.href;
  }
  return null;
}

/** Returns whether a file says by a member of its own that it is about x402. */
export function namesX402(file: unknown): boolean {
  return listNamed(file).some(([normal]) => normal === 'x402version' || normal === 'x402');
}

/** One way to pay: a network with the payee and the asset there, as far as they are stated. */
interface Way {
  network: string;
  pay_to: unknown;
  asset: unknown;
}

/** Most ways to pay. */
const MAX_WAYS = 16;

/** Names of lists of ways to pay. */
const WAY_LISTS = new Set([
  ...['rails', 'accepts', 'methods', 'options', 'networks', 'chains', 'paymentmethods', 'acceptednetworks', 'pricing'],
]);

const STATED_PAYEES = new Set([...PAYEE_NAMES, 'wallets', 'recipients', 'payees']);
const NETWORK_NAMES = new Set(['network', 'networks', 'chain', 'chains', 'chainid', 'caip2', 'networkid']);

/** Lists the ways to pay that an object states: its own, those of objects about paying in it, and those of its lists. */
function listWays(holder: unknown, depth = 0): Way[] {
  const members = listNamed(holder);
  const payee =
    members.find(([normal]) => STATED_PAYEES.has(normal))?.[1] ??
    (depth > 0 ? findMember(holder, 'address') : undefined);
  const asset = readAsset(findMember(holder, 'asset') ?? findMember(holder, 'token'));
  const networks = members
    .filter(([normal]) => NETWORK_NAMES.has(normal))
    .flatMap(([, member]) => readNetworks(member));
  const keyed = isObject(payee) ? Object.keys(payee).slice(0, MAX_WAYS).map(readNetwork) : [];
  const named = [...new Set(networks.length > 0 ? networks : keyed)];
  const own = named.map((network) => ({
    network,
    asset,
    pay_to: findPayee(payee, network) ?? findNamedPayee(members, network),
  }));
  if (depth >= 2) return own.slice(0, MAX_WAYS);
  const nested = members.flatMap(([normal, member]) => {
    if (WAY_LISTS.has(normal) && Array.isArray(member)) {
      return member.slice(0, MAX_WAYS).flatMap((one) => (isObject(one) ? listWays(one, depth + 1) : []));
    }
    return PAYMENT_HOLDERS.has(normal) && isObject(member) ? listWays(member, depth + 1) : [];
  });
  return mergeWays([...nested, ...own], payee);
}

/** Merges ways on the same network: the first that states a payee or an asset counts. */
function mergeWays(ways: readonly Way[], payee: unknown): Way[] {
  const merged = new Map<string, Way>();
  for (const way of ways) {
    const known = merged.get(way.network);
    const pay_to = known?.pay_to ?? way.pay_to ?? findPayee(payee, way.network);
    merged.set(way.network, { network: way.network, pay_to, asset: known?.asset ?? way.asset });
  }
  return [...merged.values()].slice(0, MAX_WAYS);
}

/** Returns the payee on a network: the one of the network in a map; one that fits the network in a list or a text. */
function findPayee(payee: unknown, network: string): unknown {
  const key = findNetwork(network)?.key;
  if (isObject(payee)) {
    const entry = Object.entries(payee)
      .slice(0, MAX_WAYS)
      .find(([name]) => readNetwork(name) === network);
    const value = entry?.[1];
    return isObject(value) ? (value.payTo ?? value.address) : value;
  }
  const all = (Array.isArray(payee) ? payee.slice(0, MAX_WAYS) : [payee]).filter((one) => typeof one === 'string');
  return (
    all.find((one) => key !== undefined && parsePayTo(key, one) !== undefined) ??
    (isOfOtherFamily(all, key) ? undefined : all[0])
  );
}

/** Finds a payee whose name says its network: `pay_to_base`. */
function findNamedPayee(members: readonly Named[], network: string): unknown {
  const named = members.find(([normal]) => [...PAYEE_NAMES].some((name) => normal === `${name}${network}`));
  return named?.[1];
}

/** Returns whether a payee is an account of another family than that of a network, and so says nothing about it. */
function isOfOtherFamily(payees: readonly unknown[], key: NetworkKey | undefined): boolean {
  const families = payees.map((one) => findAccount(one)?.family).filter((family) => family !== undefined);
  return key !== undefined && families.some((family) => family !== NETWORKS[key].family);
}

function readNetworks(raw: unknown): string[] {
  const list = Array.isArray(raw) ? raw.slice(0, MAX_WAYS) : [raw];
  return list
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .map((one) => readNetwork(String(one)));
}

/** Spells the names of a main network as x402 does; everything else stays as it is. */
function readNetwork(raw: string): string {
  const name = raw.trim();
  return findNamedNetwork(name)?.key ?? name;
}

function readAsset(raw: unknown): unknown {
  const asset = isObject(raw) ? raw.address : raw;
  return typeof asset === 'string' && /^(?:usdc?|usd coin)$/i.test(asset.trim()) ? undefined : asset;
}

/** A payment as an OpenAPI operation would state it, and the place of its price in the entry. */
export interface StatedPayment {
  info: Record<string, unknown>;
  place: string;
  isAmbiguous: boolean;
  /** The price is that of the whole file. */
  isOfFile: boolean;
}

/**
 * Builds the payment information of an entry from what it and its file state: the price from the entry, else from one of
 * its offers, else from the file; networks and payees likewise. Undefined if no price is stated.
 */
export function findStatedPayment(entry: unknown, file: unknown): StatedPayment | undefined {
  const own = findStatedPrice(entry) ?? findOfferPrice(entry);
  const price = own ?? findStatedPrice(file);
  if (!price) return undefined;
  const ways = listWays(entry);
  const all = mergeWays([...(ways.length > 0 ? ways : listWays(file))], findPayeeOf(entry) ?? findPayeeOf(file));
  const { amount, currency, mode, unit } = price;
  const details = all.map(({ network, asset, pay_to }) => ({
    network,
    ...(asset !== undefined && { asset }),
    ...(pay_to !== undefined && { payTo: pay_to }),
    ...(unit === 'atomic' && { maxAmountRequired: String(amount) }),
  }));
  const info = {
    protocols: (details.length > 0 ? details : [unit === 'atomic' ? { maxAmountRequired: String(amount) } : {}]).map(
      (x402) => ({ x402 }),
    ),
    ...(unit === 'decimal' && { price: { mode, currency, amount } }),
  };
  return { info, place: price.place, isAmbiguous: unit === 'ambiguous', isOfFile: own === undefined };
}

function findOfferPrice(entry: unknown): StatedPrice | undefined {
  for (const [index, offer] of listOffers(entry).entries()) {
    const found = findStatedPrice(offer, 0, true);
    if (found) return { ...found, place: `${formatPointer('accepts', index)}${found.place}` };
  }
  return undefined;
}

function findPayeeOf(holder: unknown): unknown {
  return listNamed(holder).find(([normal]) => STATED_PAYEES.has(normal))?.[1];
}
