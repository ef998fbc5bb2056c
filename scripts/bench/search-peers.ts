import Sqlite from 'better-sqlite3';
import MiniSearch from 'minisearch';
import { formatRoute } from '../../src/model/route.ts';
import { findResources } from '../../src/published/found-resources.ts';
import { findListing, findRoute, getItem, iterateRefs } from '../../src/published/listings.ts';
import type { Reading } from '../../src/published/reading.ts';
import { selectListings } from '../../src/published/select.ts';
import { STOP_WORDS } from '../../src/search/stop-words.ts';
import { getStem, listWords } from '../../src/search/words.ts';
import { listQuery } from '../../src/views/listing/query.ts';

/** The results of a search, best first, ten at most. Hosts stand for listings; a route is `host GET /path`. */
export interface Found {
  readonly hosts: readonly string[];
  readonly routes: readonly string[];
  /** The route that is shown of each listing. */
  readonly shown: readonly string[];
  /** The match of the first listing, and whether the answer as a whole is marked as weak. */
  readonly match?: number;
  readonly isWeak?: boolean;
}

export type Search = (q: string) => Found;

const SHOWN = 10;

/** Opens the searches that are compared: the service's own, and two libraries on the same texts. */
export function openSearches(reading: Reading): Record<'ours' | 'FTS5' | 'MiniSearch', Search> {
  const documents = listDocuments(reading);
  return { ours: openOurs(reading), FTS5: openFts(documents), MiniSearch: openMiniSearch(documents) };
}

/** Opens the service's own search. */
export function openOurs({ published, getSnapshot }: Reading): Search {
  return (q) => {
    const snapshot = getSnapshot();
    const { listings, answer } = selectListings(published, snapshot, listQuery.parse({ q, limit: SHOWN }));
    const { resources } = findResources(published, snapshot, { query: q, limit: SHOWN });
    const hosts = listings.map((listing) => new URL(getItem(published, listing).base_url).host);
    return {
      hosts,
      routes: resources.map(({ listing, route }) => `${new URL(listing.base_url).host} ${formatRoute(route)}`),
      shown: listings.map((listing, at) => {
        const found = findRoute(published, listing, answer?.matches[at]?.position ?? -1);
        return `${hosts[at]}${found ? ` ${formatRoute(found.route)}` : ''}`;
      }),
      match: answer?.matches[0]?.match ?? 0,
      isWeak: answer?.isWeak ?? true,
    };
  };
}

/** A listing or a route as the libraries index it. */
interface TextDocument {
  readonly kind: 'listing' | 'route';
  /** Host of the listing, or `host GET /path` of the route. */
  readonly key: string;
  readonly name: string;
  readonly own: string;
  readonly listing: string;
}

function listDocuments({ published }: Reading): TextDocument[] {
  return [...iterateRefs(published)].flatMap(({ slug }) => {
    const live = findListing(published, slug);
    if (!live) throw new Error(`${slug} is not live`);
    const { title: name, tagline, description, provider_name, category, base_url, routes } = live;
    const { host } = new URL(base_url);
    const listing = [tagline, description, provider_name, category].join(' ');
    const ofRoutes = routes.map((route) => ({
      ...{ kind: 'route' as const, key: `${host} ${formatRoute(route)}`, name, listing },
      own: [route.path, route.description, ...listTexts(route.input_schema), ...listTexts(route.output_schema)].join(
        ' ',
      ),
    }));
    const own = ofRoutes.map((route) => route.own).join(' ');
    return [{ kind: 'listing' as const, key: host, name, listing, own }, ...ofRoutes];
  });
}

/** Lists the names of a schema's fields, and what it says of them. */
function listTexts(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    if (name === 'description') return [String(inner)];
    return name === 'properties'
      ? Object.entries(inner).flatMap(([key, value]) => [key, ...listTexts(value)])
      : listTexts(inner);
  });
}

function listTelling(text: string): string[] {
  return listWords(text).filter((word) => !STOP_WORDS.has(word));
}

/** Routes of a library that are looked at to find ten listings. */
const ROUTES_SEEN = 50;

/** Shortens what a library found; of each listing it shows the first of its routes. */
function buildFound(hosts: readonly string[], routes: readonly string[]): Found {
  const shown = routes.filter((route, at) => {
    const isSame = (other: string) => other.split(' ', 1)[0] === route.split(' ', 1)[0];
    return routes.findIndex(isSame) === at;
  });
  return { hosts: hosts.slice(0, SHOWN), routes: routes.slice(0, SHOWN), shown: shown.slice(0, SHOWN) };
}

function openFts(documents: readonly TextDocument[]): Search {
  const sqlite = new Sqlite(':memory:');
  const open = (kind: TextDocument['kind']) => {
    sqlite.exec(`CREATE VIRTUAL TABLE ${kind}s USING fts5 (key UNINDEXED, name, own, listing, tokenize = 'porter')`);
    const insert = sqlite.prepare(`INSERT INTO ${kind}s VALUES (@key, @name, @own, @listing)`);
    // Identifiers are split into words, as for the others.
    const apart = (text: string) => listWords(text).join(' ');
    for (const { key, name, own, listing } of documents.filter((one) => one.kind === kind)) {
      insert.run({ key, name: apart(name), own: apart(own), listing: apart(listing) });
    }
    const weights = kind === 'listing' ? '0, 4, 1, 2' : '0, 3, 2, 1';
    return sqlite
      .prepare<[string], string>(
        `SELECT key FROM ${kind}s WHERE ${kind}s MATCH ? ORDER BY bm25(${kind}s, ${weights}) LIMIT ${ROUTES_SEEN}`,
      )
      .pluck();
  };
  const [listings, routes] = [open('listing'), open('route')];
  return (q) => {
    const words = [...new Set(listTelling(q))].map((word) => `"${word}"`).join(' OR ');
    return words === '' ? buildFound([], []) : buildFound(listings.all(words), routes.all(words));
  };
}

function openMiniSearch(documents: readonly TextDocument[]): Search {
  const open = (kind: TextDocument['kind']) => {
    const index = new MiniSearch<TextDocument & { id: number }>({
      fields: ['name', 'own', 'listing'],
      storeFields: ['key'],
      tokenize: listTelling,
      processTerm: getStem,
    });
    index.addAll(documents.filter((one) => one.kind === kind).map((one, id) => ({ ...one, id })));
    const boost = kind === 'listing' ? { name: 4, listing: 2 } : { name: 3, own: 2 };
    return (q: string) =>
      index
        .search(q, { boost })
        .slice(0, ROUTES_SEEN)
        .map(({ key }) => key as string);
  };
  const [listings, routes] = [open('listing'), open('route')];
  return (q) => buildFound(listings(q), routes(q));
}
