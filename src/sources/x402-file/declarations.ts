import type { DeclaredRoute } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { buildFeedDeclarations } from '../bazaar/declarations.ts';
import { findMember } from '../bazaar/places.ts';
import {
  type ApiDocument,
  type ApiDocumentOptions,
  buildDocumentDeclarations,
  type DocumentWords,
} from '../document-declarations.ts';
import { type DocumentFindings, openDocumentFindings } from '../document-findings.ts';
import { FINDING_CODES } from '../finding-codes.ts';
import { removeInvisible } from '../invisible.ts';
import { isObject } from '../json-value.ts';
import { parseListedUrl } from '../outside-address.ts';
import { findPlace, type Resource, readPlainRoute } from './resource.ts';

/** Resources taken of one file. */
const MAX_RESOURCES = 2_000;

/** Members that hold the list, in all shapes met. The offers of a file about one resource are that list, too. */
const LISTS = ['items', 'resources', 'endpoints', 'accepts'];

type Placed = { base_url: string; route: DeclaredRoute };

/** Lists the resources of a `/.well-known/x402` file; undefined for anything that is none. */
export function listResources(file: unknown): unknown[] | undefined {
  if (Array.isArray(file)) return file;
  const name = LISTS.find((member) => Array.isArray(findMember(file, member)));
  const list = name === undefined ? undefined : findMember(file, name);
  if (!Array.isArray(list)) return undefined;
  const version = findMember(file, 'x402Version');
  return name === 'accepts' ? list.map((offer) => ({ x402Version: version, accepts: [offer] })) : list;
}

/**
 * Reads the resources of a `/.well-known/x402` file: whole items as a feed has them, and bare addresses, which become
 * routes without terms. One declaration for each origin.
 */
export function readX402File(file: unknown, resources: readonly unknown[], options: ApiDocumentOptions): ApiDocument {
  const findings = openDocumentFindings(options.name);
  if (resources.length > MAX_RESOURCES) findings.note('too_many_operations');
  const places = resources.slice(0, MAX_RESOURCES).map((raw) => findPlace(raw, options.url ?? options.base_url));
  const priced = buildFeedDeclarations(places.filter(({ hasOffers }) => hasOffers).map(buildItem), {
    feed: options.name,
    pulledAt: options.now,
    allowPrivateNetworks: options.allowPrivateNetworks,
  });
  const items = { received: places.length, taken: 0, duplicates: 0, refused: 0 };
  for (const { outcome } of priced.outcomes) items[outcome === 'duplicate' ? 'duplicates' : outcome] += 1;
  const routes = priced.declarations.flatMap(({ base_url, routes: own }) => own.map((route) => ({ base_url, route })));
  const known = new Set(routes.map(getKey));
  for (const place of places.filter(({ hasOffers }) => !hasOffers)) {
    const plain = readPlain(place, options, findings);
    if (!plain) items.refused += 1;
    else if (known.has(getKey(plain))) items.duplicates += 1;
    else {
      known.add(getKey(plain));
      routes.push(plain);
      items.taken += 1;
    }
  }
  const words = findWords(file, priced.declarations[0]);
  const declarations = buildDocumentDeclarations(routes, words, options, findings);
  return { kind: 'x402_file', declarations, findings: [...findings.list(), ...priced.findings], items };
}

/** An item as a feed would have it: its address whole, its method said. */
function buildItem({ raw, address, method }: Resource): unknown {
  if (!isObject(raw) || address === undefined) return raw;
  const resource = isObject(raw.resource) ? { ...raw.resource, url: address } : address;
  return { ...raw, resource, ...(method !== undefined && { method }) };
}

function readPlain(place: Resource, options: ApiDocumentOptions, findings: DocumentFindings): Placed | undefined {
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
  const route = readPlainRoute(place, url, found.note);
  if (!route) {
    found.refuse('bad_method', FINDING_CODES.bad_method);
    return undefined;
  }
  found.keep();
  return { base_url: url.origin, route };
}

/** What the file says of its service, else what its items say of it. */
function findWords(
  file: unknown,
  first: { service_name: string | null; description: string } | undefined,
): DocumentWords {
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

function getKey({ base_url, route }: Placed): string {
  return `${route.method} ${base_url}${route.path}`;
}
