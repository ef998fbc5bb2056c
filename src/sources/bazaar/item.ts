import type { Finding } from '../../model/finding.ts';
import { httpMethod } from '../../model/http-method.ts';
import type { DeclaredRoute } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { buildFinding, type FindingCode, type Note } from '../finding-codes.ts';
import { removeInvisible } from '../invisible.ts';
import { isObject } from '../json-value.ts';
import { getTemplatePath, parseListedUrl } from '../outside-address.ts';
import { readMimeType, readText } from '../provider-text.ts';
import { formatQuote } from '../quote.ts';
import { readAnswerSide } from './answer-side.ts';
import { readUpdatedAt } from './item-dates.ts';
import { getFeedItemKey, getItemHash, getRouteKey } from './item-key.ts';
import { readItemTerms } from './item-terms.ts';
import { findMember, findResource, listMethods, listOffers } from './places.ts';
import { readRequestSide } from './request-side.ts';
import { readServiceFacts, type ServiceFacts } from './service-facts.ts';

export interface FeedItemOptions {
  allowPrivateNetworks: boolean;
  /** When the feed was pulled, ISO 8601 UTC: no date of an item is later. */
  pulledAt: string;
}

/** An item that becomes a route. */
export interface TakenItem {
  outcome: 'taken';
  /** Identity within the feed, as `getFeedItemKey` gives it. */
  key: string;
  /** The item as findings name it. */
  name: string;
  /** The base address of its listing: the origin, port kept. */
  base_url: string;
  route: DeclaredRoute;
  /** The item's text in the length of a listing's description. */
  description: string;
  service: ServiceFacts;
  updated_at: string | null;
  findings: Finding[];
}

/** An item that does not, and why: one of its findings is `refused` and carries the code. */
export interface RefusedItem {
  outcome: 'refused';
  key: string;
  name: string;
  code: FindingCode;
  findings: Finding[];
}

/**
 * Parses one item of a Bazaar feed, of any protocol version and shape met, into a route with its terms. Never throws:
 * whatever cannot be taken is said in a finding, whose code `FINDING_CODES` explains.
 */
export function parseFeedItem(raw: unknown, options: FeedItemOptions): TakenItem | RefusedItem {
  const key = getFeedItemKey(raw);
  const name = getItemName(raw, key);
  const notes = new Map<string, Finding>();
  const note: Note = (code, message) => {
    const finding = buildFinding('noted', code, name, message);
    notes.set(`${code} ${finding.message}`, finding);
  };
  const refuse = (code: FindingCode, message?: string): RefusedItem => ({
    outcome: 'refused',
    key,
    name,
    code,
    findings: [buildFinding('refused', code, name, message)],
  });

  if (!isObject(raw)) return refuse('not_an_item');
  if (raw.type !== undefined && raw.type !== 'http') return refuse('not_http_type');
  const resource = findResource(raw);
  if (resource === undefined) return refuse('no_resource');
  const url = parseListedUrl(resource, options);
  if (!(url instanceof URL)) return refuse(url.code, url.message);
  const method = httpMethod.safeParse(listMethods(raw)[0] ?? 'GET');
  if (!method.success) return refuse('bad_method');
  const terms = readItemTerms(raw, note);
  if (!Array.isArray(terms)) return refuse(terms.code, terms.message);

  noteMethodAndAddress(raw, resource, note);
  const text = findDescription(raw);
  const route: DeclaredRoute = {
    method: method.data,
    path: getTemplatePath(url),
    description: readText(text, 'route_description', note),
    mime_type: readMimeType(findMimeType(raw), note),
    ...readRequestSide(raw, method.data, note),
    output_schema: readAnswerSide(raw, note),
    terms,
  };
  return {
    outcome: 'taken',
    key: getRouteKey(method.data, url),
    name,
    base_url: url.origin,
    route,
    description: readText(text, 'description', note),
    service: readServiceFacts(raw, options, note),
    updated_at: readUpdatedAt(raw.lastUpdated ?? raw.last_updated ?? raw.updatedAt, options.pulledAt, note),
    findings: [...notes.values()],
  };
}

function noteMethodAndAddress(raw: unknown, resource: string, note: Note): void {
  const methods = listMethods(raw);
  if (methods.length === 0) note('method_assumed');
  if (methods.length > 1)
    note(
      'method_differs',
      `The item declares ${formatQuote(methods.join(', '))}; ${formatQuote(methods[0] ?? '')} is taken.`,
    );
  const others = listOffers(raw).map((offer) => findMember(offer, 'resource'));
  if (others.some((other) => typeof other === 'string' && other !== resource)) note('resource_differs');
}

function getItemName(raw: unknown, key: string): string {
  if (!key.startsWith('sha256:')) return cutText(removeInvisible(key), 200);
  const resource = findResource(raw);
  return resource?.trim()
    ? cutText(removeInvisible(resource.slice(0, 500)), 200)
    : `item ${getItemHash(raw).slice(0, 12)}`;
}

function findDescription(raw: unknown): unknown {
  const offers = listOffers(raw);
  const places = [
    findMember(raw, 'description'),
    findMember(raw, 'resource', 'description'),
    findMember(raw, 'metadata', 'description'),
    ...offers.map((offer) => findMember(offer, 'description')),
    ...offers.map((offer) => findMember(offer, 'extra', 'description')),
  ];
  return places.find((place) => typeof place === 'string' && place.trim() !== '');
}

function findMimeType(raw: unknown): unknown {
  const offers = listOffers(raw).map((offer) => findMember(offer, 'mimeType'));
  const places = [findMember(raw, 'mimeType'), findMember(raw, 'resource', 'mimeType'), ...offers];
  return places.find((place) => place !== undefined && place !== null && place !== '');
}
