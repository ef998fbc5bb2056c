import { speaksFor } from '../evidence/domains.ts';
import { getLowestAmount, isOtherPrice } from '../evidence/terms.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { PATH_TEMPLATE } from '../model/request.ts';
import { type DeclaredRoute, formatRoute, getRouteUrl } from '../model/route.ts';
import { formatUsdc } from '../model/usdc.ts';
import type { ApiDocument, ApiDocumentOptions } from './document-declarations.ts';
import { type DocumentBytes, type DocumentProblem, parseDocumentText } from './document-text.ts';
import { buildFinding } from './finding-codes.ts';
import { isObject } from './json-value.ts';
import { readOpenApi } from './openapi/read.ts';
import { describeOtherList } from './other-lists.ts';
import { getTemplatePath } from './outside-address.ts';
import { getSourceName } from './source-name.ts';
import { readX402File } from './x402-file/read.ts';

/**
 * Reads a provider's own document into declarations: OpenAPI 3 with payment information, or a list of x402 resources
 * (`/.well-known/x402`), whichever it is. Returns a problem if the whole document cannot be taken, as that of another
 * protocol. Never throws, whatever the bytes.
 */
export function readApiDocument(bytes: Uint8Array, options: ApiDocumentOptions): ApiDocument | DocumentProblem {
  const subject = `The document ${options.name}`;
  const parsed = parseDocumentText(bytes, subject);
  if ('code' in parsed) return parsed;
  const read = readValue(parsed.value, subject, options);
  if ('code' in read) return read;
  const twice = parsed.duplicateKeys.map((place) =>
    buildFinding('noted', 'duplicate_key', options.name, undefined, place),
  );
  const document = twice.length > 0 ? { ...read, findings: [...twice, ...read.findings] } : read;
  return options.base_url === null ? document : rebaseDeclarations(document, options.base_url);
}

function readValue(value: unknown, subject: string, options: ApiDocumentOptions): ApiDocument | DocumentProblem {
  if (isObject(value) && isOpenApi(value)) {
    return readOpenApi(value, subject, options);
  }
  const other = describeOtherList(value, subject, options.url);
  if (other !== undefined) return { code: 'other_list', message: other, hint: OTHER_HINT };
  const file = readX402File(value, options);
  if (file) return file;
  return {
    code: 'not_api_document',
    message: `${subject} is neither an OpenAPI 3 document nor a list of x402 resources.`,
    hint: 'OpenAPI has "openapi": "3…" at its top; a /.well-known/x402 file has "resources" or "items".',
  };
}

const OTHER_HINT = 'Give the OpenAPI document or the /.well-known/x402 file of the same provider.';

/** Returns whether JSON is an OpenAPI document. An x402 file may name the address of one by the same member. */
function isOpenApi(value: Record<string, unknown>): boolean {
  return value.swagger !== undefined || (typeof value.openapi === 'string' && /^\s*v?\d/.test(value.openapi));
}

/**
 * Moves all routes of a document under one base address, by which the catalogue lists them. Routes below that address
 * keep their full address, so their path changes; others are refused. `baseUrl` is in canonical form.
 */
function rebaseDeclarations(document: ApiDocument, baseUrl: string): ApiDocument {
  const prefix = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const findings = [...document.findings];
  const routes = new Map<string, Declaration['routes'][number]>();
  const { received } = document.items;
  let { taken, duplicates, refused } = document.items;
  for (const { base_url, routes: own } of document.declarations) {
    for (const route of own) {
      const url = new URL(getRouteUrl(base_url, route.path));
      const whole = getTemplatePath(url);
      const path = whole.slice(prefix.length);
      const key = `${route.method} ${path}`;
      if (url.origin !== new URL(baseUrl).origin || !whole.startsWith(`${prefix}/`)) {
        taken -= 1;
        refused += 1;
        const item = `${route.method} ${getRouteUrl(base_url, route.path)}`;
        findings.push(buildFinding('refused', 'outside_base_address', item));
      } else if (routes.has(key)) {
        taken -= 1;
        duplicates += 1;
      } else routes.set(key, { ...route, path });
    }
  }
  const [first] = document.declarations;
  const sorted = sortRoutes([...routes.values()]);
  const declare = ({ source, ...rest }: Declaration): Declaration => ({
    ...rest,
    // The word of the operator who named it counts for an address that the document cannot speak for.
    source: source.speaker && !speaksFor(source.speaker, baseUrl) ? { ...source, speaker: null } : source,
    base_url: baseUrl,
    routes: sorted,
  });
  return {
    ...document,
    declarations: first && sorted.length > 0 ? [declare(first)] : [],
    findings,
    items: { received, taken, duplicates, refused },
  };
}

/**
 * Reads the OpenAPI document that an x402 file names, which vouches for it, and merges the two; the listings are the
 * file's. If the document cannot be read, that is noted, and the file alone counts. `readBytes` returns why it has none.
 */
export async function followOpenApi(
  file: ApiDocument,
  options: Omit<ApiDocumentOptions, 'url'>,
  readBytes: (address: string) => Promise<DocumentBytes | { why: string }>,
): Promise<ApiDocument> {
  const { openapi_url } = file;
  if (openapi_url === null) return file;
  const name = getSourceName(openapi_url);
  const read = await readBytes(openapi_url);
  const openapi = 'why' in read ? undefined : readApiDocument(read.bytes, { ...options, name, url: read.url });
  if (openapi && !('code' in openapi)) return nameSource(mergeDocuments(file, openapi), options.name);
  const why = openapi?.message ?? ('why' in read ? read.why : '');
  const message = `The OpenAPI document ${name} could not be read, so the file alone counts. ${why}`.trim();
  return { ...file, findings: [buildFinding('noted', 'openapi_not_read', options.name, message), ...file.findings] };
}

/** Gives the listings of a document another source: the findings keep the name of the document that they are about. */
export function nameSource(read: ApiDocument, name: string): ApiDocument {
  return { ...read, declarations: read.declarations.map((one) => ({ ...one, source: { ...one.source, name } })) };
}

/** A route with its whole address. */
interface Placed {
  route: DeclaredRoute;
  origin: string;
  /** Path and query from the origin on. */
  path: string;
  declaration: Declaration;
}

/**
 * Merges an x402 file and the OpenAPI document that it names. A route of both has the words and schemas of OpenAPI, and
 * the price of the file if that has one and does not assume the network that OpenAPI states. Listings are at the base address of the OpenAPI document if all routes are below
 * it, else at the origin.
 */
export function mergeDocuments(file: ApiDocument, openapi: ApiDocument): ApiDocument {
  const described = openapi.declarations.flatMap(listPlaced);
  const byKey = new Map(described.map((placed) => [getKey(placed), placed]));
  const addresses = new Set(described.map(getAddressKey));
  let duplicates = 0;
  const findings = [...file.findings, ...openapi.findings];
  const alone: Placed[] = [];
  for (const placed of file.declarations.flatMap(listPlaced)) {
    const same = byKey.get(getKey(placed));
    const { terms } = placed.route;
    if (same) byKey.set(getKey(placed), mergePlaced(placed, same));
    if (same && isOtherPrice(placed.route, same.route)) findings.push(buildDifference(placed, same));
    // A bare address names no method, so it is about every route that OpenAPI describes there.
    if (same || (terms.length === 0 && addresses.has(getAddressKey(placed)))) duplicates += 1;
    else alone.push(placed);
  }
  const routes = [...byKey.values(), ...alone];
  const { kind } = file.declarations.length > 0 ? file : openapi;
  const declarations = [...Map.groupBy(routes, ({ origin }) => origin)]
    .map(([origin, group]) => buildMerged(origin, group, { file, openapi }))
    .map((merged) => ({ ...merged, source: { ...merged.source, kind } }));
  const add = (name: 'received' | 'taken' | 'refused') => file.items[name] + openapi.items[name];
  return {
    kind,
    declarations: declarations.sort((a, b) => (a.base_url < b.base_url ? -1 : 1)),
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
function mergePlaced({ route: own, declaration: file }: Placed, placed: Placed): Placed {
  const { route: described, declaration: openapi } = placed;
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
  return { ...placed, route };
}

/** Builds the finding of a route for which the two documents state different prices. */
function buildDifference(own: Placed, described: Placed): Finding {
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

function listPlaced(declaration: Declaration): Placed[] {
  return declaration.routes.map((route) => {
    const url = new URL(getRouteUrl(declaration.base_url, route.path));
    return { route, origin: url.origin, path: getTemplatePath(url), declaration };
  });
}

/** Returns a key of an address: two spellings of one template (`{id}`, `:id`) are one route. */
function getAddressKey({ origin, path }: Placed): string {
  return `${origin}${path.replace(PATH_TEMPLATE, '{}')}`;
}

function getKey(placed: Placed): string {
  return `${placed.route.method} ${getAddressKey(placed)}`;
}

function buildMerged(
  origin: string,
  group: readonly Placed[],
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
    routes: sortRoutes(group.map(({ route, path }) => ({ ...route, path: path.slice(prefix.length) }))),
  };
}

function sortRoutes(routes: readonly DeclaredRoute[]): DeclaredRoute[] {
  const getSortKey = (route: DeclaredRoute) => `${route.path} ${formatRoute(route)}`;
  return routes.toSorted((a, b) => (getSortKey(a) < getSortKey(b) ? -1 : 1));
}
