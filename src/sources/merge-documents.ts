import { getLowestAmount, isOtherPrice } from '../evidence/terms.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { PATH_TEMPLATE } from '../model/request.ts';
import { type DeclaredRoute, formatRoute, getRouteUrl } from '../model/route.ts';
import { formatUsdc } from '../model/usdc.ts';
import type { ApiDocument } from './document-declarations.ts';
import { buildFinding } from './finding-codes.ts';
import { getTemplatePath } from './outside-address.ts';

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
  const prefix = described.length === 1 && first ? new URL(first.base_url).pathname.replace(/\/+$/, '') : '';
  const isBelow = group.every(({ path }) => path.startsWith(`${prefix}/`));
  const base = isBelow ? prefix : '';
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
    base_url: `${origin}${base}`,
    routes: group
      .map(({ route, path }) => ({ ...route, path: path.slice(base.length) }))
      .sort((a, b) => (`${a.path} ${formatRoute(a)}` < `${b.path} ${formatRoute(b)}` ? -1 : 1)),
  };
}
