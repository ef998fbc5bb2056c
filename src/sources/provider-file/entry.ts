import type { Declaration } from '../../model/declaration.ts';
import { getCanonicalBaseUrl } from '../../model/ids.ts';
import type { DocumentFindings, ItemFindings } from '../document-findings.ts';
import { FINDING_CODES } from '../finding-codes.ts';
import { isObject } from '../json-value.ts';
import { describeIssues } from '../manifest-issues.ts';
import { parseListedUrl } from '../outside-address.ts';
import { formatQuote } from '../quote.ts';
import { cleanText, isTooLong, TEXT_LIMITS } from '../text.ts';
import { buildFactsDeclaration, writePrices } from './facts.ts';
import {
  getEntryMapping,
  MAX_REPLIES,
  type ProviderEntryFacts,
  providerEntry,
  providerEntryFacts,
  writtenReply,
} from './schema.ts';
import type { ProviderWish, StatedReply } from './statement.ts';

/** Problems of one entry, and of its replies, that are reported. */
const MAX_PROBLEMS = 20;

export interface StatementContext {
  /** Address where the statement stands. */
  url: string;
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
  findings: DocumentFindings;
}

/** A wish as it was read; one that names a document declares what that says, once it was read. */
export type ReadWish = ProviderWish & { document: URL | null };

/** Parses one entry of a statement; what cannot be taken of it is a finding, which begins with `where` it stands. */
export function parseEntry(raw: unknown, where: string, context: StatementContext): ReadWish | undefined {
  const item = openEntryFindings(where, context);
  if (!isObject(raw)) {
    item.refuse('provider_file_bad_value', 'an entry is to be an object.');
    return undefined;
  }
  const { replies: rawReplies, ...known } = pickKnown(raw, providerEntry.shape);
  const written = writePrices(known);
  const parsed = providerEntryFacts.safeParse(written);
  if (!parsed.success) {
    const problems = describeIssues(parsed.error.issues, written, getEntryMapping).slice(0, MAX_PROBLEMS);
    for (const { message } of problems) item.refuse('provider_file_bad_value', message);
    return undefined;
  }
  noteUnknownFields(raw, providerEntry.shape, `${where}: `, context);
  const { listed, openapi, facts, base_url = '/' } = parsed.data;
  const excess = findExcess(parsed.data);
  if (excess) {
    item.refuse('provider_file_bad_value', excess);
    return undefined;
  }
  const address = readOwnAddress(base_url, context);
  if ('code' in address) {
    item.refuse(address.code, `base_url: ${address.message}`);
    return undefined;
  }
  const baseUrl = getCanonicalBaseUrl(address.url.href);
  const replies = readReplies(rawReplies, `${where}.replies`, context);
  const entry = { where, base_url: baseUrl, replies, document: null };
  if (!listed) return { ...entry, wish: 'out', reason: readReason(parsed.data.reason) };
  if (facts) {
    const declaration = buildFacts(facts, baseUrl, `${where}.facts`, context);
    return { ...entry, wish: 'in', declaration, is_broken: declaration === null };
  }
  const wish = { ...entry, wish: 'in', declaration: null, is_broken: false } as const;
  if (openapi === undefined) return wish;
  const document = readOwnAddress(openapi, context);
  if (!('code' in document)) return { ...wish, document: document.url };
  item.refuse(document.code, `openapi: ${document.message}`);
  return { ...wish, is_broken: true };
}

/** The findings of one entry, each of which says where in the statement it stands. */
function openEntryFindings(where: string, { url, findings }: StatementContext): Pick<ItemFindings, 'refuse'> {
  const { refuse } = findings.openItem(url);
  // Messages quote the statement, so what cannot be seen is taken out of them.
  return {
    refuse: (code, message = FINDING_CODES[code]) =>
      refuse(code, cleanText(`${where}: ${message}`, 'route_description')),
  };
}

/** Notes what a mapping of the statement has beyond its fields: a later version may know it. */
export function noteUnknownFields(
  raw: Record<string, unknown>,
  shape: object,
  prefix: string,
  { url, findings }: StatementContext,
): void {
  const item = findings.openItem(url);
  for (const field of Object.keys(raw).filter((name) => !Object.hasOwn(shape, name))) {
    item.note('provider_unknown_field', `${prefix}"${formatQuote(field)}" is not known and was passed over.`);
  }
  item.keep();
}

function pickKnown(raw: Record<string, unknown>, shape: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => Object.hasOwn(shape, name)));
}

/** Says what of an entry does not go together. */
function findExcess({ listed, openapi, facts }: ProviderEntryFacts): string | undefined {
  const declares = openapi !== undefined || facts !== undefined;
  if (!listed && declares) return 'with listed: false go neither openapi nor facts.';
  return openapi !== undefined && facts !== undefined ? 'give either openapi or facts, not both.' : undefined;
}

/** Builds what facts declare; null where they do not go together, with a finding each. */
function buildFacts(
  facts: NonNullable<ProviderEntryFacts['facts']>,
  baseUrl: string,
  where: string,
  context: StatementContext,
): Declaration | null {
  const item = context.findings.openItem(context.url);
  const { refuse } = openEntryFindings(where, context);
  const problems: string[] = [];
  const declaration = buildFactsDeclaration(facts, baseUrl, {
    ...context,
    source: context.url,
    note: item.note,
    refuse: (message) => problems.push(message),
  });
  for (const message of problems.slice(0, MAX_PROBLEMS)) refuse('provider_file_bad_value', message);
  if (problems.length > 0) return null;
  item.keep();
  return declaration;
}

/** Longer than this a reply is refused before it is cleaned: cleaning looks at the start of a long text alone. */
const RAW_REPLY_LENGTH = 2000;

/** Reads the replies of an entry: bad ones are left out with a finding each. Null where they are no list. */
function readReplies(raw: unknown, where: string, context: StatementContext): StatedReply[] | null {
  if (raw === undefined) return [];
  const list = openEntryFindings(where, context);
  if (!Array.isArray(raw)) {
    list.refuse('provider_file_bad_value', 'takes a list of replies. Those on record stay.');
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
    refuse(where, 'a reply is to be an object.');
    return undefined;
  }
  const known = pickKnown(raw, writtenReply.shape);
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
  refuse(`${where}.text`, 'the reply has no words.');
  return undefined;
}

/** Reads an address of the statement, which counts only where it is of the statement's own origin. */
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
  const message = `"${formatQuote(text)}" is of another origin than this statement, which says nothing for it.`;
  return { code: 'provider_other_origin', message };
}

/** Returns the provider's words; ones that look like a code of ours would be taken for it. */
function readReason(raw: string | undefined): string | null {
  const words = cleanText(raw, 'tagline');
  return words === '' || /^[a-z0-9_]+$/.test(words) ? null : words;
}
