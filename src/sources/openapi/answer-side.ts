import type { JsonObject } from '../../model/route.ts';
import type { Note } from '../finding-codes.ts';
import { cleanJson, isObject } from '../json-value.ts';
import { readMimeType } from '../provider-text.ts';
import { findContent } from './contents.ts';
import type { DocumentReader } from './document-reader.ts';
import { findNamedExample } from './examples.ts';
import { followReference } from './references.ts';

/** Answers that carry the product, the usual one first. `default` is left out: as a rule it describes the error. */
const SUCCESSES = ['200', '201', '202', '203', '206', '2XX', '2xx'];

/** Reads what an operation says of its answer: its media type, and its JSON Schema with an example where one is given. */
export function readAnswerSide(
  reader: DocumentReader,
  responses: unknown,
  note: Note,
): { mime_type: string | null; output_schema: JsonObject | null } {
  const status = isObject(responses) ? SUCCESSES.find((code) => Object.hasOwn(responses, code)) : undefined;
  const answer =
    isObject(responses) && status !== undefined ? followReference(reader.document, responses[status]) : undefined;
  const content = isObject(answer) ? findContent(reader, answer.content) : undefined;
  if (!content) return { mime_type: null, output_schema: null };
  const schema = reader.readSchema(content.media.schema, note);
  const described = schema && !isBare(schema) ? schema : null;
  const { example: own, examples } = content.media;
  const example = own === undefined ? findNamedExample(reader, examples) : reader.takeData(own);
  const whole = example === undefined ? undefined : cleanJson({ ...described, examples: [example] });
  return {
    mime_type: readMimeType(content.mime_type, note),
    output_schema: isObject(whole) ? whole : described,
  };
}

/** `{type: 'object'}` and `{}` say nothing. */
function isBare(schema: JsonObject): boolean {
  return Object.keys(schema).every((key) => key === 'type' || key === 'format');
}
