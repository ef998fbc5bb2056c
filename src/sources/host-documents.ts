import { isIP } from 'node:net';
import { ServiceError } from '../errors.ts';
import { getLowestAmount, isOtherPrice } from '../evidence/terms.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { TextResolver } from '../fetching/text-records.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { PATH_TEMPLATE } from '../model/request.ts';
import { compareRoutes, type DeclaredRoute, getRouteUrl } from '../model/route.ts';
import { compareTexts } from '../model/text.ts';
import { formatUsdc } from '../model/usdc.ts';
import { readApiDocument } from './api-document.ts';
import type { ApiDocument, ApiDocumentOptions } from './document-declarations.ts';
import { type DocumentBytes, type DocumentProblem, readDocumentBytes } from './document-text.ts';
import { buildFinding } from './findings.ts';
import { getTemplatePath, parseListedUrl } from './outside-address.ts';
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

/** The documents of a host, by place, and the document that an import takes: one of them, or two merged; undefined for a host without documents. */
interface HostDocuments {
  places: LookedUp[];
  read: ApiDocument | DocumentProblem | undefined;
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
    const { read } = await readHostDocuments(new URL(pathOrAddress).origin, options, context, isEnough);
    if (read) return read;
  }
  const { bytes, url } = await readDocumentBytes(pathOrAddress, context);
  // A saved file is the operator's word, but its relative addresses are those of the address it was saved from.
  const place = url ?? (isWebAddress(options.name) ? options.name : null);
  return await readDocument({ bytes, url: place }, { ...options, speaker: url }, (address) =>
    readNamedBytes(address, context),
  );
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

/**
 * Reads the documents of a host: at the addresses of its `_x402` TXT records, at `/.well-known/x402` and
 * `/.well-known/x402.json`, and at `/openapi.json`. A host that answers with a page or an error has none there. Stops at
 * the first that `isLast` accepts, and begins no further one after two minutes.
 */
export async function readHostDocuments(
  origin: string,
  options: LookUpOptions,
  context: LookUpContext,
  isLast: (read: LookedUp['read']) => boolean = () => false,
): Promise<HostDocuments> {
  const started = performance.now();
  const { hostname } = new URL(origin);
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && hostname.includes('.');
  const texts = isName ? await context.resolver.listTexts(`${TEXT_RECORD_PREFIX}${hostname}`) : [];
  const named = listRecordAddresses(texts, options).map(({ href }) => href);
  const usual = DOCUMENT_PATHS.map((path) => new URL(path, origin).href);
  const places: LookedUp[] = [];
  const done = new Set<string>();
  for (const url of [...named, ...usual]) {
    if (done.has(url) || performance.now() - started > MAX_LOOK_UP_MS) continue;
    done.add(url);
    // The owner of the host's name names the document in a record, and so vouches for it.
    const read = await readThere(url, options, named.includes(url) ? origin : undefined, context);
    if (read !== 'absent' && !('code' in read) && read.openapi_url !== null) done.add(read.openapi_url);
    places.push({ url, read });
    if (isLast(read)) break;
  }
  return { places, read: chooseDocument(places, options.name) };
}

/**
 * Returns the document of a host that an import takes, under a name: an x402 file and an OpenAPI document merged, or the first
 * one; undefined for a host without documents.
 */
function chooseDocument(places: readonly LookedUp[], name: string): HostDocuments['read'] {
  const reads = places.map(({ read }) => read).filter((read) => read !== 'absent');
  const taken = reads.filter(isTaken);
  const file = taken.find(({ kind }) => kind === 'x402_file');
  const openapi = taken.find(({ kind }) => kind === 'openapi');
  if (file && openapi) return mergeDocuments(file, openapi, name);
  const [first] = taken.length > 0 ? taken : reads;
  return first && !('code' in first) ? nameSource(first, name) : first;
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
    const found = await readDocumentBytes(url, context);
    const read = await readDocument(found, { ...options, speaker: speaker ?? found.url }, (address) =>
      readNamedBytes(address, context),
    );
    // Many hosts answer any address with a page.
    return 'code' in read && read.code === 'document_html' ? 'absent' : read;
  } catch (error) {
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return 'absent';
  }
}

/** Reads the bytes of the OpenAPI document that a file names, or says why there are none. */
async function readNamedBytes(url: string, context: LookUpContext): Promise<DocumentBytes | { why: string }> {
  try {
    return await readDocumentBytes(url, context);
  } catch (error) {
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return { why: error.message };
  }
}

/**
 * Reads the bytes of a document, and the OpenAPI document that it names, which it vouches for, and merges the two; the
 * listings are the file's. If the second cannot be read, that is noted, and the file alone counts. `readNamed` returns its
 * bytes, why there are none, or undefined for an address that is not to be followed.
 */
export async function readDocument(
  { bytes, url }: DocumentBytes,
  options: Omit<ApiDocumentOptions, 'url'>,
  readNamed: (address: string) => Promise<DocumentBytes | { why: string } | undefined>,
): Promise<ApiDocument | DocumentProblem> {
  const file = readApiDocument(bytes, { ...options, url });
  if ('code' in file || file.openapi_url === null) return file;
  const found = await readNamed(file.openapi_url);
  if (!found) return file;
  const name = getSourceName(file.openapi_url);
  const openapi = 'why' in found ? undefined : readApiDocument(found.bytes, { ...options, name, url: found.url });
  if (openapi && !('code' in openapi)) return mergeDocuments(file, openapi, options.name);
  const why = openapi?.message ?? ('why' in found ? found.why : '');
  const message = `The OpenAPI document ${name} could not be read, so the file alone counts. ${why}`.trim();
  return { ...file, findings: [buildFinding('noted', 'openapi_not_read', options.name, message), ...file.findings] };
}

/** Prefix of the name whose TXT records say where a host describes its paid resources (draft-jeftovic-x402-dns-discovery). */
const TEXT_RECORD_PREFIX = '_x402.';

/** Most addresses that are taken from the records of one host. */
const MAX_ADDRESSES = 4;

/**
 * Lists the addresses that `_x402` TXT records name, in their order: `v=x4021;descriptor=api;url=https://…`. Records of
 * another kind, and addresses that may not be fetched, are left out.
 */
function listRecordAddresses(texts: readonly string[], options: { allowPrivateNetworks: boolean }): URL[] {
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

/** A route with its whole address. */
interface LocatedRoute {
  route: DeclaredRoute;
  origin: string;
  /** Path and query from the origin on. */
  path: string;
  declaration: Declaration;
}

/** Gives the listings of a document another source: the findings keep the name of the document that they are about. */
function nameSource(read: ApiDocument, name: string): ApiDocument {
  return { ...read, declarations: read.declarations.map((one) => ({ ...one, source: { ...one.source, name } })) };
}

/**
 * Merges an x402 file and an OpenAPI document of one host; `name` becomes the source of the listings. A route of both has
 * the words and schemas of OpenAPI, and the price of the file if that has one and does not assume the network that OpenAPI
 * states. Listings are at the base address of the OpenAPI document if all routes are below it, else at the origin.
 */
function mergeDocuments(file: ApiDocument, openapi: ApiDocument, name: string): ApiDocument {
  const described = openapi.declarations.flatMap(listLocatedRoutes);
  const byKey = new Map(described.map((located) => [getKey(located), located]));
  const addresses = new Set(described.map(getAddressKey));
  let duplicates = 0;
  const findings = [...file.findings, ...openapi.findings];
  const alone: LocatedRoute[] = [];
  for (const located of file.declarations.flatMap(listLocatedRoutes)) {
    const same = byKey.get(getKey(located));
    const { terms } = located.route;
    if (same) byKey.set(getKey(located), mergeRoutes(located, same));
    if (same && isOtherPrice(located.route, same.route)) findings.push(buildDifference(located, same));
    // A bare address names no method, so it is about every route that OpenAPI describes there.
    if (same || (terms.length === 0 && addresses.has(getAddressKey(located)))) duplicates += 1;
    else alone.push(located);
  }
  const routes = [...byKey.values(), ...alone];
  const { kind } = file.declarations.length > 0 ? file : openapi;
  const declarations = [...Map.groupBy(routes, ({ origin }) => origin)]
    .map(([origin, group]) => buildMerged(origin, group, { file, openapi }))
    .map((merged) => ({ ...merged, source: { ...merged.source, kind, name } }));
  const add = (count: 'received' | 'taken' | 'refused') => file.items[count] + openapi.items[count];
  return {
    kind,
    declarations: declarations.sort((a, b) => compareTexts(a.base_url, b.base_url)),
    findings: routes.length > 0 ? findings.filter(({ code }) => code !== 'no_payable_operation') : findings,
    items: {
      received: add('received'),
      taken: add('taken') - duplicates,
      duplicates: file.items.duplicates + openapi.items.duplicates + duplicates,
      refused: add('refused'),
    },
    openapi_url: file.openapi_url,
  };
}

/**
 * Merges a route of both: the words of OpenAPI, and the payment of the file, unless that has none or assumes what OpenAPI
 * states.
 */
function mergeRoutes({ route: own, declaration: file }: LocatedRoute, located: LocatedRoute): LocatedRoute {
  const { route: described, declaration: openapi } = located;
  const { network_assumed: _assumed, ...words } = described;
  const isStated = described.terms.length > 0 && !described.network_assumed;
  const isDescribed = own.terms.length === 0 || (own.network_assumed === true && isStated);
  const [chosen, other] = isDescribed ? [described, own] : [own, described];
  const route: DeclaredRoute = {
    ...words,
    terms: chosen.terms,
    ...(chosen.network_assumed && { network_assumed: true }),
    ...(isOtherPrice(chosen, other) && {
      other_price: { source: (isDescribed ? file : openapi).source.name, amount: getLowestAmount(other.terms) },
    }),
  };
  return { ...located, route };
}

/** Builds the finding of a route for which the two documents state different prices. */
function buildDifference(own: LocatedRoute, described: LocatedRoute): Finding {
  const prices = [own, described].map(
    ({ route, declaration }) => `${formatUsdc(getLowestAmount(route.terms))} USDC by ${declaration.source.name}`,
  );
  const item = `${own.route.method} ${own.origin}${own.path}`;
  return buildFinding(
    'noted',
    'prices_differ',
    item,
    `The two documents state different prices: ${prices.join(', ')}.`,
  );
}

function listLocatedRoutes(declaration: Declaration): LocatedRoute[] {
  return declaration.routes.map((route) => {
    const url = new URL(getRouteUrl(declaration.base_url, route.path));
    return { route, origin: url.origin, path: getTemplatePath(url), declaration };
  });
}

/** Returns a key of an address: two spellings of one template (`{id}`, `:id`) are one route. */
function getAddressKey({ origin, path }: LocatedRoute): string {
  return `${origin}${path.replace(PATH_TEMPLATE, '{}')}`;
}

function getKey(located: LocatedRoute): string {
  return `${located.route.method} ${getAddressKey(located)}`;
}

function buildMerged(
  origin: string,
  group: readonly LocatedRoute[],
  { file, openapi }: { file: ApiDocument; openapi: ApiDocument },
): Declaration {
  const isHere = ({ base_url }: Declaration) => new URL(base_url).origin === origin;
  const [own, described] = [file.declarations.find(isHere), openapi.declarations.filter(isHere)];
  const [first] = described;
  const base = described.length > 1 ? undefined : (first ?? own)?.base_url;
  const stated = base === undefined ? '' : new URL(base).pathname.replace(/\/+$/, '');
  const prefix = group.every(({ path }) => path.startsWith(`${stated}/`)) ? stated : '';
  const declared = [first, own, group[0]?.declaration].filter((one) => one !== undefined);
  const [words] = declared;
  if (!words) throw new TypeError('A merged listing has routes, and so a declaration.');
  const find = (field: 'title' | 'tagline' | 'description' | 'provider_name') =>
    declared.find((one) => one[field] !== '')?.[field] ?? '';
  return {
    ...words,
    service_name: declared.find(({ service_name }) => service_name !== null)?.service_name ?? null,
    title: find('title'),
    tagline: find('tagline'),
    description: find('description'),
    provider_name: find('provider_name'),
    category: declared.find(({ category }) => category !== null)?.category ?? null,
    docs_url: declared.find(({ docs_url }) => docs_url !== null)?.docs_url ?? null,
    base_url: `${origin}${prefix}`,
    routes: group.map(({ route, path }) => ({ ...route, path: path.slice(prefix.length) })).sort(compareRoutes),
  };
}
