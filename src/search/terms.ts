import { parse } from 'tldts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Listing } from '../model/listing.ts';
import { listCounted, type Route } from '../model/route.ts';
import { encodeVector, getVector, weighText } from './vectors.ts';
import { getStem, listWords } from './words.ts';

/** Weights of words by field; `again` is added for a word that a description repeats. */
const LISTING_WEIGHTS = { name: 2.8, tagline: 1, description: 1.1, again: 0.5, provider: 0.5, category: 0.5 };
const ROUTE_WEIGHTS = { path: 2, description: 1.5, again: 0.5, inputs: 0.5, outputs: 0.6 };

/** The words of a listing or of a route. */
export interface Terms {
  /** The stems by weight. */
  readonly stems: ReadonlyMap<number, readonly string[]>;
  /** Number of words in its running text, without fields added aside. */
  readonly length: number;
}

/** The words of a listing itself, and of each of its routes; null for a route that must not be found. */
export interface ListingTerms {
  readonly own: Terms;
  readonly routes: readonly (Terms | null)[];
}

/** Limits on schemas, which are the provider's and of any size: depth, number of names, and characters of one text. */
const SCHEMA_DEPTH = 4;
const NAMES_MAX = 64;
const SCHEMA_TEXT_MAX = 2000;

/** Least length of a text that counts as copied from a route, in UTF-16 units. A shorter one may be equal by chance. */
const BORROWED_MIN = 20;

/** Terms as they are stored: the length, and for each weight the stems, separated by blanks. */
type StoredTerms = [length: number, ...stems: [weight: number, stems: string][]];

/** Encodes the words of a live listing as JSON, for `decodeTerms`. */
export function encodeTerms(listing: Listing): string {
  const stored = [listOwnTerms(listing), ...listing.routes.map(listRouteTerms)].map(
    (terms): StoredTerms | null =>
      terms && [
        terms.length,
        ...Array.from(terms.stems, ([weight, stems]): [number, string] => [weight, stems.join(' ')]),
      ],
  );
  return JSON.stringify(stored);
}

/** Parses the words of a listing from the JSON of `encodeTerms`. */
export function decodeTerms(text: string): ListingTerms {
  const [own, ...routes] = (JSON.parse(text) as (StoredTerms | null)[]).map((stored): Terms | null => {
    if (stored === null) return null;
    const [length, ...groups] = stored;
    return { length, stems: new Map(groups.map(([weight, stems]) => [weight, stems.split(' ')])) };
  });
  return { own: own ?? { stems: new Map(), length: 0 }, routes };
}

function listOwnTerms(listing: Listing): Terms {
  const { slug, category, provider_name, title } = listing;
  const { host, ownHost, name, texts } = readOwn(listing);
  const terms = openTerms(LISTING_WEIGHTS);
  terms.add('name', name);
  for (const field of ['tagline', 'description'] as const) terms.add(field, texts[field]);
  terms.addAside('provider', `${isHost(provider_name, host) ? '' : provider_name} ${ownHost}`);
  // Without a name, the slug only repeats the host.
  if (!isHost(title, host)) terms.addAside('provider', slug);
  terms.addAside('category', category);
  return terms.end();
}

/** Returns the meaning vector of a listing as it is stored: of its own texts, and its routes on average. */
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

/** Returns a listing's own texts: without the host as a name, and without texts that belong to a single route. */
function readOwn({ title, tagline, description, base_url, routes: all }: Listing) {
  const routes = listCounted(all);
  const host = new URL(base_url).hostname;
  const ownHost = removePlatform(host);
  const getOwn = (text: string) => (routes.length > 1 && routes.some((route) => isBorrowed(text, route)) ? '' : text);
  return {
    host,
    ownHost,
    name: isHost(title, host) ? ownHost : title,
    texts: { tagline: getOwn(tagline), description: getOwn(description) },
  };
}

function listRouteTerms({ path, description, input_schema, output_schema, set_aside, probe }: Route): Terms | null {
  // A route that only others name, and whose probe failed, must not be found.
  if (set_aside && probe !== null && probe.failures > 0) return null;
  const terms = openTerms(ROUTE_WEIGHTS);
  terms.add('path', path);
  terms.add('description', description);
  if (input_schema) terms.addAside('inputs', listTexts(input_schema));
  if (output_schema) terms.addAside('outputs', listTexts(output_schema));
  return terms.end();
}

/** Returns true if a text is that of a route, perhaps cut. Otherwise one route would speak for all. */
function isBorrowed(text: string, { description }: Route): boolean {
  const start = text.replace(/…$/, '');
  return start.length >= BORROWED_MIN && description.startsWith(start);
}

function isHost(name: string, host: string): boolean {
  return name.includes('.') && host.includes(name.toLowerCase());
}

/**
 * Removes the ending of a host that its owner did not choose: `com`, `vercel.app`, `up.railway.app`. Returns any other text
 * unchanged.
 */
export function removePlatform(host: string): string {
  const { publicSuffix: suffix, isIcann, isPrivate } = parse(host, { allowPrivateDomains: true });
  return suffix && (isIcann || isPrivate) && host.endsWith(`.${suffix}`) ? host.slice(0, -suffix.length - 1) : host;
}

function openTerms<Field extends string>(weights: Readonly<Record<Field, number>> & { readonly again: number }) {
  const fields = Object.keys(weights) as Field[];
  const sums = new Map<string, number>();
  /** By stem: the fields that have it, one bit each. */
  const seen = new Map<string, number>();
  let length = 0;
  const put = (field: Field | 'again', stem: string) => {
    const bit = 1 << fields.indexOf(field as Field);
    const before = seen.get(stem) ?? 0;
    if ((before & bit) !== 0) {
      if (field === 'description') put('again', stem);
      return;
    }
    seen.set(stem, before | bit);
    sums.set(stem, (sums.get(stem) ?? 0) + weights[field]);
  };
  const addAside = (field: Field, text: string) => {
    const words = listWords(text);
    for (const word of words) put(field, getStem(word));
    return words.length;
  };
  return {
    /** Adds running text, whose length lowers the weight of its words. */
    add(field: Field, text: string) {
      length += addAside(field, text);
    },
    addAside,
    end(): Terms {
      const stems = Map.groupBy(sums.keys(), (stem) => Math.round(10 * (sums.get(stem) ?? 0)) / 10);
      return { stems, length };
    },
  };
}

/** Returns the names of the fields in a JSON Schema, or a similar description, with their descriptions. */
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
