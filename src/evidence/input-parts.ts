import { isObject, type JsonObject, writeScalar } from '../model/json.ts';
import { isWithBody } from '../model/request.ts';
import type { Route } from '../model/route.ts';

/** Places of the fields of a request. */
const INPUT_PLACES = ['path', 'query', 'headers', 'body'] as const;
export type InputPlace = (typeof INPUT_PLACES)[number];

/** Names under which schemas group the fields of a request by place, and the place of each. */
const PLACES: Readonly<Record<string, InputPlace>> = {
  pathParams: 'path',
  path: 'path',
  queryParams: 'query',
  query: 'query',
  headers: 'headers',
  body: 'body',
};

/** Names that our sources give the parts of a request: a schema with no other names is one of parts. */
const PARTS = new Set(['pathParams', 'queryParams', 'headers', 'body']);

/** One part of a route's declared input. */
interface InputPart {
  readonly place: InputPlace;
  readonly schema: JsonObject;
}

/**
 * Splits the declared input of a route by the place of its fields, in the order of the schema; empty if none is
 * declared.
 */
export function splitInput({ method, input_schema: schema }: Pick<Route, 'method' | 'input_schema'>): InputPart[] {
  if (schema === null) return [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  const isOfParts = names.length > 0 && names.every((name) => PARTS.has(name));
  const apart = Object.entries(properties).flatMap(([name, part]) => {
    const place = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined;
    return place !== undefined && isObject(part) && (isOfParts || isHolder(part))
      ? [{ name, place, schema: part }]
      : [];
  });
  const taken = new Set(apart.map(({ name }) => name));
  const parts = apart.map(({ place, schema: part }) => ({ place, schema: part }));
  if (names.length > 0 && taken.size === names.length) return parts;
  const rest = Object.fromEntries(Object.entries(properties).filter(([name]) => !taken.has(name)));
  const own = isWithBody(method) ? 'body' : 'query';
  if (taken.size === 0) return [{ place: own, schema }];
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => !taken.has(writeScalar(name)))
    : [];
  return [...parts, { place: own, schema: { ...schema, properties: rest, required } }];
}

/** Returns whether a declared input says that the request takes nothing: it has no field anywhere. */
export function takesNothing(schema: JsonObject | null): boolean {
  return schema !== null && isObject(schema.properties) && Object.keys(schema.properties).length === 0;
}

function isHolder({ properties, items }: JsonObject): boolean {
  return isObject(properties) || isObject(items);
}
