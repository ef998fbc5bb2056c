import type { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { findNearest } from '../model/text.ts';

type Issue = z.core.$ZodIssue;

/**
 * Parses the arguments of a tool call. Throws `bad_input` that names every argument that is unknown (and what it most
 * likely meant) or has a value it cannot take: no filter is ever ignored.
 */
export function parseArguments<Input extends z.ZodObject>(input: Input, args: unknown): z.output<Input> {
  const parsed = input.safeParse(args ?? {});
  if (parsed.success) return parsed.data;
  const names = Object.keys(input.shape);
  const sentences = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.slice(0, NAMED_UNKNOWN).map((key) => describeUnknown(key, names))
      : [describeIssue(issue, input, args)],
  );
  throw new ServiceError('bad_input', sentences.join(' '), {
    hint: names.length > 0 ? `Valid arguments: ${names.join(', ')}.` : 'This tool takes no arguments.',
    reason: 'bad_arguments',
    details: { valid_arguments: names },
  });
}

/** Number of unknown arguments that are named, and length of what is quoted of the caller's words. */
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
  const expected =
    describeOtherType(issue, Object(args)[name]) ?? issue.message.replace(/^Invalid (?:input|option)(?:: )?/, '');
  return `The argument ${name} cannot take this value${expected ? `: ${expected}` : ''}${note}.`;
}

/** Says how to write a value that is right but for its JSON type, as models often send it: 0.01 for "0.01", "5" for 5. */
function describeOtherType(issue: Issue, value: unknown): string | undefined {
  if (issue.code !== 'invalid_type' || issue.path.length > 1) return undefined;
  if (issue.expected === 'string' && typeof value === 'number') return `write it as text, "${value}"`;
  const isNumber = issue.expected === 'number' || issue.expected === 'int';
  if (isNumber && typeof value === 'string' && /^\d{1,9}$/.test(value)) return `write it without quotes, ${value}`;
  const isBoolean = issue.expected === 'boolean' && (value === 'true' || value === 'false');
  return isBoolean ? `write it without quotes, ${value}` : undefined;
}

function getDescription(schema: z.core.$ZodType): string | undefined {
  return 'description' in schema && typeof schema.description === 'string' ? schema.description : undefined;
}
