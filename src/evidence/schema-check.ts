import { Validator } from '@cfworker/json-schema';
import { isObject, type JsonObject } from '../model/json.ts';

/**
 * Most work of a check: parts of a schema times parts of a value. Schemas come from providers, and no schema may make a
 * check take long.
 */
const MAX_WORK = 200_000;

/** Longest text that is compared with a pattern or a format, and the longest pattern, in UTF-16 units. */
const MAX_TEXT = 300;
const MAX_PATTERN = 120;

/** Keywords that point elsewhere: following them can take forever, and without them a check is bounded. */
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/** Formats whose check is quick for any text. */
const FORMATS: ReadonlySet<unknown> = new Set(['date', 'time', 'date-time', 'uuid', 'ipv4', 'email', 'uri']);

/** Keywords whose members are data, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'example', 'examples', 'required']);

/** Keywords whose members are schemas by name. */
const NAMED = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/**
 * Finds the reason why a value does not satisfy a provider's JSON Schema; null if it does. A schema that cannot be
 * checked in bounded time is a reason, too. Patterns and formats of long texts are not compared.
 */
export function findSchemaFault(schema: JsonObject, value: unknown): string | null {
  if (countParts(schema) * countParts(value) > MAX_WORK) return 'the declared schema is too large to check';
  try {
    const checked = readChecked(schema, getLongestText(value) <= MAX_TEXT);
    const { valid, errors } = new Validator(checked, '2020-12').validate(value);
    if (valid) return null;
    const { instanceLocation = '#', error = '' } = errors.at(-1) ?? {};
    return `at ${instanceLocation === '#' ? 'the top' : instanceLocation.slice(2)}: ${error}`;
  } catch (error) {
    return error instanceof UncheckableError ? error.message : 'the declared schema is not valid JSON Schema';
  }
}

class UncheckableError extends Error {}

/** Copies a schema without parts that would be slow to compare. Throws if the rest would mean something else. */
function readChecked(schema: JsonObject, hasShortTexts: boolean): JsonObject {
  const kept: JsonObject = {};
  for (const [word, value] of Object.entries(schema)) {
    if (REFERENCES.includes(word))
      throw new UncheckableError('the declared schema refers to parts that are not on record');
    if (word === 'patternProperties') throw new UncheckableError('the declared schema names its fields by patterns');
    if (word === 'pattern' && !(hasShortTexts && isQuickPattern(value))) continue;
    if (word === 'format' && !(hasShortTexts && FORMATS.has(value))) continue;
    // Comparing every item with every other is slow, and a made-up list has one.
    if (word === 'uniqueItems') continue;
    if (DATA.has(word)) kept[word] = value;
    else if (NAMED.has(word) && isObject(value)) {
      const members = Object.entries(value).map(([name, member]) => [name, readMember(member, hasShortTexts)]);
      kept[word] = Object.fromEntries(members);
    } else kept[word] = readMember(value, hasShortTexts);
  }
  return kept;
}

function readMember(value: unknown, hasShortTexts: boolean): unknown {
  if (Array.isArray(value)) return value.map((member) => readMember(member, hasShortTexts));
  return isObject(value) ? readChecked(value, hasShortTexts) : value;
}

/**
 * Returns whether comparing a short text with a pattern is quick: no repetition within a repetition, and few of them.
 */
export function isQuickPattern(pattern: unknown): pattern is string {
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN) return false;
  const plain = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  return !/\)[*+{]/.test(plain) && (plain.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0) <= 2;
}

function countParts(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, member) => sum + countParts(member), 1);
  if (isObject(value)) return Object.values(value).reduce((sum: number, member) => sum + countParts(member), 1);
  return 1;
}

function getLongestText(value: unknown): number {
  if (typeof value === 'string') return value.length;
  const members = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return members.reduce((longest: number, member) => Math.max(longest, getLongestText(member)), 0);
}
