import { isIP } from 'node:net';
import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { TextResolver } from '../fetching/text-records.ts';
import { readApiDocument, rebaseDeclarations } from './api-document.ts';
import type { ApiDocument, ApiDocumentOptions } from './document-declarations.ts';
import { type DocumentProblem, readDocumentBytes } from './document-text.ts';
import { buildFinding } from './finding-codes.ts';
import { mergeDocuments } from './merge-documents.ts';
import { getSourceName, isWebAddress } from './source-name.ts';
import { listRecordAddresses, TEXT_RECORD_PREFIX } from './text-record.ts';

/** Places where a host may describe its paid resources, the best place first. */
const DOCUMENT_PATHS = ['/.well-known/x402', '/.well-known/x402.json', '/openapi.json'];

/** Time after which no further document is looked for, in milliseconds. */
const MAX_LOOK_UP_MS = 120_000;

interface LookUpContext {
  client: Pick<GuardedClient, 'fetch'>;
  resolver: Pick<TextResolver, 'listTexts'>;
  signal: AbortSignal;
}

type LookUpOptions = Omit<ApiDocumentOptions, 'url' | 'speaker'>;

/** A document that was looked for: its content, the reason why it cannot be taken, or `absent`. */
export interface LookedUp {
  url: string;
  read: ApiDocument | DocumentProblem | 'absent';
}

/**
 * Reads a provider's own document with the OpenAPI document that it names. For a bare host, such as
 * `https://api.example.com`, it reads the documents at the usual places: an x402 file, and if that states no price the
 * OpenAPI document of the host, too. Throws what `readDocumentBytes` throws.
 */
export async function readWholeDocument(
  pathOrAddress: string,
  options: LookUpOptions,
  context: LookUpContext,
): Promise<ApiDocument | DocumentProblem> {
  if (isBareHost(pathOrAddress)) {
    const found = await lookUpDocuments(new URL(pathOrAddress).origin, options, context, isEnough);
    const read = chooseDocument(found);
    if (read) return nameSource(read, options.name);
  }
  const { bytes, url } = await readDocumentBytes(pathOrAddress, context);
  // A saved file is the operator's word, but its relative addresses are those of the address it was saved from.
  const place = url ?? (isWebAddress(options.name) ? options.name : null);
  const read = readApiDocument(bytes, { ...options, url: place, speaker: url });
  return 'code' in read ? read : await followOpenApi(read, { ...options, speaker: url }, context);
}

/** Returns whether an address names a host alone. */
export function isBareHost(pathOrAddress: string): boolean {
  const url = isWebAddress(pathOrAddress) ? URL.parse(pathOrAddress) : null;
  return url !== null && url.pathname === '/' && url.search === '';
}

function isTaken(read: LookedUp['read']): read is ApiDocument {
  return read !== 'absent' && !('code' in read) && read.declarations.length > 0;
}

/** Returns whether a document has all that is looked for: it is OpenAPI, or it states a price. */
function isEnough(read: LookedUp['read']): boolean {
  if (!isTaken(read)) return false;
  const routes = read.declarations.flatMap((declaration) => declaration.routes);
  return read.kind === 'openapi' || routes.some(({ terms }) => terms.length > 0);
}

/** Returns the document of a host, merged of two if they complete each other; undefined if there is none. */
export function chooseDocument(found: readonly LookedUp[]): ApiDocument | DocumentProblem | undefined {
  const taken = found.map(({ read }) => read).filter(isTaken);
  const file = taken.find(({ kind }) => kind === 'x402_file');
  const openapi = taken.find(({ kind }) => kind === 'openapi');
  if (file && openapi) return mergeDocuments(file, openapi);
  return file ?? openapi ?? found.map(({ read }) => read).find((read) => read !== 'absent');
}

/**
 * Looks for the documents of a host: at the addresses of its `_x402` TXT records, at `/.well-known/x402` and
 * `/.well-known/x402.json`, and at `/openapi.json`. A host that answers with a page or an error has none there. Stops at
 * the first that `isLast` accepts, and begins no further one after two minutes.
 */
export async function lookUpDocuments(
  origin: string,
  options: LookUpOptions,
  context: LookUpContext,
  isLast: (read: LookedUp['read']) => boolean = () => false,
): Promise<LookedUp[]> {
  const started = performance.now();
  const { hostname } = new URL(origin);
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && hostname.includes('.');
  const texts = isName ? await context.resolver.listTexts(`${TEXT_RECORD_PREFIX}${hostname}`) : [];
  const named = listRecordAddresses(texts, options).map(({ href }) => href);
  const usual = DOCUMENT_PATHS.map((path) => new URL(path, origin).href);
  const found: LookedUp[] = [];
  const done = new Set<string>();
  for (const url of [...named, ...usual]) {
    if (done.has(url) || performance.now() - started > MAX_LOOK_UP_MS) continue;
    done.add(url);
    // The owner of the host's name names the document in a record, and so vouches for it.
    const read = await readThere(url, options, named.includes(url) ? origin : undefined, context);
    if (read !== 'absent' && !('code' in read) && read.openapi_url !== null) done.add(read.openapi_url);
    found.push({ url, read });
    if (isLast(read)) break;
  }
  return found;
}

/** Reads a document. `speaker` is the host that vouches for it, if that is not its own host. */
async function readThere(
  url: string,
  given: LookUpOptions,
  speaker: string | undefined,
  context: LookUpContext,
): Promise<LookedUp['read']> {
  const options = { ...given, name: getSourceName(url) };
  try {
    const { bytes, url: end } = await readDocumentBytes(url, context);
    const spoken = { ...options, speaker: speaker ?? end };
    const read = readApiDocument(bytes, { ...spoken, url: end });
    if (!('code' in read)) return await followOpenApi(read, spoken, context);
    // Many hosts answer any address with a page.
    return read.code === 'document_html' ? 'absent' : read;
  } catch (error) {
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return 'absent';
  }
}

/** Gives the listings of a document another source: the findings keep the name of the document that they are about. */
function nameSource<Read extends ApiDocument | DocumentProblem>(read: Read, name: string): Read {
  if ('code' in read) return read;
  return { ...read, declarations: read.declarations.map((one) => ({ ...one, source: { ...one.source, name } })) };
}

/**
 * Reads the OpenAPI document that an x402 file names, which vouches for it, and merges the two. If the document cannot
 * be read, that is noted, and the file alone counts.
 */
async function followOpenApi(
  file: ApiDocument,
  options: LookUpOptions & Pick<ApiDocumentOptions, 'speaker'>,
  context: LookUpContext,
): Promise<ApiDocument> {
  const { openapi_url } = file;
  if (openapi_url === null) return file;
  const fail = (why: string): ApiDocument => ({
    ...file,
    findings: [buildUnread(options.name, openapi_url, why), ...file.findings],
  });
  try {
    const { bytes, url } = await readDocumentBytes(openapi_url, context);
    const name = getSourceName(openapi_url);
    const openapi = readApiDocument(bytes, { ...options, name, url });
    if ('code' in openapi) return fail(openapi.message);
    const merged = nameSource(mergeDocuments(file, openapi), options.name);
    return options.base_url === null ? merged : rebaseDeclarations(merged, options.base_url);
  } catch (error) {
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return fail(error.message);
  }
}

/** Builds the finding of an OpenAPI document that a file names and that could not be read. */
export function buildUnread(name: string, url: string, why: string) {
  const message =
    `The OpenAPI document ${getSourceName(url)} could not be read, so the file alone counts. ${why}`.trim();
  return buildFinding('noted', 'openapi_not_read', name, message);
}
