import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage, ServiceError } from '../errors.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { DEFAULT_NETWORK, NETWORKS, type NetworkKey } from '../model/network.ts';
import { type DeclaredRoute, getRouteUrl } from '../model/route.ts';
import type { Terms } from '../model/terms.ts';
import { formatUsdc, parseUsdc } from '../model/usdc.ts';
import { MAX_PLAUSIBLE_AMOUNT, parsePayTo } from '../x402/offer-fields.ts';
import { formatQuote } from './clean-string.ts';
import { buildFinding, FINDING_CODES, type FindingCode, type Note } from './findings.ts';
import { cleanSchema } from './json-value.ts';
import { readLimitedFile } from './limited-file.ts';
import {
  describeIssues,
  formatPath,
  type Manifest,
  type ManifestRoute,
  manifest,
  type Path,
  parseYaml,
  type YamlProblem,
} from './manifest-text.ts';
import { findPathBelow, parseListedUrl } from './outside-address.ts';
import { readMimeType, readText, type TextField } from './provider-text.ts';
import { buildRequestExample } from './request-example.ts';
import { getSourceName } from './source-name.ts';

/** Largest manifest that is read, in bytes. */
const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Largest number of problems of one file that are reported. */
const MAX_PROBLEMS = 20;

interface ManifestOptions {
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC: `observed.at` cannot be later. */
  now: string;
}

interface ParsedManifest {
  /** The declaration; absent if anything is wrong: a manifest is taken whole or not at all. */
  declaration?: Declaration;
  /** Findings, each with the name of the file; a refusal also names the line and what to do. */
  findings: Finding[];
}

/**
 * Parses a YAML manifest, which is one listing, into its declaration. Strict: an unknown field, a duplicate key, an
 * alias, a second document or a bad value refuses the whole file, and all problems are reported at once. Never throws,
 * whatever the text.
 */
export function parseManifest(text: string, fileName: string, options: ManifestOptions): ParsedManifest {
  const name = getSourceName(fileName);
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES) return { findings: [buildFileFinding('manifest_too_large', name)] };
  const yaml = parseYaml(text, isPrice);
  if ('problems' in yaml) return { findings: buildRefusals(yaml.problems, name) };
  const problems: YamlProblem[] = [];
  const refuse = (code: FindingCode, path: Path, message: string) =>
    problems.push({ code, line: yaml.getLine(path), message });
  const parsed = manifest.safeParse(yaml.value);
  if (!parsed.success) {
    for (const { code, path, message } of describeIssues(parsed.error.issues, yaml.value)) refuse(code, path, message);
    return { findings: buildRefusals(problems, name) };
  }
  const notes: Finding[] = [];
  const note: Note = (code, message = FINDING_CODES[code]) =>
    notes.push(buildFinding('noted', code, name, `${name}: ${message}`));
  const declaration = buildManifestDeclaration(parsed.data, { ...options, name, refuse, note });
  return problems.length > 0 ? { findings: buildRefusals(problems, name) } : { declaration, findings: notes };
}

/** Builds the refusal of a whole file, for a reason without a line. */
function buildFileFinding(code: FindingCode, name: string): Finding {
  return buildFinding('refused', code, name, `${name}: ${FINDING_CODES[code]}`);
}

/** Builds the findings of a refused file, sorted by line. Only the first are listed, with the number of the others. */
function buildRefusals(problems: readonly YamlProblem[], name: string): Finding[] {
  const sorted = problems.toSorted((a, b) => a.line - b.line);
  const shown = sorted.slice(0, MAX_PROBLEMS);
  const more = sorted.length - shown.length;
  return shown.map(({ code, line, message }, index) => {
    const rest = more > 0 && index === shown.length - 1 ? ` And ${more} more.` : '';
    return buildFinding('refused', code, name, `${name}, line ${line}: ${message}${rest}`, `line ${line}`);
  });
}

/** Returns whether a path is that of a price, which keeps every digit as it is written. */
function isPrice([first, , third]: Path): boolean {
  return first === 'price_usdc' || (first === 'routes' && third === 'price_usdc');
}

/** The file name of a manifest, which like any file name may contain a line end. */
const MANIFEST_NAME = /^[^.].*\.ya?ml$/is;

/** One manifest file and the result of parsing it. */
export interface ManifestFile extends ParsedManifest {
  /** Name of the file on record. */
  name: string;
  /** Path of the file. */
  path: string;
}

/**
 * Reads manifests: files of any name, and the `*.yaml` and `*.yml` files of folders, sorted by name. A problem with one
 * file is a finding of that file. Throws `bad_input` for a path that does not exist.
 */
export async function* readManifests(
  paths: readonly string[],
  options: ManifestOptions,
): AsyncGenerator<ManifestFile, void, undefined> {
  for (const path of paths) {
    if (!(await isFolder(path))) {
      yield await readManifest(path, options);
      continue;
    }
    const files = (await readdir(path)).filter((file) => MANIFEST_NAME.test(file)).sort();
    for (const file of files) yield await readManifest(join(path, file), options);
    if (files.length === 0) yield buildEmptyFolder(path);
  }
}

async function readManifest(path: string, options: ManifestOptions): Promise<ManifestFile> {
  const name = getSourceName(path);
  const text = await readManifestText(path, name);
  return { name, path, ...(typeof text === 'string' ? parseManifest(text, name, options) : { findings: [text] }) };
}

async function readManifestText(path: string, name: string): Promise<string | Finding> {
  try {
    const read = await readLimitedFile(path, MAX_MANIFEST_BYTES);
    if (read === 'not_a_file') return buildFileFinding('manifest_not_a_file', name);
    if (read === 'too_large') return buildFileFinding('manifest_too_large', name);
    return new TextDecoder('utf-8', { fatal: true }).decode(read);
  } catch (error) {
    const message = `${name}: the file cannot be read as UTF-8 text (${describeCause(error)}).`;
    return buildFinding('refused', 'manifest_unreadable', name, message);
  }
}

/** Returns the cause in a word or two; the whole message would contain a path of this machine. */
function describeCause(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code || getErrorMessage(error);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw new ServiceError('bad_input', `There is no file or folder ${path}.`, {
      reason: 'no_such_file',
      hint: 'Give manifest files, or folders that hold *.yaml files.',
      cause: error,
    });
  }
}

function buildEmptyFolder(path: string): ManifestFile {
  const name = getSourceName(path);
  const message = `The folder ${name} holds no *.yaml or *.yml files.`;
  return { name, path, findings: [buildFinding('noted', 'no_manifests', name, message)] };
}

/** A placeholder in an address: `{tenant}`, `<tenant>`, `/:tenant`. */
const PLACEHOLDER = /\{[^{}]*\}|<[^<>]*>|(?<=\/):[a-z_]\w*/i;

/**
 * Builds the declaration of a manifest whose fields were already checked one by one. Refuses fields that contradict
 * each other.
 */
export function buildManifestDeclaration(given: Manifest, context: ManifestContext): Declaration {
  const { note } = context;
  const baseUrl = readAddress(given.base_url, ['base_url'], context) ?? '';
  const routes = (given.routes ?? []).map((route, index) => buildRoute(route, index, baseUrl, given, context));
  refuseDuplicates(routes, context);
  if (given.price_usdc !== undefined && routes.length > 0) {
    context.refuse(
      'manifest_two_prices',
      ['price_usdc'],
      'price_usdc is only for a listing without routes; give each route its own.',
    );
  }
  if (given.price_usdc === undefined && routes.every(({ terms }) => terms.length === 0)) note('no_price');
  const name = readOwnText(given.name, 'title', ['name'], context);
  return {
    source: {
      kind: 'manifest',
      name: context.name,
      observed_at: readObservedAt(given, context),
      ...(given.observed && {
        observed_in: readOwnText(given.observed.source, 'tagline', ['observed', 'source'], context),
      }),
    },
    base_url: baseUrl,
    slug: given.slug ?? null,
    service_name: name,
    title: name,
    tagline: readOwnText(given.tagline, 'tagline', ['tagline'], context),
    description: readOwnText(given.description, 'description', ['description'], context),
    provider_name:
      given.provider === undefined
        ? readText(given.name, 'provider_name', note)
        : readOwnText(given.provider, 'provider_name', ['provider'], context),
    category: given.category ?? null,
    mcp_endpoint: readAddress(given.mcp_endpoint, ['mcp_endpoint'], context),
    docs_url: readAddress(given.docs_url, ['docs_url'], context),
    price: readPriceRange(given, context),
    networks: given.price_usdc === undefined ? [] : (given.networks ?? [DEFAULT_NETWORK]),
    routes,
  };
}

function buildRoute(
  given: ManifestRoute,
  index: number,
  baseUrl: string,
  { networks: listingNetworks }: Manifest,
  context: ManifestContext,
): DeclaredRoute {
  const { note } = context;
  const networks = given.networks ?? listingNetworks ?? [DEFAULT_NETWORK];
  return {
    method: given.method,
    path: readRoutePath(given.path, baseUrl, index, context),
    description: readOwnText(given.description, 'route_description', ['routes', index, 'description'], context),
    mime_type: readMimeType(given.mime_type, note),
    input_schema: given.input_schema ? cleanSchema(given.input_schema, note) : null,
    output_schema: given.output_schema ? cleanSchema(given.output_schema, note) : null,
    example: given.example ? buildRequestExample(given.example, given.method, note) : null,
    terms: buildTerms(given, networks, index, context),
  };
}

/** Reads a text of the manifest. A text that is empty after cleaning is refused. */
function readOwnText(
  given: string | undefined,
  field: TextField,
  path: Path,
  { refuse, note }: ManifestContext,
): string {
  const text = readText(given, field, note);
  if (given !== undefined && text === '') {
    const what = 'has nothing that can be shown, only markup, blanks or invisible characters';
    const advice = 'write some text, or leave an optional field out';
    refuse('manifest_bad_value', path, `${formatPath(path)} ${what}; ${advice}.`);
  }
  return text;
}

/** Brings a path into the form that URL parsing gives it, so that `/a/../b` is not a second name of `/b`. */
function readRoutePath(path: string, baseUrl: string, index: number, { refuse }: ManifestContext): string {
  const base = URL.parse(baseUrl);
  if (!base) return path;
  const [, tool] = path.split('#');
  const below = findPathBelow(base, new URL(getRouteUrl(baseUrl, path)));
  if (below !== undefined) return `${below}${tool ? `#${tool}` : ''}`;
  refuse(
    'manifest_bad_value',
    ['routes', index, 'path'],
    `The path ${formatQuote(path)} leads out of base_url; write it without "..".`,
  );
  return path;
}

function refuseDuplicates(routes: readonly DeclaredRoute[], { refuse }: ManifestContext): void {
  const seen = new Set<string>();
  for (const [index, { method, path }] of routes.entries()) {
    if (seen.has(`${method} ${path}`)) {
      refuse(
        'manifest_duplicate_route',
        ['routes', index],
        `The route ${method} ${formatQuote(path)} appears twice; remove one of them.`,
      );
    }
    seen.add(`${method} ${path}`);
  }
}

/** Reads an address into its canonical form: without a slash after a bare host or at the end of a path. */
function readAddress(given: string | undefined, path: Path, context: ManifestContext): string | null {
  if (given === undefined) return null;
  const placeholder = PLACEHOLDER.exec(given);
  if (placeholder) {
    refusePlaceholder(given, placeholder, path, context);
    return null;
  }
  const url = parseListedUrl(given, context);
  if (url instanceof URL)
    return path[0] === 'base_url' ? `${url.origin}${url.pathname.replace(/\/+$/, '')}${url.search}` : url.href;
  context.refuse(url.code, path, `${path.join('.')} cannot be listed. ${url.message}`);
  return null;
}

/** Refuses an address with a placeholder, which cannot be called; parsing would only escape its braces. */
function refusePlaceholder(given: string, placeholder: RegExpExecArray, path: Path, { refuse }: ManifestContext): void {
  const isInHost = !/^\w+:\/\/[^/?#]*[/?#]/.test(given.slice(0, placeholder.index));
  const ofBase = isInHost
    ? 'write a listing of its own for each host'
    : 'end it before the placeholder, and begin the paths of the routes there';
  const advice = path[0] === 'base_url' ? ofBase : 'write one that can be opened';
  const what = `holds the placeholder ${formatQuote(placeholder[0])}, but takes an address that can be called`;
  refuse('manifest_bad_value', path, `${formatPath(path)} ${what}; ${advice}.`);
}

function readObservedAt({ observed }: Manifest, { now, refuse }: ManifestContext): string | null {
  if (!observed) return null;
  const time = Date.parse(observed.at);
  if (time <= Date.parse(now)) return new Date(time).toISOString();
  refuse('bad_date', ['observed', 'at'], `observed.at is ${formatQuote(observed.at)}, which is in the future.`);
  return null;
}

/** The context for building a declaration, besides the manifest. */
interface ManifestContext {
  /** Name of the file, which is also the name of the source. */
  name: string;
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
  /** Refuses the manifest, with the reason and the path. */
  refuse: (code: FindingCode, path: Path, message: string) => void;
  note: Note;
}

/** Builds a route's terms, one for each network that it is paid on; empty if it states no price. */
function buildTerms(
  given: ManifestRoute,
  networks: readonly NetworkKey[],
  index: number,
  context: ManifestContext,
): Terms[] {
  for (const key of Object.keys(given.pay_to ?? {}) as NetworkKey[]) {
    if (networks.includes(key)) continue;
    const message = `pay_to names ${key}, but the route is not paid on ${key}; add it to networks, or remove it.`;
    context.refuse('bad_pay_to', ['routes', index, 'pay_to', key], message);
  }
  if (given.price_usdc === undefined) return [];
  const amount = readAmount(given.price_usdc, ['routes', index, 'price_usdc'], context);
  if (amount === undefined) return [];
  return networks.map((network) => {
    const payTo = given.pay_to?.[network];
    const account = payTo === undefined ? null : parsePayTo(network, payTo);
    if (account === undefined) {
      const message = `pay_to.${network} is not an account of ${NETWORKS[network].label}.`;
      context.refuse('bad_pay_to', ['routes', index, 'pay_to', network], message);
    }
    return {
      network,
      scheme: 'exact',
      asset: NETWORKS[network].usdc,
      amount,
      pay_to: account ?? null,
      max_timeout_seconds: null,
      x402_version: null,
    };
  });
}

/** Reads the price or price range of a listing without routes; null if it states none that can be taken. */
function readPriceRange({ price_usdc: price, routes = [] }: Manifest, context: ManifestContext): Declaration['price'] {
  if (price === undefined || routes.length > 0) return null;
  if (typeof price === 'string') {
    const amount = readAmount(price, ['price_usdc'], context);
    return amount === undefined ? null : { min: amount, max: amount };
  }
  const min = readAmount(price.min, ['price_usdc', 'min'], context);
  const max = readAmount(price.max, ['price_usdc', 'max'], context);
  if (min === undefined || max === undefined) return null;
  if (min > max) context.refuse('manifest_bad_value', ['price_usdc'], 'The min of price_usdc is above its max.');
  return { min, max };
}

/** Reads a price into atomic USDC. An implausible price refuses the manifest and returns undefined. */
function readAmount(text: string, path: Path, { refuse }: ManifestContext): number | undefined {
  const amount = parseUsdc(text);
  if (amount !== undefined && amount <= MAX_PLAUSIBLE_AMOUNT) return amount;
  const bound = `a price is at most ${formatUsdc(MAX_PLAUSIBLE_AMOUNT)} USDC`;
  refuse(
    'implausible_price',
    path,
    `${formatPath(path)} is ${text} USDC for one request, which is not plausible; ${bound}.`,
  );
  return undefined;
}
