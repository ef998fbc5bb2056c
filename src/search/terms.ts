import { getPublicSuffix } from 'tldts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Listing } from '../model/listing.ts';
import { listCounted, type Route } from '../model/route.ts';
import { encodeVector, getVector, weighText } from './vectors.ts';
import { getStem, listWords } from './words.ts';

/**
 * The fields in which words of a listing and of a route are found; the place of a field is its bit in a term's mask. `again`
 * is for a word that the description says more than once.
 */
export const LISTING_FIELDS = ['name', 'tagline', 'description', 'again', 'provider', 'category'] as const;
export const ROUTE_FIELDS = ['path', 'description', 'again', 'inputs', 'outputs'] as const;

/** What a listing or a route says: its words, and how many there are in running text. */
export interface TextTerms {
  /** Stems, each with the mask of the fields that it is in. */
  readonly terms: ReadonlyMap<string, number>;
  readonly length: number;
}

/** How deep schemas are read, how many names and how much text of one at most: they are the provider's, of any size. */
const SCHEMA_DEPTH = 4;
const NAMES_MAX = 64;
const SCHEMA_TEXT_MAX = 2000;

/** A shorter text is no sentence, and may well be equal by chance. */
const BORROWED_MIN = 20;

/** Gives the words of a listing itself, and after it those of each of its routes. */
export function listTerms(listing: Listing): TextTerms[] {
  return [listOwnTerms(listing), ...listing.routes.map(listRouteTerms)];
}

function listOwnTerms(listing: Listing): TextTerms {
  const { slug, category, provider_name, title } = listing;
  const { host, ownHost, name, texts } = readOwn(listing);
  const terms = openTerms(LISTING_FIELDS);
  terms.add('name', name);
  for (const field of ['tagline', 'description'] as const) terms.add(field, texts[field]);
  terms.addAside('provider', `${isHost(provider_name, host) ? '' : provider_name} ${ownHost}`);
  // Without a name its slug is the host once more.
  if (!isHost(title, host)) terms.addAside('provider', slug);
  terms.addAside('category', category);
  return terms.end();
}

/** Gives what a listing is about, as it is stored: its own texts, and its routes on average. */
export function getListingVector(listing: Listing): Int8Array {
  const { name, texts } = readOwn(listing);
  const routes = listCounted(listing.routes);
  const words = [
    ...weighText(name, 2),
    ...weighText(`${texts.tagline} ${texts.description}`, 1),
    ...routes.flatMap(({ path, description }) => [...weighText(`${path} ${description}`, 1 / routes.length)]),
  ];
  return encodeVector(getVector(words));
}

/** Reads what a listing says of itself: no host where it has no name, and no text that is one route's. */
function readOwn({ title, tagline, description, base_url, routes: all }: Listing) {
  const routes = listCounted(all);
  const host = new URL(base_url).hostname;
  const ownHost = removePlatform(host);
  const getOwn = (text: string) => (routes.length > 1 && routes.some((route) => isBorrowed(text, route)) ? '' : text);
  return {
    ...{ host, ownHost },
    name: isHost(title, host) ? ownHost : title,
    texts: { tagline: getOwn(tagline), description: getOwn(description) },
  };
}

function listRouteTerms({ path, description, input_schema, output_schema, set_aside, probe }: Route): TextTerms {
  const terms = openTerms(ROUTE_FIELDS);
  // Nobody is to find what only others name, and what was asked for in vain.
  if (set_aside && probe !== null && probe.failures > 0) return terms.end();
  terms.add('path', path);
  terms.add('description', description);
  if (input_schema) terms.addAside('inputs', listTexts(input_schema));
  if (output_schema) terms.addAside('outputs', listTexts(output_schema));
  return terms.end();
}

/** Says whether a text is one that a route has as its own, perhaps cut: that one route would speak for all. */
function isBorrowed(text: string, { description }: Route): boolean {
  const start = text.replace(/…$/, '');
  return start.length >= BORROWED_MIN && description.startsWith(start);
}

function isHost(name: string, host: string): boolean {
  return name.includes('.') && host.includes(name.toLowerCase());
}

/** Removes from a host what its owner did not choose: `com`, `vercel.app`, `up.railway.app`. */
function removePlatform(host: string): string {
  const suffix = getPublicSuffix(host, { allowPrivateDomains: true });
  return suffix && host.endsWith(`.${suffix}`) ? host.slice(0, -suffix.length - 1) : host;
}

function openTerms<Field extends string>(fields: readonly Field[]) {
  const terms = new Map<string, number>();
  let length = 0;
  const put = (field: Field, words: readonly string[]) => {
    const bit = 1 << fields.indexOf(field);
    const again = field === 'description' ? 1 << fields.indexOf('again' as Field) : 0;
    for (const word of words) {
      const stem = getStem(word);
      const mask = terms.get(stem) ?? 0;
      terms.set(stem, mask | ((mask & bit) === 0 ? bit : again));
    }
  };
  return {
    /** Adds running text, which makes others of its words count less. */
    add(field: Field, text: string) {
      const words = listWords(text);
      length += words.length;
      put(field, words);
    },
    addAside: (field: Field, text: string) => put(field, listWords(text)),
    end: (): TextTerms => ({ terms, length }),
  };
}

/** Gives the names of the fields that a JSON Schema, or a description in its manner, has, and what it says of them. */
function listTexts(schema: JsonObject): string {
  return listFields(schema, SCHEMA_DEPTH).slice(0, NAMES_MAX).join(' ').slice(0, SCHEMA_TEXT_MAX);
}

function listFields(schema: JsonObject, depth: number): string[] {
  if (depth === 0) return [];
  const { properties, items } = schema;
  const inner = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, field]) => {
    if (!isObject(field)) return [name];
    const text = typeof field.description === 'string' ? field.description.slice(0, SCHEMA_TEXT_MAX) : '';
    return [`${name} ${text}`, ...listFields(field, depth - 1)];
  });
  return isObject(items) ? [...inner, ...listFields(items, depth - 1)] : inner;
}
