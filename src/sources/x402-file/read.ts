import { isObject, type JsonObject } from '../../model/json.ts';
import { httpMethod } from '../../model/request.ts';
import { cutText } from '../../model/text.ts';
import { type FeedItem, mergeFeedItems, parseFeedItem, readItemRoute, readItemWords } from '../bazaar/feed.ts';
import { listOffers } from '../bazaar/item.ts';
import { removeInvisible } from '../clean-string.ts';
import {
  type ApiDocument,
  type ApiDocumentOptions,
  buildDocumentDeclarations,
  type RouteAtAddress,
  type ServiceTexts,
} from '../document-declarations.ts';
import {
  type DocumentFindings,
  FINDING_CODES,
  type FindingCode,
  type ItemFindings,
  noteBelow,
  openDocumentFindings,
} from '../findings.ts';
import { findMember, findText } from '../json-value.ts';
import { hasWildcard, parseResourceUrl } from '../outside-address.ts';
import { type Payment, readPayment } from '../payment-info.ts';
import {
  type Entry,
  findOpenApiAddress,
  findStatedPayment,
  isFree,
  listEntries,
  listResources,
  locateResource,
  MAX_RESOURCES,
  namesX402,
  type Resource,
  type StatedPayment,
} from './entries.ts';

/** Codes of offers that cannot be taken although the entry may state its payment in another way. */
const STATED_INSTEAD: ReadonlySet<FindingCode> = new Set([
  ...(['no_offers', 'no_amount', 'bad_amount', 'asset_not_an_address', 'no_asset', 'unsupported_network'] as const),
]);

/**
 * Reads a `/.well-known/x402` file, in all shapes seen so far: entries with offers as in a feed, entries with a price
 * beside their address, and bare addresses, which become routes without terms. Returns one declaration for each origin;
 * undefined for JSON that is no such file.
 */
export function readX402File(file: unknown, options: ApiDocumentOptions): ApiDocument | undefined {
  const url = options.url ?? options.base_url;
  const openapi_url = findOpenApiAddress(file, url);
  const listed = listEntries(file, url) ?? (openapi_url !== null && namesX402(file) ? [] : undefined);
  if (!listed) return undefined;
  const findings = openDocumentFindings(options.name);
  const entries = addOffersOfFile(file, listed.slice(0, MAX_RESOURCES), findings);
  if (listed.length > MAX_RESOURCES) findings.note('too_many_operations');
  const resources = entries.flatMap(listResources);
  const context = { file, options, findings };
  const offering = new Map(
    resources.flatMap((resource) => {
      const item = parseOffers(resource, context);
      return item ? [[resource, item] as const] : [];
    }),
  );
  const items = { received: resources.length, taken: 0, duplicates: 0, refused: 0 };
  const { now, allowPrivateNetworks } = options;
  const feed = { feed: options.name, pulledAt: now, isFile: true, allowPrivateNetworks };
  const priced = mergeFeedItems([...offering.values()], feed);
  for (const { outcome } of priced.outcomes) items[outcome === 'duplicate' ? 'duplicates' : outcome] += 1;
  const routes = priced.declarations.flatMap(({ base_url, routes: own }) => own.map((route) => ({ base_url, route })));
  const known = new Set(routes.flatMap(listRouteKeys));
  const others = resources.filter((resource) => !offering.has(resource));
  const read = others.map((resource) => ({ resource, stated: findStated(resource.entry.raw, file) }));
  // Entries with a price come first, so that a bare address of another list never hides one.
  for (const { resource, stated } of [...read.filter((one) => one.stated), ...read.filter((one) => !one.stated)]) {
    const found = readEntry(resource, stated, context);
    if (!found) items.refused += 1;
    else if (isKnown(known, found, resource)) items.duplicates += 1;
    else {
      for (const key of listRouteKeys(found)) known.add(key);
      found.keep();
      routes.push({ base_url: found.base_url, route: found.route });
      items.taken += 1;
    }
  }
  const words = findServiceTexts(file);
  const declarations = buildDocumentDeclarations('x402_file', routes, words, options, findings, items);
  return {
    kind: 'x402_file',
    declarations,
    findings: [...findings.list(), ...priced.findings],
    items,
    openapi_url,
  };
}

interface Context {
  file: unknown;
  options: ApiDocumentOptions;
  findings: DocumentFindings;
}

/**
 * Adds the offers of the whole file (`accepts`) to its entries: an offer that names an address goes to the entry there,
 * or becomes an entry of its own; an offer that names none goes to each entry that states no payment itself.
 */
function addOffersOfFile(file: unknown, entries: Entry[], findings: DocumentFindings): Entry[] {
  const isAlone = entries.every(({ place }) => place.startsWith('/accepts/'));
  const offers = isAlone ? [] : listOffers(file);
  const version = findMember(file, 'x402Version');
  const located = offers.flatMap((offer) => {
    const address = findMember(offer, 'resource') ?? findMember(offer, 'extra', 'resource');
    return typeof address === 'string'
      ? [{ offer, address: URL.parse(address, entries[0]?.base ?? undefined)?.href ?? address }]
      : [];
  });
  const placed = new Set(located.map(({ offer }) => offer));
  const general = offers.filter((offer) => !placed.has(offer) && hasAmount(offer));
  const addresses = new Map(entries.map((entry) => [locateResource(entry).address, entry]));
  const own = Map.groupBy(located, ({ address }) => address);
  const added = [...own].flatMap(([address, group]): Entry[] => {
    if (addresses.has(address)) return [];
    const raw = { resource: address, x402Version: version, accepts: group.map(({ offer }) => offer) };
    return [{ raw, place: '/accepts', base: null }];
  });
  return [...entries, ...added].map((entry) => {
    const group = own.get(locateResource(entry).address ?? '')?.map(({ offer }) => offer);
    if (Array.isArray(findMember(entry.raw, 'accepts')) || isFree(entry.raw)) return entry;
    const stated = findStatedPayment(entry.raw, undefined);
    const accepts = group ?? (general.length > 0 && !stated ? general : undefined);
    if (!accepts) return entry;
    if (!group) findings.count('price_of_file');
    const raw = isObject(entry.raw) ? entry.raw : { resource: entry.raw };
    return { ...entry, raw: { x402Version: version, ...raw, accepts } };
  });
}

function hasAmount(offer: unknown): boolean {
  return ['amount', 'maxAmountRequired'].some((name) => findMember(offer, name) !== undefined);
}

/** Parses an entry by its offers. Undefined if it has none, or if it states a payment that is read instead. */
function parseOffers(resource: Resource, { file, options }: Context): FeedItem | undefined {
  const { raw, place } = resource.entry;
  if (!Array.isArray(findMember(raw, 'accepts'))) return undefined;
  const addressPlace = resource.place.slice(place.length);
  const item = parseFeedItem(buildItem(resource), { ...options, pulledAt: options.now }, place, addressPlace);
  const isTaken = item.outcome === 'taken' || !STATED_INSTEAD.has(item.code) || findStated(raw, file) === undefined;
  return isTaken ? item : undefined;
}

/** Finds the stated payment of an entry, unless it says itself that it costs nothing. */
function findStated(raw: unknown, file: unknown): StatedPayment | undefined {
  return isFree(raw) ? undefined : findStatedPayment(raw, file);
}

/**
 * Builds a feed item from an entry: with the texts of its service, its full address, its method, and its schemas if they are
 * known.
 */
function buildItem({ entry, address, method }: Resource): unknown {
  const { raw } = entry;
  if (!isObject(raw) || address === undefined) return raw;
  const resource = isObject(raw.resource) ? { ...raw.resource, url: address } : address;
  const input = findObject(raw, 'inputSchema', 'input_schema', 'requestSchema', 'request_schema');
  const output = findObject(raw, 'responseSchema', 'response_schema', 'output_schema') ?? findAnswerSchema(raw);
  const described = raw.extensions === undefined && (input ?? output) !== undefined;
  const bazaar = { ...(input && { inputSchema: input }), ...(output && { output: { schema: output } }) };
  return {
    ...getServiceTexts(entry),
    ...raw,
    description: findDescription(raw),
    resource,
    ...(method !== undefined && { method }),
    ...(described && { extensions: { bazaar } }),
  };
}

/** Finds the text of an entry about what it does. */
function findDescription(raw: unknown): unknown {
  const places = [['description'], ['resource', 'description'], ['summary'], ['purpose']];
  return findText(places.map((path) => findMember(raw, ...path)));
}

function getServiceTexts({ service = {} }: Entry): JsonObject {
  return { serviceName: service.name ?? service.title, serviceDescription: service.description };
}

function findObject(raw: JsonObject, ...names: string[]): JsonObject | undefined {
  return names.map((name) => raw[name]).find(isObject);
}

/** Finds an `outputSchema` that is a JSON Schema; feeds have one with `input` and `output` in it. */
function findAnswerSchema({ outputSchema }: JsonObject): JsonObject | undefined {
  if (!isObject(outputSchema) || isObject(outputSchema.input) || isObject(outputSchema.output)) return undefined;
  return outputSchema;
}

/** Reads an entry without offers into a route, or refuses it. */
function readEntry(
  resource: Resource,
  stated: StatedPayment | undefined,
  { options, findings }: Context,
): (RouteAtAddress & Pick<ItemFindings, 'keep'>) | undefined {
  const { entry, address } = resource;
  const found = findings.openItem(cutText(removeInvisible(address?.slice(0, 500) ?? ''), 300) || 'item');
  if (address === undefined) {
    const isItem = isObject(entry.raw) || typeof entry.raw === 'string';
    found.refuse(isItem ? 'no_resource' : 'not_an_item', undefined, entry.place);
    return undefined;
  }
  const url = parseResourceUrl(address, options, (code, message) => found.note(code, message, resource.place));
  if (!(url instanceof URL)) {
    found.refuse(url.code, url.message, resource.place);
    return undefined;
  }
  const method = httpMethod.safeParse(resource.method ?? 'GET');
  if (!method.success) {
    const isInObject = isObject(entry.raw) && typeof entry.raw.method === 'string';
    found.refuse('bad_method', FINDING_CODES.bad_method, isInObject ? `${entry.place}/method` : resource.place);
    return undefined;
  }
  if (isFree(entry.raw)) {
    found.refuse('zero_amount', 'The entry says that it is free.', entry.place);
    return undefined;
  }
  if (resource.method === undefined) found.note('method_assumed', undefined, entry.place);
  if (hasWildcard(url)) found.note('wildcard_path', undefined, resource.place);
  const payment = readEntryPayment(resource, stated, found);
  if (!payment) return undefined;
  const { raw } = entry;
  const mimeType = isObject(raw) ? raw.mimeType : undefined;
  const note = noteBelow(found.note, entry.place);
  const item = buildItem(resource);
  const words = readItemWords(isObject(item) ? item : getServiceTexts(entry), options, note);
  const route = {
    ...readItemRoute(item, { method: method.data, url, description: findDescription(raw), mimeType, payment }, note),
    ...(Object.keys(words).length > 0 && { item: words }),
  };
  return { base_url: url.origin, route, keep: found.keep };
}

/** Reads the payment that an entry states; refuses the entry if it must not be listed. */
function readEntryPayment(
  { entry: { place } }: Resource,
  stated: StatedPayment | undefined,
  found: ItemFindings,
): Payment | undefined {
  if (!stated) {
    found.note('resource_without_terms', undefined, place);
    return { terms: [] };
  }
  const pricePlace = stated.isOfFile ? stated.place : `${place}${stated.place}`;
  if (stated.isAmbiguous) {
    found.note('ambiguous_price', undefined, pricePlace);
    return { terms: [] };
  }
  const payment = readPayment(stated.info, (code, message) => found.note(code, message, pricePlace));
  if ('code' in payment) {
    found.refuse(payment.code, payment.message, pricePlace);
    return undefined;
  }
  if (stated.isOfFile && payment.terms.length > 0) found.note('price_of_file', undefined, pricePlace);
  return payment;
}

function getRouteKey({ base_url, route }: RouteAtAddress): string {
  return `${route.method} ${base_url}${route.path}`;
}

/** Lists the keys of a route: one with its method, and one of its address alone. */
function listRouteKeys(found: RouteAtAddress): string[] {
  return [getRouteKey(found), `${found.base_url}${found.route.path}`];
}

/** Returns whether a route is known. An entry that names no method is about any route at its address. */
function isKnown(known: ReadonlySet<string>, found: RouteAtAddress, { method }: Resource): boolean {
  return known.has(method === undefined ? `${found.base_url}${found.route.path}` : getRouteKey(found));
}

/** Finds the texts about the service in the file, and the name of its provider. */
function findServiceTexts(file: unknown): ServiceTexts {
  const providers = [findMember(file, 'publisher'), findMember(file, 'provider')];
  const holders = [file, findMember(file, 'service'), findMember(file, 'info'), ...providers];
  const find = (...names: string[]) =>
    findText(holders.flatMap((holder) => names.map((name) => findMember(holder, name))));
  return {
    title: find('name', 'title'),
    provider: findText(providers.flatMap((provider) => [provider, findMember(provider, 'name')])),
    tagline: find('tagline'),
    description: find('description') ?? find('purpose'),
    docs_url: find('docs', 'docsUrl', 'documentation'),
  };
}
