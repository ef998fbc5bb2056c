import { Validator } from '@cfworker/json-schema';
import { isObject } from '../model/json-object.ts';
import type { Conformity } from '../model/payment.ts';
import type { JsonObject } from '../model/route.ts';

/** What a route declares of its product. */
export interface DeclaredProduct {
  mime_type: string | null;
  output_schema: JsonObject | null;
}

/** Larger schemas and bodies than these are not compared, in bytes: both are the provider's. */
const MAX_SCHEMA = 64 * 1024;
const MAX_BODY = 1024 * 1024;

/** Keywords by which a schema could keep us busy for ever, or ask for another document. */
const LEFT_OUT = new Set(['pattern', 'patternProperties', 'format', '$ref', '$dynamicRef', '$recursiveRef']);

/** Words without which a declared output is a description in the provider's own form, not a JSON Schema. */
const SCHEMA_WORDS = ['type', 'properties', 'items', 'required', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$schema'];

/**
 * Says whether a body is what its route declares: its media type, and where that is JSON and a JSON Schema is declared,
 * its shape. Patterns, formats and references of the schema are not looked at. `undeclared` where nothing is declared
 * that could be compared.
 */
export function getConformity(
  { mime_type, output_schema }: DeclaredProduct,
  { contentType, body }: { contentType: string | null; body: Uint8Array },
): Conformity {
  const declared = getMediaType(mime_type);
  if (declared !== null && getMediaType(contentType) !== declared) return 'no';
  const schema = findSchema(output_schema);
  if (!schema) return declared === null ? 'undeclared' : isReadable(declared, body) ? 'yes' : 'no';
  if (body.byteLength > MAX_BODY) return declared === null ? 'undeclared' : 'yes';
  const value = parseJson(body);
  if (value === undefined) return 'no';
  return new Validator(schema, '2020-12').validate(value).valid ? 'yes' : 'no';
}

/** What says that it is JSON has to be. */
function isReadable(mediaType: string, body: Uint8Array): boolean {
  return !/[/+]json$/.test(mediaType) || body.byteLength > MAX_BODY || parseJson(body) !== undefined;
}

function getMediaType(text: string | null): string | null {
  const type = text?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : null;
}

function findSchema(declared: JsonObject | null): JsonObject | undefined {
  if (!declared || !SCHEMA_WORDS.some((word) => word in declared)) return undefined;
  if (Buffer.byteLength(JSON.stringify(declared)) > MAX_SCHEMA) return undefined;
  const cleaned = leaveOut(declared);
  return isObject(cleaned) ? cleaned : undefined;
}

function leaveOut(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(leaveOut);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name, member]) => !(LEFT_OUT.has(name) && typeof member !== 'object'));
  return Object.fromEntries(
    kept.filter(([name]) => name !== 'patternProperties').map(([name, member]) => [name, leaveOut(member)]),
  );
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
