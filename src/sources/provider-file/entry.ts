import { getCanonicalBaseUrl } from '../../model/ids.ts';
import type { DocumentFindings, ItemFindings } from '../document-findings.ts';
import { FINDING_CODES } from '../finding-codes.ts';
import { isObject } from '../json-value.ts';
import { describeIssues } from '../manifest-issues.ts';
import { parseListedUrl } from '../outside-address.ts';
import { formatQuote } from '../quote.ts';
import { cleanText } from '../text.ts';
import { buildFactsDeclaration, writePrices } from './facts.ts';
import { getEntryMapping, type ProviderEntry, providerEntry } from './schema.ts';
import type { ProviderWish } from './statement.ts';

/** Problems of one entry that are told. */
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
  const written = writePrices(pickKnown(raw, providerEntry.shape));
  const parsed = providerEntry.safeParse(written);
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
    item.refuse(address.code, address.message);
    return undefined;
  }
  const baseUrl = getCanonicalBaseUrl(address.url.href);
  if (!listed) return { wish: 'out', base_url: baseUrl, reason: readReason(parsed.data.reason), document: null };
  if (facts) return buildFactsWish(facts, baseUrl, `${where}.facts`, context);
  const wish = { wish: 'in', base_url: baseUrl, declaration: null, is_broken: false, document: null } as const;
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
function findExcess({ listed, openapi, facts }: ProviderEntry): string | undefined {
  const declares = openapi !== undefined || facts !== undefined;
  if (!listed && declares) return 'with listed: false go neither openapi nor facts.';
  return openapi !== undefined && facts !== undefined ? 'give either openapi or facts, not both.' : undefined;
}

function buildFactsWish(
  facts: NonNullable<ProviderEntry['facts']>,
  baseUrl: string,
  where: string,
  context: StatementContext,
): ReadWish {
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
  const isBroken = problems.length > 0;
  if (!isBroken) item.keep();
  return {
    wish: 'in',
    base_url: baseUrl,
    declaration: isBroken ? null : declaration,
    is_broken: isBroken,
    document: null,
  };
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

/** Gives the provider's words; ones that look like a code of ours would be taken for it. */
function readReason(raw: string | undefined): string | null {
  const words = cleanText(raw, 'tagline');
  return words === '' || /^[a-z0-9_]+$/.test(words) ? null : words;
}
