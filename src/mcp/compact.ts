import type { Caution } from '../model/caution.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { cutText } from '../model/text.ts';

/**
 * Texts that tokenizers mostly take as one token: a short word, three digits, a run of punctuation in JSON or an address, any
 * other single sign, a letter of another script.
 */
const PIECES = /[A-Z]?[a-z]{1,7}|[A-Z]{1,3}|\d{1,3}|[":,{}[\]\\/]{1,3}|[!-/:-@[-`{-~]|\p{L}|[^\s\w!-~]/gu;

/** Texts that take one more token: marks, emoji and other signs outside ASCII, rare letters, and letters that form no word. */
const DEARER = /[^\s\w!-~\p{L}]|[\u{10000}-\u{10ffff}]|[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{4}|[A-Z]{6}/gu;

/**
 * Estimates the tokens of a text, quickly and without a vocabulary. Compared with the o200k encoding it is up to 25 % too high
 * for JSON with prose, addresses and hashes (rarely 5 % too low), and higher for most other scripts; for random letters it is
 * half of the actual number.
 */
export function getTokenEstimate(text: string): number {
  return (text.match(PIECES)?.length ?? 0) + (text.match(DEARER)?.length ?? 0);
}

/** Returns how many of the items, from the first, fit into a number of tokens as JSON; at least one if there are any. */
export function countFitting(items: readonly unknown[], tokens: number): number {
  let left = tokens;
  const count = items.findIndex((item) => {
    left -= getTokenEstimate(JSON.stringify(item)) + 1;
    return left < 0;
  });
  return count < 0 ? items.length : Math.max(count, 1);
}

/** UTF-16 units of a shortened text for each token that it may cost; ordinary prose has five. */
const UNITS_A_TOKEN = 2.5;

/**
 * Cuts text to at most `length` UTF-16 units, or shorter if it costs many tokens for its length, as other scripts and stacked
 * marks do. Cuts between characters as a reader sees them, and adds an ellipsis.
 */
export function shortenText(text: string, length: number): string {
  const cut = cutText(text, length);
  const excess = (getTokenEstimate(cut) * UNITS_A_TOKEN) / length;
  return excess <= 1 ? cut : cutText(text, Math.floor(cut.length / excess));
}

/** Longest reply of a provider that is quoted, in UTF-16 units. */
const REPLY_LENGTH = 140;

/** Writes the reply of a provider to a caution as a sentence; an empty text without a reply. */
export function formatReply(reply: Caution['reply']): string {
  return reply ? ` Provider replies: "${shortenText(reply.text, REPLY_LENGTH)}"` : '';
}

/** Keywords of a schema that explain a value and do not restrict it. */
const PROSE = new Set(['$schema', '$id', '$comment', 'title', 'description', 'examples', 'deprecated']);

/** Keywords under which a schema has other schemas: by name, in a list, or alone. */
const NAMED = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']);
const NESTED = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'not', 'prefixItems']);

/**
 * Shortens a provider's JSON Schema until it fits into a number of tokens: unchanged, without prose, or only the fields of the
 * first level with their types. Returns undefined if even that is too long.
 */
export function shortenSchema(schema: JsonObject, tokens: number): JsonObject | undefined {
  return [schema, removeProse(schema), getOutline(schema)].find(
    (candidate) => getTokenEstimate(JSON.stringify(candidate)) <= tokens,
  );
}

function removeProse(schema: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [word, value] of Object.entries(schema)) {
    if (PROSE.has(word)) continue;
    if (NAMED.has(word) && isObject(value)) {
      kept[word] = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, removeInside(member)]));
    } else kept[word] = NESTED.has(word) ? removeInside(value) : value;
  }
  return kept;
}

function removeInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removeInside);
  return isObject(value) ? removeProse(value) : value;
}

function getOutline({ type, properties, required }: JsonObject): JsonObject {
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const outlines = fields.map(([name, field]) => [
    name,
    isObject(field) && field.type !== undefined ? { type: field.type } : {},
  ]);
  return {
    ...(type !== undefined && { type }),
    properties: Object.fromEntries(outlines),
    ...(required !== undefined && { required }),
  };
}
