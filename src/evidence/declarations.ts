import type { Category } from '../model/catalogue.ts';
import type { Declaration } from '../model/declaration.ts';
import type { Listing } from '../model/listing.ts';
import type { NetworkKey } from '../model/network.ts';
import type { DeclaredRoute, OtherPrice, Route } from '../model/route.ts';
import { listCounted } from '../model/route.ts';
import {
  AUTHORITIES,
  type Authority,
  type DeclarationSource,
  type ListedSource,
  type ListingFact,
  type RouteFact,
  type SourceKind,
} from '../model/source.ts';
import { cutText, findMediaType, getFirstSentence, TEXT_LIMITS } from '../model/text.ts';
import { type Heard, type RecordedDeclaration, rankDeclarations } from './authority.ts';
import { type InferredCategory, inferCategory } from './category.ts';
import { speaksFor } from './domains.ts';
import { chooseFeedWords, compareDepth } from './feed-words.ts';
import { takesNothing } from './input-parts.ts';
import { buildTagline, getOpening, isTagline, joinOpenings } from './taglines.ts';
import { getLowestAmount, isOtherPrice } from './terms.ts';
import { getHostTitle, getLetters, isTitle } from './titles.ts';

/** One route: each fact from the first source that has it. */
export interface MergedRoute {
  route: DeclaredRoute;
  /** Authority for the route's existence: the best of all sources that name it. */
  authority: Authority;
  said_by: Route['said_by'];
  /** The source of the terms, its authority, and the time at which it was heard (null: not known). */
  source: DeclarationSource;
  terms_by: Authority;
  heard_at: string | null;
  /** The first document of the same authority that contradicts the terms in price; undefined without one. */
  other_price: OtherPrice | undefined;
  /** Times at which dated sources that believe the same saw the networks of its terms. */
  sightings: Sighting[];
  /** Time since when a source names it, by our clock; empty if that is not known. */
  since: string;
  /**
   * True for a route that only hearsay names and nobody saw, while another route was seen or a source above hearsay
   * names what is sold.
   */
  set_aside: boolean;
}

/** A network that a source saw a route to be paid on, and when, ISO 8601 UTC. */
interface Sighting {
  key: NetworkKey;
  at: string;
}

/** The texts about a listing, each from the first source that has it. */
interface MergedWords {
  title: string;
  /** True if a source gives the title, or the words of a route, and false if it was made from the host. */
  is_named: boolean;
  tagline: string;
  description: string;
  provider_name: string;
}

/** The merged words of all sources about a listing. */
export interface MergedDeclaration {
  words: MergedWords;
  category: Category;
  /** The inference of the category if no source names one; otherwise null. */
  inferred: InferredCategory | null;
  docs_url: string | null;
  mcp_endpoint: string | null;
  routes: MergedRoute[];
  /** The declarations that are not withdrawn, the one that is believed first at the beginning; all of them if every one is withdrawn. */
  declarations: Declaration[];
  sources: ListedSource[];
  said_by: Listing['said_by'];
  /** False if every source has withdrawn the listing. */
  offered: boolean;
}

/** The words of a listing that readers have seen so far. */
type RecordedWords = Pick<Listing, 'title' | 'description' | 'category' | 'sources'>;

/** Returns whether a route gave a valid 402, or was paid for. */
type IsSeen = (route: Pick<DeclaredRoute, 'method' | 'path'>) => boolean;

/**
 * Merges what the sources say about one listing, in the order of `authority.ts`: each fact comes from the first source that
 * has it, so a bare mention of a route erases no terms. A category that was inferred stays unless another one is clearly
 * better. If the provider's announcement lists routes, only those routes and the prices it states are used. Throws on an
 * empty list.
 */
export function mergeDeclarations(
  all: readonly RecordedDeclaration[],
  recorded?: RecordedWords,
  isSeen: IsSeen = () => false,
): MergedDeclaration {
  const offering = all.filter(({ withdrawn_at }) => withdrawn_at === null);
  const ranked = rankDeclarations(offering.length > 0 ? offering : all);
  const heard = ranked.map((one) => (one.authority === 'hearsay' ? hearOthers(one, recorded, isSeen) : one));
  const [first] = heard;
  if (!first) throw new Error('a listing has at least one declaration');
  const routes = mergeRoutes(heard, isSeen);
  const tellingRoutes = listTelling(routes, isSeen);
  const telling = tellingRoutes.map(({ route }) => route);
  // The feed heard first alone counts among feeds; of other sources all of the first rank count.
  const leading = first.authority === 'hearsay' ? [first] : heard.filter((one) => one.authority === first.authority);
  const said_by: Listing['said_by'] = {};
  const find = <Value>(fact: ListingFact, get: (declaration: Declaration) => Value | null): Value | undefined => {
    const place = heard.findIndex(({ declaration }) => get(declaration) !== null);
    const found = heard[place];
    if (found) said_by[fact] = place;
    return (found && get(found.declaration)) ?? undefined;
  };
  const { base_url } = first.declaration;
  const { host } = new URL(base_url);
  const given = find('title', ({ title }) => (isTitle(title, base_url) ? title : null));
  const seenSoFar = recorded && !isBetter(first.authority, recorded) ? recorded : undefined;
  const described = listDescribed(tellingRoutes);
  const made = given ?? makeHostTitle(base_url, leading, telling, recorded);
  const chosen = made ?? chooseRouteTitle(described.routes, base_url, seenSoFar);
  const title = chosen ?? host;
  const stated = find('tagline', (one) => (isTagline(one.tagline, title, base_url) ? one.tagline : null));
  const tagline = stated ?? describeRoutes(described.routes, title, base_url);
  if (described.by !== undefined) {
    if (stated === undefined && tagline !== undefined) said_by.tagline = described.by;
    if (made === undefined && chosen !== undefined) said_by.title = described.by;
  }
  const description = find('description', (one) => one.description || null) ?? '';
  const providers = heard.map(({ declaration }) => declaration.provider_name);
  const declared = find('category', ({ category }) => category);
  find('price', ({ price }) => price);
  const known = seenSoFar?.category;
  const tags = [...new Set(leading.flatMap((one) => one.declaration.tags ?? []))];
  const infer = (routes: readonly DeclaredRoute[]) =>
    inferCategory({ title, tagline: stated ?? '', description, tags, routes }, known);
  const counted = listCounted(routes).map(({ route }) => route);
  // The category on record gives way only if the routes that words are made of and all that count say so.
  const isKept = known !== undefined && counted.length > telling.length && infer(counted).category === known;
  const inferred = declared === undefined ? infer(isKept ? counted : telling) : null;
  return {
    words: {
      title,
      is_named: said_by.title !== undefined,
      tagline: tagline ?? buildTagline(telling),
      description,
      provider_name: providers.find((name) => name !== '' && name !== host) ?? host,
    },
    category: declared ?? inferred?.category ?? 'Tools',
    inferred,
    docs_url: find('docs_url', (one) => one.docs_url) ?? null,
    mcp_endpoint: find('mcp_endpoint', (one) => one.mcp_endpoint) ?? null,
    routes,
    declarations: heard.map(({ declaration }) => declaration),
    sources: heard.map(({ declaration: { source }, authority }) => {
      const { speaker: _speaker, ...listed } = source;
      return { ...listed, authority };
    }),
    said_by,
    offered: offering.length > 0,
  };
}

/**
 * Returns whether a source of this authority is believed before all earlier ones: then what was inferred before is
 * void.
 */
function isBetter(authority: Authority, { sources: [before] }: RecordedWords): boolean {
  return before?.authority !== undefined && AUTHORITIES.indexOf(authority) < AUTHORITIES.indexOf(before.authority);
}

/** Lists the routes that words are made of: those that count, and of routes that only others name those heard first. */
function listTelling(routes: readonly MergedRoute[], isSeen: IsSeen): MergedRoute[] {
  const counted = routes.filter(({ set_aside }) => !set_aside);
  const isHearsay = counted.every(({ authority, route }) => authority === 'hearsay' && !isSeen(route));
  const first = counted.map(({ since }) => since).reduce((a, b) => (a < b ? a : b), '~');
  return counted.filter(({ since }) => !isHearsay || since === first);
}

/**
 * Returns the words that may be taken from others: words of some items alone, and links to the API's own host or the
 * one above it.
 */
function hearOthers<Said extends Heard>(one: Said, recorded: RecordedWords | undefined, isSeen: IsSeen): Said {
  const declaration = chooseFeedWords(one.declaration, isSeen, recorded);
  const { base_url, docs_url, mcp_endpoint } = declaration;
  const keep = (link: string | null) => (link !== null && speaksFor(link, base_url) ? link : null);
  return { ...one, declaration: { ...declaration, docs_url: keep(docs_url), mcp_endpoint: keep(mcp_endpoint) } };
}

/**
 * Makes a title from the host, as the texts write it; undefined if its words name nothing. The title that readers know stays
 * if only its spelling differs.
 */
function makeHostTitle(
  baseUrl: string,
  leading: readonly Heard[],
  telling: readonly DeclaredRoute[],
  recorded: RecordedWords | undefined,
): string | undefined {
  const texts = [
    ...leading.flatMap(({ declaration: { tagline, description } }) => [tagline, description]),
    ...telling.flatMap((route) => [route.description, route.path]),
  ];
  const made = getHostTitle(baseUrl, texts);
  const isKnown = recorded && isTitle(recorded.title, baseUrl) && getLetters(recorded.title) === getLetters(made);
  if (isKnown) return recorded.title;
  return isTitle(made, baseUrl) ? made : undefined;
}

/** Lists the routes that the source believed first of those that describe any describes, and gives its place. */
function listDescribed(telling: readonly MergedRoute[]): { routes: DeclaredRoute[]; by: number | undefined } {
  const [by] = telling.flatMap(({ said_by }) => said_by.description ?? []).sort((a, b) => a - b);
  return { by, routes: telling.filter(({ said_by }) => said_by.description === by).map(({ route }) => route) };
}

/**
 * Returns what all routes say, as the title; undefined if they say nothing, or each something else. The title that readers know
 * stays, be it the host, however the routes change.
 */
function chooseRouteTitle(
  described: readonly DeclaredRoute[],
  baseUrl: string,
  recorded: RecordedWords | undefined,
): string | undefined {
  if (recorded?.title === new URL(baseUrl).host) return undefined;
  if (recorded && isTitle(recorded.title, baseUrl)) return recorded.title;
  const [opening, ...others] = listOpenings(described, '', baseUrl);
  return others.length === 0 ? opening : undefined;
}

/**
 * Returns a line of the routes' own words: the first sentence if all say the same, else what each says first. Undefined if they
 * say nothing.
 */
function describeRoutes(described: readonly DeclaredRoute[], title: string, baseUrl: string): string | undefined {
  const openings = listOpenings(described, title, baseUrl);
  if (openings.length > 1) return joinOpenings(openings);
  const sentences = described.map(({ description }) => cutText(getFirstSentence(description), TEXT_LIMITS.tagline));
  return sentences.find((text) => isTagline(text, title, baseUrl));
}

/** Lists what the descriptions of routes say first, each once, those of the shortest paths first. */
function listOpenings(described: readonly DeclaredRoute[], title: string, baseUrl: string): string[] {
  const openings = described
    .toSorted(compareDepth)
    .map(({ description }) => getOpening(description, title, baseUrl))
    .filter(Boolean);
  return [...Map.groupBy(openings, getLetters).values()].flatMap(([first]) => first ?? []);
}

/**
 * Returns a declaration of a feed with the words that it lacks and an earlier one of the same feed has: a feed that
 * drops words does not say that they are wrong. Terms and the list of routes stay as the declaration has them. A route
 * that the feed did not have before was heard at `at`, ISO 8601 UTC.
 */
export function keepWords(declaration: Declaration, earlier: Declaration, at?: string): Declaration {
  const known = new Map(earlier.routes.map((route) => [getRouteKey(route), route]));
  return {
    ...declaration,
    service_name: declaration.service_name ?? earlier.service_name,
    title: declaration.title || chooseFeedWords(earlier, () => false).title,
    category: declaration.category ?? earlier.category,
    mcp_endpoint: declaration.mcp_endpoint ?? earlier.mcp_endpoint,
    routes: declaration.routes.map((route) => {
      const before = known.get(getRouteKey(route));
      if (!before) return at === undefined ? route : { ...route, heard_at: at };
      const item = { ...before.item, ...route.item };
      return {
        ...route,
        ...(before.heard_at !== undefined && { heard_at: before.heard_at }),
        ...(Object.keys(item).length > 0 && { item }),
        description: route.description || before.description,
        mime_type: route.mime_type ?? before.mime_type,
        input_schema: route.input_schema ?? before.input_schema,
        output_schema: route.output_schema ?? before.output_schema,
        example: route.example ?? before.example,
      };
    }),
  };
}

/** Merges the routes by method and path, each fact from the first source that has it. */
function mergeRoutes(heard: readonly Heard[], isSeen: IsSeen): MergedRoute[] {
  const mentions = heard.flatMap(({ declaration: { routes, source }, authority, heard_at }, place) =>
    routes.map((route): Mention => ({ route, source, authority, heard_at, place })),
  );
  const stated = mentions.filter(({ source }) => source.kind === 'provider');
  const itemising = groupMentions(stated.length > 0 ? stated : mentions);
  const all = groupMentions(mentions);
  const isSaidAbove = heard.some(
    ({ authority, declaration }) =>
      authority !== 'hearsay' && (declaration.routes.length > 0 || declaration.price !== null),
  );
  const isAnySeen = [...itemising.values()].some(([mention]) => mention && isSeen(mention.route));
  const merged = [...itemising.keys()].sort().flatMap((key) => {
    const own = all.get(key) ?? [];
    const stated = itemising.get(key) ?? [];
    const [first] = own;
    const priced = findPriced(stated) ?? stated[0];
    if (!first || !priced) return [];
    const { item: _item, heard_at: heardLater, network_assumed: _assumed, other_price: _other, ...rest } = first.route;
    const { payment_identifier: _identifier, ...facts } = rest;
    const said_by: Route['said_by'] = { route: first.place };
    if (priced.route.terms.length > 0) said_by.price = priced.place;
    const find = <Value>(get: (route: DeclaredRoute) => Value, fact?: RouteFact) => {
      const found = own.find(({ route }) => get(route));
      if (found && fact) said_by[fact] = found.place;
      return found && get(found.route);
    };
    const route: DeclaredRoute = {
      ...facts,
      description: find(({ description }) => description, 'description') ?? '',
      mime_type: find(({ mime_type }) => findMediaType(mime_type)) ?? null,
      // A source that leaves fields out says less than one that has some.
      input_schema:
        find(({ input_schema }) => (takesNothing(input_schema) ? null : input_schema), 'input') ??
        find(({ input_schema }) => input_schema, 'input') ??
        null,
      output_schema: find(({ output_schema }) => output_schema, 'output') ?? null,
      example: find(({ example }) => example, 'example') ?? null,
      terms: priced.route.terms,
    };
    // Who retries by the word of a stranger pays twice.
    const retried = own.find(({ route, authority }) => route.payment_identifier && authority !== 'hearsay');
    if (retried?.route.payment_identifier) route.payment_identifier = retried.route.payment_identifier;
    const set_aside = first.authority === 'hearsay' && !isSeen(route) && (isAnySeen || isSaidAbove);
    return [
      {
        route,
        set_aside,
        said_by,
        authority: first.authority,
        source: priced.source,
        terms_by: priced.authority,
        heard_at: priced.heard_at,
        other_price: findOtherPrice(priced, own),
        since: heardLater ?? first.heard_at ?? '',
        sightings: listSightings(priced.route, stated),
      },
    ];
  });
  // Routes that are set aside come last, wherever routes are shown.
  return merged.toSorted((a, b) => Number(a.set_aside) - Number(b.set_aside));
}

/**
 * Finds the mention whose terms are believed: the first with terms. If it only assumes the network, the first of the same
 * authority that states one, because an assumption is nobody's word.
 */
function findPriced(mentions: readonly Mention[]): Mention | undefined {
  const priced = mentions.filter(({ route }) => route.terms.length > 0);
  const [first] = priced;
  if (!first?.route.network_assumed) return first;
  return priced.find(({ route, authority }) => authority === first.authority && !route.network_assumed) ?? first;
}

/** Kinds of sources that are documents of a provider. */
const DOCUMENTS: readonly SourceKind[] = ['provider', 'openapi', 'x402_file'];

/** Finds a document of the same authority as the believed one that asks other prices for the same ways to pay. */
function findOtherPrice(believed: Mention, mentions: readonly Mention[]): OtherPrice | undefined {
  const { route, source, authority } = believed;
  if (route.terms.length === 0 || authority === 'hearsay' || !DOCUMENTS.includes(source.kind)) return undefined;
  if (route.other_price) return route.other_price;
  const other = mentions.find(
    (one) =>
      one.authority === authority &&
      one.source.name !== source.name &&
      DOCUMENTS.includes(one.source.kind) &&
      isOtherPrice(route, one.route),
  );
  return other && { source: other.source.name, amount: getLowestAmount(other.route.terms) };
}

/**
 * Lists the times at which any source saw the networks that the believed terms of a route name: a date proves a claim,
 * whatever its source.
 */
function listSightings({ terms }: DeclaredRoute, stated: readonly Mention[]): Sighting[] {
  const believed = new Set(terms.map(({ network }) => network));
  return stated.flatMap(({ route, source: { observed_at } }) =>
    observed_at === null
      ? []
      : route.terms.flatMap(({ network: key }) => (believed.has(key) ? [{ key, at: observed_at }] : [])),
  );
}

/** The words of one source about a route. */
interface Mention extends Omit<Heard, 'declaration'> {
  readonly route: DeclaredRoute;
  readonly source: DeclarationSource;
  /** Its place among the sources of the listing. */
  readonly place: number;
}

/** Groups mentions of routes by method and path, in the order of the sources. */
function groupMentions(mentions: readonly Mention[]): Map<string, Mention[]> {
  return Map.groupBy(mentions, ({ route }) => getRouteKey(route));
}

function getRouteKey({ path, method }: DeclaredRoute): string {
  return `${path} ${method}`;
}
