import { speaksFor } from '../evidence/domains.ts';
import { chooseFeedWords } from '../evidence/feed-words.ts';
import { hasOwnWords, isTitle } from '../evidence/titles.ts';
import { category } from '../model/catalogue.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { writeScalar } from '../model/json.ts';
import { compareRoutes, type DeclaredRoute, getRouteUrl } from '../model/route.ts';
import { compareTexts, getFirstSentence } from '../model/text.ts';
import type { DocumentFindings } from './findings.ts';
import { parseListedUrl } from './outside-address.ts';
import { cleanText, readText } from './provider-text.ts';

/** Options for reading a provider's own document. */
export interface ApiDocumentOptions {
  /** The source's name on record, as `getSourceName` gives it. */
  name: string;
  /** Address of the document after redirects; null for a file. */
  url: string | null;
  /** Address of the host that vouches for the document; default: its own address. */
  speaker?: string | null | undefined;
  /** List routes under this address only, and refuse others; null: under the addresses that the document names. */
  base_url: string | null;
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
}

/** The result of reading a document. */
export interface ApiDocument {
  kind: 'openapi' | 'x402_file';
  /** One for each base address, sorted by it. A document is a bare claim, so its routes are not dated. */
  declarations: Declaration[];
  /** Exactly one `refused` finding for each operation or resource that is refused. */
  findings: Finding[];
  /** Counts of payable operations or resources: all of them, those that became routes, duplicates, and refused ones. */
  items: { received: number; taken: number; duplicates: number; refused: number };
  /** The address of an OpenAPI document that this one names; null if it names none. */
  openapi_url: string | null;
}

/** A route, and the base address of its listing. */
export interface RouteAtAddress {
  base_url: string;
  route: DeclaredRoute;
}

/** The texts about the whole service, as the document has them. */
export interface ServiceTexts {
  title?: unknown;
  /** Name of the provider, if it differs from that of the service. */
  provider?: unknown;
  tagline?: unknown;
  description?: unknown;
  docs_url?: unknown;
  /** Words for its subject, of which one may be a category of the catalogue. */
  categories?: unknown;
}

/**
 * Builds the declarations of a document, one for each base address. The texts of the whole document are those of each.
 * If they are about its provider, because it lists several hosts or gives no other name, a host has those that its own
 * routes give, as long as these name an API or the host's name has words of its own.
 *
 * A document is a bare claim: fetching it does not prove that anything in it is true. It speaks for its own host and hosts
 * below it; routes at other hosts are refused, unless the operator names the base address. Moves these from taken to refused
 * in `items`.
 */
export function buildDocumentDeclarations(
  kind: ApiDocument['kind'],
  routes: readonly RouteAtAddress[],
  given: ServiceTexts,
  options: ApiDocumentOptions,
  findings: DocumentFindings,
  items: ApiDocument['items'],
): Declaration[] {
  const { note } = findings;
  const speaker = options.speaker === undefined ? options.url : options.speaker;
  if (routes.length === 0) note('no_payable_operation');
  const title = readText(given.title, 'title', note);
  const description = readText(given.description, 'description', note);
  const tagline = readText(given.tagline, 'tagline', note);
  const words = { title, tagline: tagline || cleanText(getFirstSentence(description), 'tagline'), description };
  const facts = {
    slug: null,
    provider_name: cleanText(given.provider, 'provider_name') || cleanText(title, 'provider_name'),
    category: findCategory(given.categories),
    mcp_endpoint: null,
    docs_url: readDocsUrl(given.docs_url, options),
    price: null,
    networks: [],
  };
  const isOwn = ({ base_url }: RouteAtAddress) =>
    speaker === null || options.base_url !== null || speaksFor(speaker, base_url);
  for (const { base_url, route } of routes.filter((one) => !isOwn(one))) {
    findings.openItem(`${route.method} ${getRouteUrl(base_url, route.path)}`).refuse('other_origin');
    items.taken -= 1;
    items.refused += 1;
  }
  const groups = [...Map.groupBy(routes.filter(isOwn), ({ base_url }) => base_url)];
  const hosts = new Set(groups.map(([base_url]) => new URL(base_url).host));
  const isOfProvider = hosts.size > 1 || (given.provider !== undefined && given.provider === given.title);
  return groups
    .sort(([a], [b]) => compareTexts(a, b))
    .map(([base_url, group]) => {
      const own = {
        source: { kind, name: options.name, observed_at: null, speaker },
        base_url,
        service_name: null,
        title: '',
        tagline: '',
        description: '',
        ...facts,
        routes: group.map(({ route }) => route).sort(compareRoutes),
      };
      const chosen =
        (isOfProvider ? chooseOwnWords(own) : undefined) ?? chooseFeedWords({ ...own, ...words }, () => false);
      return { ...chosen, service_name: chosen.title || null };
    });
}

/** Chooses the words of a host from its routes; undefined if neither they nor its name say anything of its own. */
function chooseOwnWords(declaration: Declaration): Declaration | undefined {
  const { base_url, routes } = declaration;
  const [{ name = '', service_name } = {}] = routes.length === 1 ? [routes[0]?.item] : [];
  const title = service_name === undefined && isTitle(name, base_url) ? name : '';
  const chosen = chooseFeedWords({ ...declaration, title }, () => false);
  return chosen.title !== '' || hasOwnWords(base_url) ? chosen : undefined;
}

/** Finds the first stated category that the catalogue has, too. */
function findCategory(stated: unknown): Declaration['category'] {
  const words = Array.isArray(stated) ? stated.slice(0, 20).map((word) => writeScalar(word).trim().toLowerCase()) : [];
  return category.options.find((one) => words.includes(one.toLowerCase())) ?? null;
}

/**
 * Reads a documentation address, which may be relative to the document. An address that could not be fetched is left
 * out.
 */
function readDocsUrl(raw: unknown, { url, allowPrivateNetworks }: ApiDocumentOptions): string | null {
  const address = typeof raw === 'string' ? URL.parse(raw, url ?? undefined) : null;
  const docs = address && parseListedUrl(address.href, { allowPrivateNetworks });
  return docs instanceof URL ? docs.href : null;
}
