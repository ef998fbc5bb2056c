import { ServiceError } from '../../errors.ts';
import type { GuardedClient } from '../../fetching/client.ts';
import { fetchFromOrigin } from '../../fetching/same-origin.ts';
import type { Finding } from '../../model/declaration.ts';
import { PROVIDER_FILE_PATH } from '../../model/source.ts';
import { DOCUMENT_REQUEST } from '../document-text.ts';
import { openDocumentFindings } from '../findings.ts';
import { readDocument } from '../host-documents.ts';
import { getSourceName } from '../source-name.ts';
import {
  buildProviderSource,
  getPlace,
  type ParsedRequest,
  type ProviderRequest,
  parseStatement,
  type StatementContext,
} from './parse.ts';

/**
 * Headers and limits of the request. Statements are small, but a host may serve a large page for every address, which
 * is recognised by its beginning.
 */
const STATEMENT_REQUEST = Object.freeze({
  headers: { accept: 'application/json' },
  limits: { totalMs: 15_000, bodyBytes: 512 * 1024, decodedBytes: 512 * 1024 },
});

/** Most documents that are fetched for one statement. */
const MAX_DOCUMENTS = 4;

/** Failures of our own. With any other failure there is no statement. */
const OWN_FAILURES = new Set(['closed', 'bad_request']);

interface StatementOptions {
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
  signal?: AbortSignal | undefined;
}

/** A provider's statement. Everything in it is about its own origin and safe to apply. */
export interface ProviderStatement {
  kind: 'statement';
  /** Address of the statement, which is the name of the source. */
  url: string;
  listings: ProviderRequest[];
  /** Number of its entries, including refused ones. */
  entries: number;
  /** False if an entry could not be read. Then earlier declarations do not count as withdrawn. */
  is_whole: boolean;
  findings: Finding[];
}

/**
 * The absence of a statement, which has no consequences. `reason` is a stable code, such as `not_found` or `timeout`.
 */
interface NoStatement {
  kind: 'absent';
  url: string;
  reason: string;
}

/** A statement that cannot be read. */
interface UnreadableStatement {
  kind: 'unreadable';
  url: string;
  findings: Finding[];
}

/** Returns the address of the provider's file at an origin. */
export function getProviderFileUrl(origin: string): string {
  return new URL(PROVIDER_FILE_PATH, origin).href;
}

/**
 * Reads the provider's statement at an origin, and the documents that it names. Control of the host is the proof, so
 * everything is read from that origin, redirects included. Throws only for our own failures.
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
  const listings = await readDocuments(client, read.requests, context, options.signal);
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
    if (!(error instanceof ServiceError) || OWN_FAILURES.has(error.reason)) throw error;
    return error;
  }
}

/** Reads the documents that requests name. A request whose document cannot be taken becomes broken, with a finding. */
async function readDocuments(
  client: Pick<GuardedClient, 'fetch'>,
  requests: readonly ParsedRequest[],
  context: StatementContext,
  signal: AbortSignal | undefined,
): Promise<ProviderRequest[]> {
  const fetched = new Map<string, Fetched>();
  const read: ProviderRequest[] = [];
  for (const { document, ...request } of requests) {
    if (document === null || request.asks === 'remove') {
      read.push(request);
      continue;
    }
    if (!fetched.has(document.href)) {
      const isOneMore = fetched.size < MAX_DOCUMENTS;
      const answer = isOneMore ? await fetchBytes(client, document, { ...DOCUMENT_REQUEST, signal }) : TOO_MANY;
      fetched.set(document.href, answer);
    }
    read.push(
      await addDocument(client, request, document, fetched.get(document.href) ?? TOO_MANY, { ...context, signal }),
    );
  }
  return read;
}

const TOO_MANY: Fetched = Object.freeze({ reason: 'too_many_documents' });

async function addDocument(
  client: Pick<GuardedClient, 'fetch'>,
  request: Extract<ProviderRequest, { asks: 'list' }>,
  document: URL,
  fetched: Fetched,
  { findings, url, allowPrivateNetworks, now, signal }: StatementContext & { signal: AbortSignal | undefined },
): Promise<ProviderRequest> {
  const name = getSourceName(document.href);
  const fail = (why: string): ProviderRequest => {
    const message = `${request.where}: openapi: the document ${name} could not be taken: ${why}`;
    findings
      .openItem(request.base_url)
      .refuse('provider_document_failed', message, `${getPlace(request.where)}/openapi`);
    return { ...request, is_broken: true };
  };
  if (!('bytes' in fetched)) return fail(`${fetched.reason}.`);
  const options = { name, base_url: request.base_url, allowPrivateNetworks, now };
  const read = await readDocument(fetched, options, async (address) => {
    // Only a document at the same origin speaks for the host.
    if (URL.parse(address)?.origin !== document.origin) return undefined;
    const answer = await fetchBytes(client, new URL(address), { ...DOCUMENT_REQUEST, signal });
    return 'bytes' in answer ? answer : { why: '' };
  });
  if ('code' in read) return fail(read.message);
  findings.add(read.findings);
  const [declaration] = read.declarations;
  if (!declaration) return fail(`it states no payment by x402 below ${request.base_url}.`);
  return { ...request, declaration: { ...declaration, source: buildProviderSource(url) } };
}
