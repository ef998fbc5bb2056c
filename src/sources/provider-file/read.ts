import { ServiceError } from '../../errors.ts';
import type { GuardedClient } from '../../fetching/client.ts';
import { fetchFromOrigin } from '../../fetching/same-origin.ts';
import { readApiDocument } from '../api-document.ts';
import { openDocumentFindings } from '../document-findings.ts';
import { DOCUMENT_REQUEST } from '../document-reading.ts';
import { getSourceName } from '../source-name.ts';
import type { ReadWish, StatementContext } from './entry.ts';
import { buildProviderSource } from './facts.ts';
import { parseStatement } from './parse.ts';
import { PROVIDER_FILE_PATH } from './schema.ts';
import type { NoStatement, ProviderStatement, ProviderWish, UnreadableStatement } from './statement.ts';

/** A statement is small; a page that a host serves for every address need not be, and is told from one by its start. */
const STATEMENT_REQUEST = Object.freeze({
  headers: { accept: 'application/json' },
  limits: { totalMs: 15_000, bodyBytes: 512 * 1024, decodedBytes: 512 * 1024 },
});

/** Documents fetched for one statement. */
const MAX_DOCUMENTS = 4;

/** Failures that are our own; all others say that there is no statement to be had. */
const OUR_OWN = new Set(['closed', 'bad_request']);

export interface StatementOptions {
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
  signal?: AbortSignal | undefined;
}

/** Returns the address at which the provider behind an origin states what it wants. */
export function getProviderFileUrl(origin: string): string {
  return new URL(PROVIDER_FILE_PATH, origin).href;
}

/**
 * Reads what the provider behind an origin states, and the documents that it names. Control of the host is the proof,
 * so everything is read from that origin itself, redirects included. Throws for our own failures alone.
 */
export async function readProviderStatement(
  client: Pick<GuardedClient, 'fetch'>,
  origin: string,
  options: StatementOptions,
): Promise<ProviderStatement | NoStatement | UnreadableStatement> {
  const url = getProviderFileUrl(origin);
  const findings = openDocumentFindings(url);
  const fetched = await fetchBytes(client, new URL(url), { ...STATEMENT_REQUEST, signal: options.signal });
  if (fetched instanceof ServiceError && fetched.reason === 'too_large') {
    findings.openItem(url).refuse('provider_file_too_large');
    return { kind: 'unreadable', url, findings: findings.list() };
  }
  if (!('bytes' in fetched)) return { kind: 'absent', url, reason: fetched.reason };
  const context = { ...options, url, findings };
  const read = parseStatement(fetched.bytes, context);
  if (read === 'unreadable') return { kind: 'unreadable', url, findings: findings.list() };
  if ('absent' in read) return { kind: 'absent', url, reason: read.absent };
  const listings = await readDocuments(client, read.wishes, context, options.signal);
  return {
    kind: 'statement',
    url,
    listings,
    entries: read.entries,
    is_whole: read.is_whole,
    findings: findings.list(),
  };
}

type Fetched = { bytes: Uint8Array; url: string } | { reason: string } | ServiceError;

async function fetchBytes(
  client: Pick<GuardedClient, 'fetch'>,
  address: URL,
  init: Parameters<typeof fetchFromOrigin>[2],
): Promise<Fetched> {
  try {
    const response = await fetchFromOrigin(client, address, init);
    if ('reason' in response) return response;
    const { status, body, url } = response;
    if (status >= 200 && status <= 299) return { bytes: body, url };
    return { reason: status === 404 || status === 410 ? 'not_found' : `status_${status}` };
  } catch (error) {
    if (!(error instanceof ServiceError) || OUR_OWN.has(error.reason)) throw error;
    return error;
  }
}

/** Reads the documents that wishes name: one that cannot be taken leaves its wish broken, with a finding. */
async function readDocuments(
  client: Pick<GuardedClient, 'fetch'>,
  wishes: readonly ReadWish[],
  context: StatementContext,
  signal: AbortSignal | undefined,
): Promise<ProviderWish[]> {
  const fetched = new Map<string, Fetched>();
  const read: ProviderWish[] = [];
  for (const { document, ...wish } of wishes) {
    if (document === null || wish.wish === 'out') {
      read.push(wish);
      continue;
    }
    if (!fetched.has(document.href)) {
      const isOneMore = fetched.size < MAX_DOCUMENTS;
      const answer = isOneMore ? await fetchBytes(client, document, { ...DOCUMENT_REQUEST, signal }) : TOO_MANY;
      fetched.set(document.href, answer);
    }
    read.push(addDocument(wish, document, fetched.get(document.href) ?? TOO_MANY, context));
  }
  return read;
}

const TOO_MANY: Fetched = Object.freeze({ reason: 'too_many_documents' });

function addDocument(
  wish: Extract<ProviderWish, { wish: 'in' }>,
  document: URL,
  fetched: Fetched,
  { findings, url, allowPrivateNetworks, now }: StatementContext,
): ProviderWish {
  const name = getSourceName(document.href);
  const fail = (why: string): ProviderWish => {
    findings
      .openItem(wish.base_url)
      .refuse('provider_document_failed', `${wish.where}: openapi: the document ${name} could not be taken: ${why}`);
    return { ...wish, is_broken: true };
  };
  if (!('bytes' in fetched)) return fail(`${fetched.reason}.`);
  const options = { name, url: fetched.url, base_url: wish.base_url, allowPrivateNetworks, now };
  const read = readApiDocument(fetched.bytes, options);
  if ('code' in read) return fail(read.message);
  findings.add(read.findings);
  const [declaration] = read.declarations;
  if (!declaration) return fail(`it states no payment by x402 below ${wish.base_url}.`);
  return { ...wish, declaration: { ...declaration, source: buildProviderSource(url) } };
}
