import { type InputPlace, splitInput } from '../../evidence/input-parts.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { AnswerField, PaidAnswer } from '../../model/payment.ts';
import type { Route } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { getType, getTypeOf, PAYING } from './input-shape.ts';

/** Most fields in one list, most levels of their names, and the longest texts, in UTF-16 units. */
const FIELDS_MAX = 24;
const DEPTH_MAX = 3;
const NAME_LENGTH = 60;
const MEANING_LENGTH = 160;
const EXAMPLE_LENGTH = 60;

/** The answers to paid calls whose receipts have a page, by the id of the receipt; null if an answer is not on record. */
export type PaidAnswers = ReadonlyMap<string, PaidAnswer | null>;

/** An input or output field of a route, as declared by its source or as seen in an answer. */
export interface FieldRow {
  /** Its name, or its path: `location.city`, `items[].id`. */
  readonly name: string;
  /** Type as JSON Schema names it, or its choices: `string`, `"day"|"hour"`; empty where no source says it. */
  readonly type: string;
  /** Null if no source says whether the field is required. */
  readonly is_required: boolean | null;
  /** Provider's text, cut; may be empty. */
  readonly meaning: string;
  /** Provider's example or default, cut; empty if there is none. */
  readonly example: string;
}

/** Fields that belong together. */
export interface FieldList {
  readonly rows: readonly FieldRow[];
  /** Number of fields beyond the listed ones. */
  readonly more: number;
}

/** Input fields of a route in one part of its request. */
export interface InputFields extends FieldList {
  /** `Query`, `Path`, `Headers`, `Body`. */
  readonly place: string;
}

/** Fields that a route returns, with the provider's examples. */
export interface OutputFields extends FieldList {
  /** The provider's declared sample, as JSON; null if there is none. */
  readonly sample: string | null;
  /** True if the sample is cut. */
  readonly is_cut: boolean;
}

/** Returns the word `required` or `optional` as a list; empty if no source says it. */
export function listRequired(isRequired: boolean | null): string[] {
  if (isRequired === null) return [];
  return [isRequired ? 'required' : 'optional'];
}

const PLACE_WORDS: Readonly<Record<InputPlace, string>> = {
  path: 'Path',
  query: 'Query',
  headers: 'Headers',
  body: 'Body',
};

/** Lists the input fields of a route by place; without a declared input, those of its example. Empty without either. */
export function listInputFields(route: Pick<Route, 'method' | 'input_schema' | 'example'>): InputFields[] {
  const { example } = route;
  const parts = splitInput(route).map(({ place, schema }) => {
    const rows = listFields(schema, findExample(example, place));
    return { place, rows: place === 'headers' ? rows.filter(({ name }) => !PAYING.test(name)) : rows };
  });
  const known = parts.some(({ rows }) => rows.length > 0);
  const listed = known || example === null ? parts : listOfExample(example);
  return listed
    .filter(({ rows }) => rows.length > 0)
    .map(({ place, rows }) => ({ place: PLACE_WORDS[place], ...cutRows(rows) }));
}

type Example = NonNullable<Route['example']>;

function findExample(example: Example | null, place: InputPlace): unknown {
  if (example === null) return undefined;
  return place === 'path' ? undefined : example[place];
}

function listOfExample({ query, body }: Example): { place: InputPlace; rows: FieldRow[] }[] {
  return [
    { place: 'query', rows: listFields({}, query) },
    { place: 'body', rows: listFields({}, body) },
  ];
}

/** Longest sample that is shown whole, in UTF-16 units. */
const SAMPLE_LENGTH = 1200;

/**
 * Lists the output fields of a route with the provider's sample: the fields of an answer that was seen, else the declared ones.
 * Examples and meanings are always the provider's. Null if there are neither fields nor a sample.
 */
export function findOutputFields(
  { output_schema: schema }: Pick<Route, 'output_schema'>,
  seen: readonly AnswerField[],
): OutputFields | null {
  const [sample] = Array.isArray(schema?.examples) ? schema.examples : [];
  const declared = schema ? listFields(schema, sample) : [];
  const rows = seen.length > 0 ? listSeenFields(seen, declared) : declared;
  if (rows.length === 0 && sample === undefined) return null;
  const written = sample === undefined ? null : JSON.stringify(sample, null, 2);
  return {
    ...cutRows(rows),
    sample: written && cutText(written, SAMPLE_LENGTH),
    is_cut: written !== null && written.length > SAMPLE_LENGTH,
  };
}

/** Lists the fields of an answer with their names and types, each with the provider's declaration of that name. */
function listSeenFields(seen: readonly AnswerField[], declared: readonly FieldRow[]): FieldRow[] {
  const known = new Map(declared.map((row) => [row.name, row]));
  return seen.map(({ path, type }) => {
    const lists = /(?:\[\])*$/.exec(path)?.[0] ?? '';
    const name = cutText(path.slice(0, path.length - lists.length) || path, NAME_LENGTH);
    const { meaning = '', example = '' } = known.get(name) ?? {};
    return {
      name,
      type: `${lists && type.includes(' ') ? `(${type})` : type}${lists}`,
      is_required: null,
      meaning,
      example,
    };
  });
}

function cutRows(rows: readonly FieldRow[]): FieldList {
  return { rows: rows.slice(0, FIELDS_MAX), more: Math.max(0, rows.length - FIELDS_MAX) };
}

/** Lists the fields of a schema with their values in an example; for an empty schema, the fields of the example. */
function listFields(schema: JsonObject, example: unknown, prefix = '', depth = 1): FieldRow[] {
  const inner = getInner(schema);
  if (inner !== undefined) {
    const [first] = Array.isArray(example) ? example : [];
    return listFields(inner, first, `${prefix}[]`, depth);
  }
  const { properties, required } = schema;
  if (!isObject(properties)) return listOfValue(example, prefix, depth);
  const values = isObject(example) ? example : {};
  return Object.entries(properties).flatMap(([name, raw]) => {
    const field = isObject(raw) ? raw : {};
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const path = joinName(prefix, name);
    const row: FieldRow = {
      name: cutText(path, NAME_LENGTH),
      type: getType(field) ?? getTypeOf(value ?? getOwnExample(field)) ?? '',
      is_required: Array.isArray(required) ? required.includes(name) : null,
      meaning:
        typeof field.description === 'string' ? cutText(field.description.replace(/\s+/g, ' '), MEANING_LENGTH) : '',
      example: writeExample(getOwnExample(field) ?? value),
    };
    const nested = depth < DEPTH_MAX && hasFields(field) ? listFields(field, value, path, depth + 1) : [];
    // The names of its fields already show that it is an object.
    return nested.length > 0 && row.meaning === '' && row.is_required !== true ? nested : [row, ...nested];
  });
}

/** Returns the schema of a list's items if these have fields. */
function getInner({ type, properties, items }: JsonObject): JsonObject | undefined {
  return !isObject(properties) && type !== 'object' && isObject(items) && hasFields(items) ? items : undefined;
}

function hasFields({ properties, items }: JsonObject): boolean {
  return isObject(properties) || (isObject(items) && hasFields(items));
}

function listOfValue(value: unknown, prefix: string, depth: number): FieldRow[] {
  if (Array.isArray(value)) return isObject(value[0]) ? listOfValue(value[0], `${prefix}[]`, depth) : [];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const path = joinName(prefix, name);
    const isDeep = isObject(member) || (Array.isArray(member) && isObject(member[0]));
    const nested = isDeep && depth < DEPTH_MAX ? listOfValue(member, path, depth + 1) : [];
    if (nested.length > 0) return nested;
    const example = isDeep ? '' : writeExample(member);
    return [
      { name: cutText(path, NAME_LENGTH), type: getTypeOf(member) ?? '', is_required: null, meaning: '', example },
    ];
  });
}

function joinName(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}.${name}`;
}

function getOwnExample({ example, examples, default: usual }: JsonObject): unknown {
  const [first] = Array.isArray(examples) ? examples : [];
  return example ?? first ?? usual;
}

/** Writes an example; empty for an object, whose fields have rows of their own. */
function writeExample(value: unknown): string {
  if (value === undefined || value === null || (typeof value === 'object' && !isFlat(value))) return '';
  return cutText(typeof value === 'string' ? value.replace(/\s+/g, ' ') : JSON.stringify(value), EXAMPLE_LENGTH);
}

function isFlat(value: object): boolean {
  return Array.isArray(value) && value.every((member) => typeof member !== 'object');
}
