import { isObject, type JsonObject } from '../model/json.ts';
import type { Listing } from '../model/listing.ts';
import { getStem, listWords } from './words.ts';

/** The fields of a listing that words are found in; the place of a field is its bit in a term's mask. */
export const FIELDS = ['name', 'tagline', 'description', 'provider', 'category', 'paths', 'routes', 'inputs'] as const;
export type Field = (typeof FIELDS)[number];

/** How deep input schemas are read, and how many names of one route at most: they are the provider's, of any size. */
const SCHEMA_DEPTH = 4;
const NAMES_MAX = 64;

/** Gives the stems of a listing's words, each with a mask of the fields it is in. */
export function listTerms(listing: Listing): Map<string, number> {
  const terms = new Map<string, number>();
  const add = (field: Field, text: string) => {
    const bit = 1 << FIELDS.indexOf(field);
    for (const word of listWords(text)) {
      const stem = getStem(word);
      terms.set(stem, (terms.get(stem) ?? 0) | bit);
    }
  };
  add('name', `${listing.title} ${listing.slug}`);
  add('tagline', listing.tagline);
  add('description', listing.description);
  add('provider', `${listing.provider_name} ${new URL(listing.base_url).hostname}`);
  add('category', listing.category);
  for (const route of listing.routes) {
    add('paths', route.path);
    add('routes', route.description);
    if (route.input_schema) add('inputs', listNames(route.input_schema, SCHEMA_DEPTH).slice(0, NAMES_MAX).join(' '));
  }
  return terms;
}

/** Lists the names of the fields that a JSON Schema, or a description in its manner, has. */
function listNames(schema: JsonObject, depth: number): string[] {
  if (depth === 0) return [];
  const { properties } = schema;
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, inner]) => [
    name,
    ...(isObject(inner) ? listNames(inner, depth - 1) : []),
  ]);
}
