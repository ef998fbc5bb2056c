import { httpMethod } from '../../model/http-method.ts';
import type { DeclaredRoute } from '../../model/route.ts';
import { findMember, findResource, listMethods } from '../bazaar/places.ts';
import type { Note } from '../finding-codes.ts';
import { isObject } from '../json-value.ts';
import { getTemplatePath } from '../outside-address.ts';
import { readMimeType, readText } from '../provider-text.ts';

/** `https://…`, `/v1/x`, or either with the method before it. */
const LINE = /^\s*(?:([A-Za-z]{3,7})\s+)?(\S+)\s*$/;

/** One entry of a list of resources: where it is, and how to pay where it says so. */
export interface Resource {
  raw: unknown;
  /** Whole address; undefined where there is none. */
  address: string | undefined;
  method: string | undefined;
  /** Whether it lists ways to pay, as an item of a feed does. */
  hasOffers: boolean;
}

/** Finds where an entry is: text or an object of any shape met, relative to `base` where that is known. */
export function findPlace(raw: unknown, base: string | null): Resource {
  const [, before, address] = LINE.exec(typeof raw === 'string' ? raw : (findAddress(raw) ?? '')) ?? [];
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

/** Reads an entry that names an address without ways to pay into a route without terms. */
export function readPlainRoute({ raw, method }: Resource, url: URL, note: Note): DeclaredRoute | undefined {
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
