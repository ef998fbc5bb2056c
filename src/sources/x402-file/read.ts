import { httpMethod } from '../model/request.ts';
import type { DeclaredRoute } from '../model/route.ts';
import { cutText } from '../model/text.ts';
import { buildFeedDeclarations } from './bazaar/declarations.ts';
import { findMember, findResource, listMethods } from './bazaar/item-fields.ts';
import { removeInvisible } from './clean-string.ts';
import {
  type ApiDocument,
  type ApiDocumentOptions,
  buildDocumentDeclarations,
  type ServiceTexts,
} from './document-declarations.ts';
import { type DocumentFindings, openDocumentFindings } from './document-findings.ts';
import { FINDING_CODES, type Note } from './finding-codes.ts';
import { isObject } from './json-value.ts';
import { getTemplatePath, parseListedUrl } from './outside-address.ts';
import { readMimeType, readText } from './provider-text.ts';

/** Most resources that are taken from one file. */
const MAX_RESOURCES = 2_000;

/**
 * Members with the list of resources, in all shapes seen so far. A file about one resource has only its offers
 * (`accepts`).
 */
const LIST_MEMBERS = ['items', 'resources', 'endpoints', 'accepts'];

type RouteAtAddress = { base_url: string; route: DeclaredRoute };

/** Lists the resources of a `/.well-known/x402` file; undefined for anything else. */
export function listResources(file: unknown): unknown[] | undefined {
  if (Array.isArray(file)) return file;
  const name = LIST_MEMBERS.find((member) => Array.isArray(findMember(file, member)));
  const list = name === undefined ? undefined : findMember(file, name);
  if (!Array.isArray(list)) return undefined;
  const version = findMember(file, 'x402Version');
  return name === 'accepts' ? list.map((offer) => ({ x402Version: version, accepts: [offer] })) : list;
}

/**
 * Reads the resources of a `/.well-known/x402` file: items as in a feed, and bare addresses, which become routes
 * without terms. Returns one declaration for each origin.
 */
export function readX402File(file: unknown, resources: readonly unknown[], options: ApiDocumentOptions): ApiDocument {
  const findings = openDocumentFindings(options.name);
  if (resources.length > MAX_RESOURCES) findings.note('too_many_operations');
  const places = resources.slice(0, MAX_RESOURCES).map((raw) => locateResource(raw, options.url ?? options.base_url));
  const priced = buildFeedDeclarations(places.filter(({ hasOffers }) => hasOffers).map(buildItem), {
    feed: options.name,
    pulledAt: options.now,
    allowPrivateNetworks: options.allowPrivateNetworks,
  });
  const items = { received: places.length, taken: 0, duplicates: 0, refused: 0 };
  for (const { outcome } of priced.outcomes) items[outcome === 'duplicate' ? 'duplicates' : outcome] += 1;
  const routes = priced.declarations.flatMap(({ base_url, routes: own }) => own.map((route) => ({ base_url, route })));
  const known = new Set(routes.map(getRouteKey));
  for (const place of places.filter(({ hasOffers }) => !hasOffers)) {
    const plain = readUnpricedRoute(place, options, findings);
    if (!plain) items.refused += 1;
    else if (known.has(getRouteKey(plain))) items.duplicates += 1;
    else {
      known.add(getRouteKey(plain));
      routes.push(plain);
      items.taken += 1;
    }
  }
  const words = findServiceTexts(file, priced.declarations[0]);
  const declarations = buildDocumentDeclarations(routes, words, options, findings);
  return { kind: 'x402_file', declarations, findings: [...findings.list(), ...priced.findings], items };
}

/** Builds a feed item from a resource: with its full address, and its method if known. */
function buildItem({ raw, address, method }: Resource): unknown {
  if (!isObject(raw) || address === undefined) return raw;
  const resource = isObject(raw.resource) ? { ...raw.resource, url: address } : address;
  return { ...raw, resource, ...(method !== undefined && { method }) };
}

function readUnpricedRoute(
  place: Resource,
  options: ApiDocumentOptions,
  findings: DocumentFindings,
): RouteAtAddress | undefined {
  const found = findings.openItem(cutText(removeInvisible(place.address?.slice(0, 500) ?? ''), 300) || 'item');
  if (place.address === undefined) {
    const isItem = isObject(place.raw) || typeof place.raw === 'string';
    found.refuse(isItem ? 'no_resource' : 'not_an_item');
    return undefined;
  }
  const url = parseListedUrl(place.address, options);
  if (!(url instanceof URL)) {
    found.refuse(url.code, url.message);
    return undefined;
  }
  const route = buildUnpricedRoute(place, url, found.note);
  if (!route) {
    found.refuse('bad_method', FINDING_CODES.bad_method);
    return undefined;
  }
  found.keep();
  return { base_url: url.origin, route };
}

/** Finds the texts about the service in the file, else in its items. */
function findServiceTexts(
  file: unknown,
  first: { service_name: string | null; description: string } | undefined,
): ServiceTexts {
  const holders = [file, ...['publisher', 'service', 'provider', 'info'].map((name) => findMember(file, name))];
  const find = (...names: string[]) =>
    holders
      .flatMap((holder) => names.map((name) => findMember(holder, name)))
      .find((text) => typeof text === 'string' && text.trim() !== '');
  return {
    title: find('name', 'title') ?? first?.service_name,
    tagline: find('tagline'),
    description: find('description') ?? first?.description,
    docs_url: find('docs', 'docsUrl', 'documentation'),
  };
}

function getRouteKey({ base_url, route }: RouteAtAddress): string {
  return `${route.method} ${base_url}${route.path}`;
}

/** `https://…`, `/v1/x`, or either with the method before it. */
const RESOURCE_LINE = /^\s*(?:([A-Za-z]{3,7})\s+)?(\S+)\s*$/;

/** One entry of a list of resources. */
export interface Resource {
  raw: unknown;
  /** Full address; undefined if there is none. */
  address: string | undefined;
  method: string | undefined;
  /** Whether it has offers, as an item of a feed. */
  hasOffers: boolean;
}

/**
 * Finds the address and method of an entry, which is text or an object of any shape seen so far. The address may be
 * relative to `base`.
 */
export function locateResource(raw: unknown, base: string | null): Resource {
  const [, before, address] = RESOURCE_LINE.exec(typeof raw === 'string' ? raw : (findAddress(raw) ?? '')) ?? [];
  const url = address === undefined ? null : URL.parse(address, base ?? undefined);
  return {
    raw,
    address: url?.href ?? address,
    method: listMethods(raw)[0] ?? before?.toUpperCase(),
    hasOffers: Array.isArray(findMember(raw, 'accepts')),
  };
}

function findAddress(raw: unknown): string | undefined {
  const places = [findResource(raw), ...['url', 'endpoint', 'path', 'route'].map((name) => findMember(raw, name))];
  return places.find((place): place is string => typeof place === 'string');
}

/** Builds a route without terms from an entry without offers; undefined if its method is not valid. */
export function buildUnpricedRoute({ raw, method }: Resource, url: URL, note: Note): DeclaredRoute | undefined {
  const known = httpMethod.safeParse(method ?? 'GET');
  if (!known.success) return undefined;
  if (method === undefined) note('method_assumed');
  note('resource_without_terms');
  const described = isObject(raw) ? (raw.description ?? findMember(raw, 'resource', 'description')) : undefined;
  return {
    method: known.data,
    path: getTemplatePath(url),
    description: readText(described, 'route_description', note),
    mime_type: readMimeType(isObject(raw) ? raw.mimeType : undefined, note),
    input_schema: null,
    output_schema: null,
    example: null,
    terms: [],
  };
}
