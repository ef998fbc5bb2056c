import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, type YAMLError } from 'yaml';
import { z } from 'zod';
import { category } from '../model/catalogue.ts';
import { isObject } from '../model/json.ts';
import { jsonObject } from '../model/json-object.ts';
import { slug } from '../model/listing.ts';
import { FAMILY_WORDS, NETWORKS, type NetworkKey, networkKey } from '../model/network.ts';
import { httpMethod } from '../model/request.ts';
import { cutText, findNearest } from '../model/text.ts';
import { formatUsdc } from '../model/usdc.ts';
import { MAX_PLAUSIBLE_AMOUNT } from '../x402/offer-fields.ts';
import { formatQuote } from './clean-string.ts';
import type { FindingCode } from './findings.ts';

/** A decimal amount above zero, with at most six decimals. */
const PRICE = /^(?=.*[1-9])\d{1,10}(\.\d{1,6})?$/;

/** The values that a price takes, in words. */
const PRICE_WORDS = `a decimal amount of USDC above zero, at most ${formatUsdc(MAX_PLAUSIBLE_AMOUNT)}, with at most six decimals, such as "0.01"`;

const text = (description: string) => z.string().min(1, 'some text').describe(description);
const address = (description: string) => z.string().describe(description).meta({ format: 'uri' });

// Prices are read from the source text, so that `0.10` and `"0.10"` are equal and no decimal is lost.
const amount = z
  .string()
  .regex(PRICE, PRICE_WORDS)
  .meta({ type: ['string', 'number'], exclusiveMinimum: 0 });

const priceRange = z.strictObject({ min: amount, max: amount });

const networks = z
  .array(networkKey)
  .min(1, 'at least one network')
  .refine((keys) => new Set(keys).size === keys.length, 'each network once')
  .meta({ uniqueItems: true });

const example = z.strictObject({
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
});

const payTo = z.strictObject(
  Object.fromEntries(
    Object.values(NETWORKS).map(({ key, label, family }) => [
      key,
      z.string().optional().describe(`Account on ${label}: ${FAMILY_WORDS[family].account}`),
    ]),
  ) as Record<NetworkKey, z.ZodOptional<z.ZodString>>,
);

const manifestRoute = z.strictObject({
  method: httpMethod,
  path: z
    .string()
    .regex(
      /^\/[^\s#\\]{0,1000}(#[\w./-]{1,128})?$/,
      'a path that begins with / and holds no white space or backslash, and # only before the name of a tool at its end',
    )
    .describe(
      'Path after base_url; :name and {name} stay templates, a fixed query may follow. A tool of an MCP server is POST, the path of the server, # and the name',
    ),
  description: text('What the route does').optional(),
  price_usdc: amount.describe('Price of one request').optional(),
  networks: networks.describe("Default: the listing's networks, else base").optional(),
  pay_to: payTo.describe('Who is paid, for each network').optional(),
  mime_type: z.string().optional().describe('Media type of the answer'),
  input_schema: jsonObject.optional().describe('JSON Schema with a property for each part: queryParams, body, headers'),
  output_schema: jsonObject.optional().describe('JSON Schema of the answer'),
  example: example.describe('A request that works; no secrets, no payment').optional(),
});
export type ManifestRoute = z.infer<typeof manifestRoute>;

/** One listing as a YAML file states it. */
export const manifest = z.strictObject({
  name: text('Title of the listing'),
  base_url: address('Address that the paths of the routes follow'),
  tagline: text('What it is, in one line'),
  provider: text('Display name of the provider; default: the name').optional(),
  slug: slug.describe('Name in addresses of the catalogue; default: made from the name').optional(),
  description: text('Longer text; blank lines separate paragraphs').optional(),
  category: category.describe('Default: inferred from the text').optional(),
  mcp_endpoint: address("The provider's own MCP server").optional(),
  docs_url: address("The provider's documentation").optional(),
  price_usdc: z
    .union([amount, priceRange])
    .optional()
    .describe('Price of one request, or its range; only for a listing without itemised routes'),
  networks: networks.describe('Networks that are paid on: with price_usdc, and the default of every route').optional(),
  observed: z
    .strictObject({
      source: text('Where these facts were seen'),
      at: z
        .union([z.iso.date(), z.iso.datetime({ offset: true })], 'a date such as 2026-03-17, or a time with its zone')
        .describe('When they were seen'),
    })
    .optional()
    .describe('Dated evidence; without it the manifest is a bare claim'),
  routes: z.array(manifestRoute).optional().describe('What can be called'),
});
export type Manifest = z.infer<typeof manifest>;

/** The steps to a value: names of fields, and places in lists. */
export type Path = readonly (string | number)[];

/** The mappings of a manifest: their names in messages, and their schemas. */
const MAPPINGS = {
  manifest: { label: 'a manifest', schema: manifest },
  routes: { label: 'a route', schema: manifestRoute },
  example: { label: 'an example', schema: example },
  pay_to: { label: 'pay_to', schema: payTo },
  price_usdc: { label: 'a price range', schema: priceRange },
  observed: { label: 'observed', schema: manifest.shape.observed.unwrap() },
} as const;

/** Returns the name and the fields of the mapping at a path of a manifest. */
export function getMapping(path: Path): { label: string; fields: string[] } {
  const key = path.findLast((step) => typeof step === 'string') ?? 'manifest';
  const { label, schema } = Object.entries(MAPPINGS).find(([name]) => name === key)?.[1] ?? MAPPINGS.manifest;
  return { label, fields: Object.keys(schema.shape) };
}

/** A problem with the text of a manifest, at a line (from 1). */
export interface YamlProblem {
  code: FindingCode;
  line: number;
  message: string;
}

interface YamlText {
  value: unknown;
  /** Returns the line of the value at a path, or of the nearest value around it. */
  getLine: (path: Path) => number;
}

const MAX_DEPTH = 40;

/** Longest message of the library that is passed on, in UTF-16 units: some quote the text. */
const COMPLAINT_LENGTH = 160;

/** Advice for the library's most frequent errors. */
const ADVICE: Readonly<Record<string, string>> = {
  MISSING_CHAR: 'A quote or bracket that is opened must be closed.',
  BAD_INDENT: 'Fields of one mapping must begin in the same column.',
  BLOCK_AS_IMPLICIT_KEY: 'Put text that holds a colon and a space in quotes.',
  MULTILINE_IMPLICIT_KEY: 'A field is written "name: value" on its line.',
  BAD_SCALAR_START: 'Put text that begins with a special character in quotes.',
};

/**
 * Parses the YAML text of one manifest into plain data, strictly: one document, no anchors, aliases, tags or tabs, no
 * duplicate keys, bounded depth. Numbers at paths for which `isExact` is true are returned as they are written. Returns
 * all problems with their lines. Takes time in proportion to the text.
 */
export function parseYaml(text: string, isExact: (path: Path) => boolean): YamlText | { problems: YamlProblem[] } {
  const lines = new LineCounter();
  const getLineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  // Duplicate keys are checked below, because the library compares every key with every other.
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
    resolveKnownTags: false,
    logLevel: 'silent',
  });
  const [document, second] = [...documents];
  if (!document?.contents) return { problems: [{ code: 'manifest_empty', line: 1, message: 'the file is empty.' }] };
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) {
    // One mistake makes the library report several errors on its line; the first is the useful one.
    const byLine = new Map<number, YamlProblem>();
    for (const error of errors) {
      const line = getLineAt(error.pos[0]);
      if (!byLine.has(line)) byLine.set(line, describeError(error, line));
    }
    return { problems: [...byLine.values()] };
  }
  if (second) {
    const message = 'a second YAML document begins here; one file is one listing, so put it into a file of its own.';
    return { problems: [{ code: 'manifest_many_documents', line: getLineAt(second.range[0]), message }] };
  }
  const problems: YamlProblem[] = [];
  const offsets = new Map<string, number>();
  const report = (code: FindingCode, node: Node | null, message: string) =>
    problems.push({ code, line: getLineAt(node?.range?.[0] ?? 0), message });
  const value = readNode(document.contents, [], { isExact, offsets, report });
  if (problems.length > 0) return { problems };
  return { value, getLine: (path) => getLineAt(findOffset(offsets, path)) };
}

function describeError({ code, message }: YAMLError, line: number): YamlProblem {
  if (code === 'TAB_AS_INDENT') {
    return { code: 'manifest_tab', line, message: 'the line is indented with a tab; use spaces.' };
  }
  if (code === 'TAG_RESOLVE_FAILED') {
    return {
      code: 'manifest_alias',
      line,
      message: 'there is a YAML tag (!…) here; manifests may not have any, so remove it.',
    };
  }
  if (code === 'RESOURCE_EXHAUSTION') {
    return { code: 'manifest_too_deep', line, message: `nothing may be nested deeper than ${MAX_DEPTH} levels.` };
  }
  const complaint = cutText(message.replace(/\s+/g, ' ').replace(/\.?$/, '.'), COMPLAINT_LENGTH);
  return {
    code: 'manifest_yaml',
    line,
    message: `this is not well-formed YAML. ${complaint} ${ADVICE[code] ?? ''}`.trim(),
  };
}

interface ReadContext {
  isExact: (path: Path) => boolean;
  /** The offset of the value at each path: that of its key, or of the list entry. */
  offsets: Map<string, number>;
  report: (code: FindingCode, node: Node | null, message: string) => void;
}

function readNode(node: unknown, path: Path, context: ReadContext): unknown {
  if (isAlias(node) || (isNode(node) && node.anchor)) {
    context.report('manifest_alias', node, 'there is a YAML anchor or alias (& or *) here; write the value out.');
    return undefined;
  }
  if (path.length > MAX_DEPTH) {
    context.report(
      'manifest_too_deep',
      isNode(node) ? node : null,
      `nothing may be nested deeper than ${MAX_DEPTH} levels.`,
    );
    return undefined;
  }
  if (isScalar(node)) return typeof node.value === 'number' && context.isExact(path) ? node.source : node.value;
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const at = [...path, index];
      if (isNode(item)) context.offsets.set(getPathKey(at), item.range?.[0] ?? 0);
      return readNode(item, at, context);
    });
  }
  return isMap(node) ? readMap(node, path, context) : null;
}

function readMap(map: { items: { key: unknown; value: unknown }[] }, path: Path, context: ReadContext): unknown {
  const entries = new Map<string, unknown>();
  for (const { key, value } of map.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (entries.has(name)) {
      context.report(
        'manifest_duplicate_key',
        key,
        `"${formatQuote(name)}" appears twice in one mapping; remove one of them.`,
      );
      continue;
    }
    const at = [...path, name];
    context.offsets.set(getPathKey(at), key.range?.[0] ?? 0);
    entries.set(name, readNode(value, at, context));
  }
  return Object.fromEntries(entries);
}

function isNode(node: unknown): node is Node & { anchor?: string } {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
}

function findOffset(offsets: Map<string, number>, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const offset = offsets.get(getPathKey(path.slice(0, length)));
    if (offset !== undefined) return offset;
  }
  return 0;
}

function getPathKey(path: Path): string {
  return JSON.stringify(path);
}

type Issue = z.core.$ZodIssue;

/** A problem with the content of a manifest, at a path. */
interface ManifestProblem {
  code: FindingCode;
  path: Path;
  message: string;
}

/** Finds the name and the fields of the mapping at a path. */
type FindMapping = typeof getMapping;

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
