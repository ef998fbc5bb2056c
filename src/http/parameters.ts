import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { findOwnName, readGiven } from '../model/given-value.ts';
import { findNearest } from '../model/text.ts';

/** Most characters that are quoted of a reader's text. */
const QUOTED_LENGTH = 100;

/**
 * Parses a query by the schema that documents it. Throws `bad_input` for a parameter that is unknown (naming the valid ones and
 * the nearest), given twice, or has an invalid value: no filter is ever ignored. A parameter whose schema is an array is given
 * once for each value.
 */
export function parseQuery<Query extends z.ZodObject>(schema: Query, asked: URLSearchParams): z.output<Query> {
  const names = Object.keys(schema.shape);
  const search = new URLSearchParams(Array.from(asked, ([name, value]) => [findOwnName(name, names), value]));
  const lists = names.filter((name) => isList(schema.shape[name]));
  refuseUnknown(search, names, lists);
  const given: Record<string, unknown> = {};
  for (const [name, value] of search) given[name] = readGiven(schema.shape[name], value);
  for (const name of lists) if (search.has(name)) given[name] = search.getAll(name);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  const [, place] = issue?.path ?? [];
  if (lists.includes(name) && place === undefined)
    throw buildListError(name, search.getAll(name), schema.shape[name], issue);
  const value = search.getAll(name)[typeof place === 'number' ? place : 0];
  if (value === undefined) throw buildMissingError(name);
  throw new ServiceError('bad_input', `The parameter ${name} cannot be "${value.slice(0, QUOTED_LENGTH)}".`, {
    hint: issue ? describeValid(name, value, schema.shape[name], issue) : `${name} takes another value.`,
    reason: 'bad_parameter',
    details: { parameter: name },
  });
}

/** Returns true if a parameter is given once for each value. */
function isList(schema: z.core.$ZodType | undefined): boolean {
  return schema instanceof z.ZodOptional ? isList(schema.unwrap()) : schema instanceof z.ZodArray;
}

/** Throws `bad_input` for a query parameter that is not in `valid`, or is given more than once without being in `lists`. */
export function refuseUnknown(search: URLSearchParams, valid: readonly string[], lists: readonly string[] = []): void {
  for (const name of search.keys()) {
    if (!valid.includes(name)) throw buildUnknownError(name, valid);
    if (!lists.includes(name) && search.getAll(name).length > 1) {
      throw new ServiceError('bad_input', `The parameter ${name} is given more than once.`, {
        hint: 'Give each parameter once.',
        reason: 'repeated_parameter',
        details: { parameter: name },
      });
    }
  }
}

function buildUnknownError(given: string, valid: readonly string[]): ServiceError {
  const name = given.slice(0, QUOTED_LENGTH);
  const nearest = findNearest(name, valid);
  const list = valid.length > 0 ? `It takes ${valid.join(', ')}.` : 'It takes none.';
  return new ServiceError('bad_input', `There is no parameter "${name}" here.`, {
    hint: nearest ? `Did you mean ${nearest}? ${list}` : list,
    reason: 'unknown_parameter',
    details: { parameter: name, valid_parameters: valid },
  });
}

function buildMissingError(name: string): ServiceError {
  return new ServiceError('bad_input', `The parameter ${name} is missing.`, {
    hint: `Give ${name}.`,
    reason: 'missing_parameter',
    details: { parameter: name },
  });
}

/** Builds the error that says how to give a parameter with several values. */
function buildListError(
  name: string,
  given: readonly string[],
  schema: z.core.$ZodType | undefined,
  issue: z.core.$ZodIssue | undefined,
): ServiceError {
  const { description, minItems, maxItems } = schema ? z.toJSONSchema(schema, { io: 'input' }) : {};
  const isOfLength = issue?.code === 'too_small' || issue?.code === 'too_big' || given.length === 0;
  const count = given.length === 0 ? 'missing' : given.length === 1 ? 'given once' : `given ${given.length} times`;
  const detail = isOfLength ? `The parameter ${name} is ${count}.` : `The parameter ${name} takes ${issue?.message}.`;
  return new ServiceError('bad_input', detail, {
    hint: `Give ${name} ${minItems} to ${maxItems} times. ${description}`,
    reason: given.length === 0 ? 'missing_parameter' : 'bad_parameter',
    details: { parameter: name },
  });
}

/** Describes the valid values of a parameter by its schema, and names the one that was most likely meant. */
function describeValid(
  name: string,
  value: string,
  schema: z.core.$ZodType | undefined,
  issue: z.core.$ZodIssue,
): string {
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    const nearest = values.find((valid) => valid.toLowerCase() === value.toLowerCase()) ?? findNearest(value, values);
    return `${nearest ? `Did you mean ${nearest}? ` : ''}${name} takes one of ${values.join(', ')}.`;
  }
  const { type, minimum, maximum, minLength, maxLength } = schema ? z.toJSONSchema(schema, { io: 'input' }) : {};
  if (type === 'boolean') return `${name} takes true or false.`;
  if (type === 'integer') {
    const upTo = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? ' on' : ` to ${maximum}`;
    return `${name} takes a whole number from ${minimum ?? 0}${upTo}.`;
  }
  const isOfLength = issue.code === 'too_small' || issue.code === 'too_big';
  return `${name} takes ${isOfLength ? `${minLength ?? 0} to ${maxLength} characters` : issue.message}.`;
}
