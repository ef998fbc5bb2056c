import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { parseJsonBody } from '../../fetching/json.ts';
import { type CautionCode, cautionCode } from '../../model/caution.ts';
import type { Declaration } from '../../model/declaration.ts';
import { isObject } from '../../model/json.ts';
import { getCanonicalBaseUrl } from '../../model/listing.ts';
import { httpMethod } from '../../model/request.ts';
import { TEXT_LIMITS } from '../../model/text.ts';
import { formatQuote, removeInvisible } from '../clean-string.ts';
import { type DocumentFindings, FINDING_CODES, formatPointer, type ItemFindings } from '../findings.ts';
import { buildManifestDeclaration } from '../manifest.ts';
import { describeIssues, getMapping, manifest, type Path } from '../manifest-text.ts';
import { parseListedUrl } from '../outside-address.ts';
import { cleanText, isTooLong } from '../provider-text.ts';

/** Most listings in one statement. */
const MAX_LISTINGS = 32;

const address = (description: string) => z.string().describe(description).meta({ format: 'uri-reference' });

/** The facts that a provider may state: those of a manifest, except fields that only the catalogue or others can fill. */
const providerFacts = manifest
  .omit({ slug: true, base_url: true, observed: true })
  .describe('The listing in words and routes; a manifest without base_url, slug and observed');

/** Most replies in one entry. */
const MAX_REPLIES = 20;

/** A route as the catalogue writes it: method, space, path. */
const ROUTE = new RegExp(`^(?:${httpMethod.options.join('|')}) /\\S{0,499}$`);

/** A provider's reply to one caution. */
const providerReply = z.strictObject({
  caution: cautionCode.describe('The caution that this replies to'),
  route: z
    .string()
    .regex(ROUTE, 'a method and a path as the catalogue writes them, such as GET /v1/x')
    .refine((text) => removeInvisible(text) === text, 'a method and a path without invisible characters')
    .describe(
      'Method and path as the catalogue writes them, such as GET /v1/x; without it, that caution of the whole listing and all its routes',
    )
    .optional(),
  text: z
    .string()
    .min(1)
    .max(TEXT_LIMITS.reply)
    .describe(`Your reply in plain text on one line, shown as your words; ${TEXT_LIMITS.reply} characters at most`),
});

/** A provider's wishes for one listing of its own host. */
const providerEntry = z.strictObject({
  base_url: address(
    "Base address of the listing; default: the host's origin. Of the same origin as this file",
  ).optional(),
  listed: z.boolean().describe('true: list it, correct it, or put it back. false: remove it, and keep it out'),
  openapi: address(
    'With listed: true: list what this document says. OpenAPI 3 with x-payment-info, or a list of x402 resources; of the same origin as this file',
  ).optional(),
  facts: providerFacts.optional(),
  reason: z.string().describe('With listed: false: why, in words that readers see').optional(),
  replies: z
    .array(providerReply)
    .max(MAX_REPLIES)
    .describe('What you reply to cautions about this listing, shown beside them')
    .optional(),
});

/** An entry without its replies, which are read one by one so that a bad one does not affect the others. */
const providerEntryFacts = providerEntry.omit({ replies: true });
type ProviderEntryFacts = z.infer<typeof providerEntryFacts>;

/** A reply as written. The length of its text is checked after cleaning. */
const writtenReply = providerReply.extend({ text: z.string() });

/** The whole statement. */
export const providerFile = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  listings: z.array(providerEntry).max(MAX_LISTINGS),
});

/** Returns the name and fields of a mapping in an entry: the entry itself, its facts, or a part of them. */
function getEntryMapping(path: Path): { label: string; fields: string[] } {
  if (path.length === 0) return { label: 'an entry of listings', fields: Object.keys(providerEntry.shape) };
  const isFacts = path.length === 1 && path[0] === 'facts';
  return isFacts ? { label: 'facts', fields: Object.keys(providerFacts.shape) } : getMapping(path);
}

/** A provider's reply to a caution. */
interface StatedReply {
  caution: CautionCode;
  /** Method and path as the catalogue writes them; null: that caution of the whole listing and all its routes. */
  route: string | null;
  /** The provider's words, cleaned, on one line. */
  text: string;
}

interface RequestBase {
  /** Its place in the file, such as `listings[0]`. */
  where: string;
  base_url: string;
  /** Its replies to cautions; null if they are not a list, so that the replies on record stay. */
  replies: StatedReply[] | null;
}

/** A provider's request for one listing: to list it, or to remove it and keep it out. */
export type ProviderRequest = RequestBase &
  (
    | {
        asks: 'remove';
        /** The provider's words, cleaned; null if it gives none. */
        reason: string | null;
      }
    | {
        asks: 'list';
        /**
         * Its declaration of the listing; null if it only asks to list it, or if the declaration could not be taken.
         */
        declaration: Declaration | null;
        /** True if its declaration could not be taken; then the earlier one still counts. */
        is_broken: boolean;
      }
  );

/** Largest statement that is read, in bytes. */
const MAX_STATEMENT_BYTES = 64 * 1024;

/** The requests of a statement. `is_whole`: every entry could be read. */
interface ReadStatement {
  requests: ParsedRequest[];
  /** Number of entries in the list. */
  entries: number;
  is_whole: boolean;
}

/**
 * Parses the bytes of a statement into its requests. Entries that cannot be taken are left out with a finding each.
 * Returns `absent` for something that is not a statement (a page, or other JSON), and `unreadable` for a statement that
 * cannot be read. Never throws, whatever the bytes.
 */
export function parseStatement(
  bytes: Uint8Array,
  context: StatementContext,
): ReadStatement | { absent: string } | 'unreadable' {
  const refuse = context.findings.openItem(context.url).refuse;
  const start = Buffer.from(bytes.subarray(0, 256)).toString('latin1').trimStart();
  if (start === '') return { absent: 'empty' };
  if (start.startsWith('<')) return { absent: 'html_page' };
  if (bytes.byteLength > MAX_STATEMENT_BYTES) {
    refuse('provider_file_too_large');
    return 'unreadable';
  }
  const json = parseJson(bytes, context);
  if (json === undefined) return 'unreadable';
  if (!isObject(json) || (json.listings === undefined && json.version === undefined)) {
    return { absent: 'another_document' };
  }
  if (json.version !== 1 || !Array.isArray(json.listings)) {
    const place = json.version === 1 ? '/listings' : '/version';
    refuse('provider_file_bad_value', 'The statement must have "version": 1 and a list "listings".', place);
    return 'unreadable';
  }
  const { notify, ...fields } = json;
  if (notify !== undefined) noteWebhook(context);
  noteUnknownFields(fields, providerFile.shape, '', context);
  if (json.listings.length > MAX_LISTINGS) {
    const message = `listings has more than ${MAX_LISTINGS} entries; only the first were read.`;
    refuse('provider_file_bad_value', message, '/listings');
  }
  const entries: unknown[] = json.listings.slice(0, MAX_LISTINGS);
  const requests = entries.flatMap((raw, index) => parseEntry(raw, `listings[${index}]`, context) ?? []);
  const { length } = json.listings;
  return { requests: listDistinct(requests, context), entries: length, is_whole: requests.length === length };
}

function parseJson(bytes: Uint8Array, { url, findings }: StatementContext): unknown {
  try {
    return parseJsonBody(bytes, null, 'The statement holds');
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    findings.openItem(url).refuse('provider_file_unreadable', error.message);
    return undefined;
  }
}

function listDistinct(requests: readonly ParsedRequest[], { url, findings }: StatementContext): ParsedRequest[] {
  const byAddress = new Map<string, ParsedRequest>();
  for (const request of requests) {
    const { base_url, where } = request;
    const first = byAddress.get(base_url);
    if (!first) byAddress.set(base_url, request);
    else {
      const message = `${where}: base_url: ${base_url} is already that of ${first.where}, which counts.`;
      findings.openItem(url).refuse('provider_duplicate_listing', message, getPlace(where));
    }
  }
  return [...byAddress.values()];
}

/** Largest number of problems of one entry or its replies that are reported. */
const MAX_PROBLEMS = 20;

export interface StatementContext {
  /** Address of the statement. */
  url: string;
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
  findings: DocumentFindings;
}

/** A request as parsed. The document that it names is read later. */
export type ParsedRequest = ProviderRequest & { document: URL | null };

/**
 * Parses one entry of a statement. Each problem becomes a finding whose message begins with `where`, the place of the
 * entry.
 */
function parseEntry(raw: unknown, where: string, context: StatementContext): ParsedRequest | undefined {
  const item = openEntryFindings(where, context);
  if (!isObject(raw)) {
    item.refuse('provider_file_bad_value', 'an entry must be an object.');
    return undefined;
  }
  const { replies: rawReplies, ...known } = pickFields(raw, providerEntry.shape);
  const written = stringifyPrices(known);
  const parsed = providerEntryFacts.safeParse(written);
  if (!parsed.success) {
    const problems = describeIssues(parsed.error.issues, written, getEntryMapping).slice(0, MAX_PROBLEMS);
    for (const { path, message } of problems) item.refuse('provider_file_bad_value', message, formatPointer(...path));
    return undefined;
  }
  noteUnknownFields(raw, providerEntry.shape, `${where}: `, context);
  const { listed, openapi, facts, base_url = '/' } = parsed.data;
  const excess = findConflict(parsed.data);
  if (excess) {
    item.refuse('provider_file_bad_value', excess);
    return undefined;
  }
  const address = readOwnAddress(base_url, context);
  if ('code' in address) {
    item.refuse(address.code, `base_url: ${address.message}`, '/base_url');
    return undefined;
  }
  const baseUrl = getCanonicalBaseUrl(address.url.href);
  const replies = readReplies(rawReplies, `${where}.replies`, context);
  const entry = { where, base_url: baseUrl, replies, document: null };
  if (!listed) return { ...entry, asks: 'remove', reason: readReason(parsed.data.reason) };
  if (facts) {
    const declaration = buildFacts(facts, baseUrl, `${where}.facts`, context);
    return { ...entry, asks: 'list', declaration, is_broken: declaration === null };
  }
  const request = { ...entry, asks: 'list', declaration: null, is_broken: false } as const;
  if (openapi === undefined) return request;
  const document = readOwnAddress(openapi, context);
  if (!('code' in document)) return { ...request, document: document.url };
  item.refuse(document.code, `openapi: ${document.message}`, '/openapi');
  return { ...request, is_broken: true };
}

/** Opens the findings of one entry. Each message says where in the statement the problem is. */
function openEntryFindings(where: string, { url, findings }: StatementContext): Pick<ItemFindings, 'refuse'> {
  const { refuse } = findings.openItem(url);
  // Messages quote the statement, so invisible characters are removed from them.
  return {
    refuse: (code, message = FINDING_CODES[code], place = '') =>
      refuse(code, cleanText(`${where}: ${message}`, 'route_description'), `${getPlace(where)}${place}`),
  };
}

/** Returns the JSON pointer of a place in the statement: `listings[0].replies` is `/listings/0/replies`. */
export function getPlace(where: string): string {
  const steps = where.replace(/\[(\d+)\]/g, '.$1').split('.');
  return formatPointer(...steps.filter((step) => step !== ''));
}

/** Notes that there are no webhooks any more, and where the same is found. */
function noteWebhook({ url, findings }: StatementContext): void {
  const item = findings.openItem(url);
  const message =
    '"notify" is not taken any more. What happens to the listings is in their feeds: /provider/<domain>.atom has them all.';
  item.note('provider_unknown_field', message, '/notify');
  item.keep();
}

/** Notes unknown fields of an object. They are ignored, because a later version may define them. */
function noteUnknownFields(
  raw: Record<string, unknown>,
  shape: object,
  prefix: string,
  { url, findings }: StatementContext,
): void {
  const item = findings.openItem(url);
  for (const field of Object.keys(raw).filter((name) => !Object.hasOwn(shape, name))) {
    const place = `${getPlace(prefix.replace(/: $/, ''))}${formatPointer(field)}`;
    item.note('provider_unknown_field', `${prefix}"${formatQuote(field)}" is unknown and was ignored.`, place);
  }
  item.keep();
}

function pickFields(raw: Record<string, unknown>, shape: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => Object.hasOwn(shape, name)));
}

/** Finds fields of an entry that contradict each other. */
function findConflict({ listed, openapi, facts }: ProviderEntryFacts): string | undefined {
  const declares = openapi !== undefined || facts !== undefined;
  if (!listed && declares) return 'listed: false goes with neither openapi nor facts.';
  return openapi !== undefined && facts !== undefined ? 'give either openapi or facts, not both.' : undefined;
}

/**
 * Builds the declaration of facts, which like every bare claim proves nothing; null, with findings, if they contradict each
 * other.
 */
function buildFacts(
  facts: NonNullable<ProviderEntryFacts['facts']>,
  baseUrl: string,
  where: string,
  context: StatementContext,
): Declaration | null {
  const { url, allowPrivateNetworks, now } = context;
  const item = context.findings.openItem(url);
  const problems: string[] = [];
  const declaration = buildManifestDeclaration(
    { ...facts, base_url: baseUrl },
    {
      name: url,
      allowPrivateNetworks,
      now,
      note: item.note,
      refuse: (_code, _path, message) => problems.push(message),
    },
  );
  const { refuse } = openEntryFindings(where, context);
  for (const message of problems.slice(0, MAX_PROBLEMS)) refuse('provider_file_bad_value', message);
  if (problems.length > 0) return null;
  item.keep();
  return { ...declaration, source: buildProviderSource(url) };
}

/** Longest reply that is cleaned at all: cleaning reads only the beginning of a long text. Longer ones are refused. */
const RAW_REPLY_LENGTH = 2000;

/** Reads the replies of an entry; bad ones are left out with a finding each. Null if they are not a list. */
function readReplies(raw: unknown, where: string, context: StatementContext): StatedReply[] | null {
  if (raw === undefined) return [];
  const list = openEntryFindings(where, context);
  if (!Array.isArray(raw)) {
    list.refuse('provider_file_bad_value', 'must be a list of replies. Those on record stay.');
    return null;
  }
  if (raw.length > MAX_REPLIES) {
    list.refuse('provider_file_bad_value', `has more than ${MAX_REPLIES} replies; only the first were read.`);
  }
  const read = new Map<string, StatedReply>();
  raw.slice(0, MAX_REPLIES).forEach((reply, index) => {
    const at = `${where}[${index}]`;
    const stated = readReply(reply, at, context);
    if (!stated) return;
    const key = `${stated.caution} ${stated.route ?? ''}`;
    if (!read.has(key)) read.set(key, stated);
    else {
      const message = 'replies to the same caution and route as one before it, which counts.';
      openEntryFindings(at, context).refuse('provider_file_bad_value', message);
    }
  });
  return [...read.values()];
}

function readReply(raw: unknown, where: string, context: StatementContext): StatedReply | undefined {
  const refuse = (at: string, message: string) =>
    openEntryFindings(at, context).refuse('provider_file_bad_value', message);
  if (!isObject(raw)) {
    refuse(where, 'a reply must be an object.');
    return undefined;
  }
  const known = pickFields(raw, writtenReply.shape);
  const parsed = writtenReply.safeParse(known);
  if (!parsed.success) {
    const getReplyMapping = () => ({ label: 'a reply', fields: Object.keys(writtenReply.shape) });
    for (const { path, message } of describeIssues(parsed.error.issues, known, getReplyMapping)) {
      refuse(`${where}.${path.join('.')}`, message);
    }
    return undefined;
  }
  noteUnknownFields(raw, writtenReply.shape, `${where}: `, context);
  const { caution, route = null, text: rawText } = parsed.data;
  if (rawText.length > RAW_REPLY_LENGTH || isTooLong(rawText, 'reply')) {
    refuse(`${where}.text`, `the reply is longer than ${TEXT_LIMITS.reply} characters, so it is not shown.`);
    return undefined;
  }
  const text = cleanText(rawText, 'reply');
  if (text !== '') return { caution, route, text };
  refuse(`${where}.text`, 'the reply is empty.');
  return undefined;
}

/** Reads an address in the statement, which must have the statement's own origin. */
function readOwnAddress(
  text: string,
  { url, allowPrivateNetworks }: StatementContext,
): { url: URL } | { code: 'provider_other_origin' | 'provider_file_bad_value'; message: string } {
  const whole = URL.parse(text, url);
  const read = whole ? parseListedUrl(whole.href, { allowPrivateNetworks }) : undefined;
  if (!(read instanceof URL)) {
    const why = read?.message ?? 'The address is not a valid URL.';
    return { code: 'provider_file_bad_value', message: `"${formatQuote(text)}" cannot be taken. ${why}` };
  }
  if (read.origin === new URL(url).origin) return { url: read };
  const message = `"${formatQuote(text)}" has another origin than this statement, which cannot speak for it.`;
  return { code: 'provider_other_origin', message };
}

/** Returns the provider's words; null for words that look like one of our codes. */
function readReason(raw: string | undefined): string | null {
  const words = cleanText(raw, 'tagline');
  return words === '' || /^[a-z0-9_]+$/.test(words) ? null : words;
}

/** Returns the source of a provider's own declarations, whatever document they are in. */
export function buildProviderSource(source: string): Declaration['source'] {
  return { kind: 'provider', name: source, observed_at: null };
}

/** Turns the prices of facts into text, because the schema reads prices digit by digit and JSON may have numbers. */
function stringifyPrices(entry: unknown): unknown {
  if (!isObject(entry) || !isObject(entry.facts)) return entry;
  const { facts } = entry;
  const routes = Array.isArray(facts.routes) ? facts.routes.map(stringifyPrice) : facts.routes;
  return { ...entry, facts: { ...stringifyPrice(facts), ...(routes !== undefined && { routes }) } };
}

function stringifyPrice<Holder>(holder: Holder): Holder | Record<string, unknown> {
  if (!isObject(holder) || holder.price_usdc === undefined) return holder;
  const { price_usdc: price } = holder;
  const written = isObject(price)
    ? Object.fromEntries(Object.entries(price).map(([name, value]) => [name, stringifyNumber(value)]))
    : stringifyNumber(price);
  return { ...holder, price_usdc: written };
}

function stringifyNumber(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}
