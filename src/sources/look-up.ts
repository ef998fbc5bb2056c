import { isIP } from 'node:net';
import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { TextResolver } from '../fetching/text-records.ts';
import { followOpenApi, mergeDocuments, nameSource, readApiDocument } from './api-document.ts';
import type { ApiDocument, ApiDocumentOptions } from './document-declarations.ts';
import { type DocumentBytes, type DocumentProblem, readDocumentBytes } from './document-text.ts';
import { parseListedUrl } from './outside-address.ts';
import { getSourceName, isWebAddress } from './source-name.ts';

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
    if (read) return 'code' in read ? read : nameSource(read, options.name);
  }
  const { bytes, url } = await readDocumentBytes(pathOrAddress, context);
  // A saved file is the operator's word, but its relative addresses are those of the address it was saved from.
  const place = url ?? (isWebAddress(options.name) ? options.name : null);
  const read = readApiDocument(bytes, { ...options, url: place, speaker: url });
  if ('code' in read) return read;
  return await followOpenApi(read, { ...options, speaker: url }, (address) => readOpenApiBytes(address, context));
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
    if (!('code' in read)) return await followOpenApi(read, spoken, (address) => readOpenApiBytes(address, context));
    // Many hosts answer any address with a page.
    return read.code === 'document_html' ? 'absent' : read;
  } catch (error) {
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return 'absent';
  }
}

/** Reads the bytes of the OpenAPI document that a file names, or says why there are none. */
async function readOpenApiBytes(url: string, context: LookUpContext): Promise<DocumentBytes | { why: string }> {
  try {
    return await readDocumentBytes(url, context);
  } catch (error) {
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return { why: error.message };
  }
}

/** Prefix of the name whose TXT records say where a host describes its paid resources (draft-jeftovic-x402-dns-discovery). */
const TEXT_RECORD_PREFIX = '_x402.';

/** Most addresses that are taken from the records of one host. */
const MAX_ADDRESSES = 4;

/**
 * Lists the addresses that `_x402` TXT records name, in their order: `v=x4021;descriptor=api;url=https://…`. Records of
 * another kind, and addresses that may not be fetched, are left out.
 */
export function listRecordAddresses(texts: readonly string[], options: { allowPrivateNetworks: boolean }): URL[] {
  return texts
    .flatMap((text) => {
      const fields = new Map(text.split(';').map(readField));
      if (!/^x402/i.test(fields.get('v') ?? '')) return [];
      const url = parseListedUrl(fields.get('url'), options);
      return url instanceof URL ? [url] : [];
    })
    .slice(0, MAX_ADDRESSES);
}

function readField(field: string): [name: string, value: string] {
  const at = field.indexOf('=');
  return [field.slice(0, at).trim().toLowerCase(), field.slice(at + 1).trim()];
}
