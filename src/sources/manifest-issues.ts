import type { z } from 'zod';
import { cutText, findNearest } from '../model/text.ts';
import { formatQuote } from './clean-string.ts';
import type { FindingCode } from './finding-codes.ts';
import { isObject } from './json-value.ts';
import { getMapping, PRICE_WORDS } from './manifest-schema.ts';
import type { Path } from './manifest-yaml.ts';

type Issue = z.core.$ZodIssue;

/** A problem with the content of a manifest, at a path. */
interface ManifestProblem {
  code: FindingCode;
  path: Path;
  message: string;
}

/** Finds the name and the fields of the mapping at a path. */
type FindMapping = (path: Path) => { label: string; fields: string[] };

/**
 * Describes why the schema refuses a manifest: one problem for each field, with the values that it takes. `find` is for
 * other documents that are checked like a manifest.
 */
export function describeIssues(
  issues: readonly Issue[],
  manifest: unknown,
  find: FindMapping = getMapping,
): ManifestProblem[] {
  return issues.flatMap((issue) => describeIssue(issue, manifest, [], find));
}

function describeIssue(issue: Issue, manifest: unknown, parent: Path, find: FindMapping): ManifestProblem[] {
  const path: Path = [...parent, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => describeUnknownField(key, path, find));
  const value = path.reduce<unknown>(
    (at, step) => (isObject(at) || Array.isArray(at) ? Reflect.get(at, step) : undefined),
    manifest,
  );
  if (issue.code === 'invalid_union' && isObject(value)) {
    // A price that is a mapping has the problem of the range: nobody means a mapping as plain text.
    const ofMapping = issue.errors.at(-1) ?? [];
    return ofMapping.flatMap((inner) => describeIssue(inner, manifest, path, find));
  }
  const name = formatPath(path);
  if (value === undefined) {
    const { label } = find(path.slice(0, -1));
    return [{ code: 'manifest_missing_field', path, message: `${name} is missing, which ${label} needs.` }];
  }
  const message = `${name} ${describeValue(value)}, but takes ${describeExpectation(issue)}.`;
  return [{ code: 'manifest_bad_value', path, message }];
}

function describeUnknownField(key: string, path: Path, find: FindMapping): ManifestProblem {
  const { label, fields } = find(path);
  const nearest = findNearest(key.slice(0, 60), fields);
  const guess = nearest ? `did you mean "${nearest}"? ` : '';
  return {
    code: 'manifest_unknown_field',
    path: [...path, key],
    message: `"${formatQuote(key)}" is not a field of ${label}; ${guess}Its fields are ${fields.join(', ')}.`.replace(
      '; Its',
      '; its',
    ),
  };
}

function describeValue(value: unknown): string {
  if (value === null) return 'has no value';
  if (Array.isArray(value)) return 'is a list';
  if (isObject(value)) return 'is a mapping';
  return `is ${cutText(JSON.stringify(value), 60)}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text (in quotes, where it looks like a number or a date)',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function describeExpectation(issue: Issue): string {
  // The schema's own message is complete for a route's price, or one end of a range.
  if (issue.path.at(-1) === 'price_usdc' && !issue.path.includes('routes')) {
    return `${PRICE_WORDS}, or {min: …, max: …}`;
  }
  if (issue.code === 'invalid_type') return TYPE_NAMES[issue.expected] ?? issue.expected;
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_format' && issue.path.at(-1) === 'slug')
    return 'small letters and digits, joined by single hyphens';
  if (issue.code === 'too_big') return `at most ${issue.maximum} characters`;
  if (issue.code === 'invalid_union' && issue.path.at(-1) !== 'at') return 'text, a number, true or false';
  return issue.message;
}

/** Writes a path for people: `routes[2].price_usdc`. */
export function formatPath(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${formatQuote(step)}`)).join('');
  return text.replace(/^\./, '') || 'The manifest';
}
