import type { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { findOwnName, readGiven } from './given-value.ts';
import { isObject } from './json.ts';
import { findNearest } from './text.ts';

type Issue = z.core.$ZodIssue;

/**
 * Parses the arguments of a tool call, or the fields of a posted question; a correct value may have another JSON type. Throws
 * `bad_input` that names every argument that is unknown (with the nearest valid one) or has an invalid value: no filter is ever
 * ignored.
 */
export function parseArguments<Input extends z.ZodObject>(input: Input, args: unknown): z.output<Input> {
  const names = Object.keys(input.shape);
  const given = isObject(args) ? readArguments(input, args, names) : (args ?? {});
  const parsed = input.safeParse(given);
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.slice(0, NAMED_UNKNOWN).map((key) => describeUnknown(key, names))
      : [describeIssue(issue, input, given)],
  );
  throw new ServiceError('bad_input', sentences.join(' '), {
    hint: names.length > 0 ? `Valid arguments: ${names.join(', ')}.` : 'This tool takes no arguments.',
    reason: 'bad_arguments',
    details: { valid_arguments: names },
  });
}

/** Returns each argument under the parameter's own name. One that is given under two names keeps both, and is refused later. */
function readArguments(input: z.ZodObject, args: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([given, value]) => {
      const own = findOwnName(given, names);
      const name = own in args ? given : own;
      return [name, readGiven(input.shape[name], value)];
    }),
  );
}

/** Most unknown arguments that are named, and longest quote of the caller's text. */
const NAMED_UNKNOWN = 5;
const QUOTED_LENGTH = 60;

function describeUnknown(key: string, names: readonly string[]): string {
  const nearest = findNearest(key.slice(0, QUOTED_LENGTH), names);
  const question = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return `There is no argument "${key.slice(0, QUOTED_LENGTH)}".${question}`;
}

function describeIssue(issue: Issue, input: z.ZodObject, args: unknown): string {
  const name = String(issue.path[0] ?? '');
  if (name === '') return 'The arguments must be an object.';
  const meaning = input.shape[name] && getDescription(input.shape[name]);
  const note = meaning ? ` (${meaning})` : '';
  if (!(name in Object(args))) return `The argument ${name} is missing${note}.`;
  const expected = issue.message.replace(/^Invalid (?:input|option)(?:: )?/, '');
  return `The argument ${name} cannot take this value${expected ? `: ${expected}` : ''}${note}.`;
}

function getDescription(schema: z.core.$ZodType): string | undefined {
  return 'description' in schema && typeof schema.description === 'string' ? schema.description : undefined;
}
