import { createHash } from 'node:crypto';
import { ServiceError } from '../../errors.ts';
import { KEPT_CHANGES, readChangeFeed } from '../../published/change-feed.ts';
import { listChanges } from '../../published/changes.ts';
import { findComparedRoutes } from '../../published/compared-routes.ts';
import { readRoutesPart } from '../../published/cursor.ts';
import { listSameProduct } from '../../published/folding.ts';
import { type Detail, findDetail, findTombstone, hasRouteAt, readSelected } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { findReceipt } from '../../published/receipts.ts';
import { selectListings } from '../../published/select.ts';
import { buildSummary, type Snapshot } from '../../published/snapshot.ts';
import { type AgentChanges, type ChangesQuery, changesQuery, POLL_AFTER_SECONDS } from '../../views/changes.ts';
import { buildComparedRoute, compareQuery } from '../../views/compare.ts';
import { PATHS } from '../../views/links.ts';
import {
  buildAnswerNotes,
  type ListQuery,
  listQuery,
  type RoutesQuery,
  routesQuery,
} from '../../views/listing/query.ts';
import { buildAgentReceipt } from '../../views/receipt.ts';
import { buildDocument, type Document, type SmallDocument } from '../document.ts';
import { type Get, NO_QUERY } from './route.ts';

/** The document of a listing of no more routes than this is read faster than it is cached. */
const FEW_ROUTES = 30;

/** Adds the catalogue as JSON: `/agent/list`, `/agent/listings/{slug}`, `/agent/changes`, `/agent/compare` and `/agent/receipts/{id}`. */
export function addAgentRoutes(get: Get, reading: Reading): void {
  get(PATHS.agentList, listQuery, (query, _, snapshot) => buildList(reading, query, snapshot));
  get(PATHS.agentChanges, changesQuery, (query, _, snapshot) => buildChanges(reading, query, snapshot));
  get(PATHS.agentCompare, compareQuery, ({ routes }, _, snapshot) => buildComparison(reading, routes, snapshot));
  const buildDetail: Parameters<typeof get<RoutesQuery>>[2] = (query, { slug = '' }, { columns }) => {
    const found = findDetail(reading.published, slug, readRoutesPart(query, slug));
    return found ? buildListing(found, listSameProduct(columns, slug)) : refuseListing(reading, slug);
  };
  get(PATHS.agentListing(':slug'), routesQuery, buildDetail, {
    isCached: ({ slug = '' }) => hasRouteAt(reading.published, slug, FEW_ROUTES),
  });
  get(PATHS.agentReceipt(':id'), NO_QUERY, (_, { id = '' }, snapshot) =>
    buildReceipt(reading, id.toLowerCase(), snapshot),
  );
}

/** Builds a page of listings that fit a query. */
function buildList(reading: Reading, query: ListQuery, snapshot: Snapshot): Document {
  const selected = selectListings(reading.published, snapshot, query);
  const { total, next_cursor } = selected;
  const { cursor: _cursor, facets: _facets, ...filters } = selected.query;
  const items = readSelected(reading.published, selected);
  const rest = {
    filters,
    total,
    ...(next_cursor !== undefined && { next_cursor }),
    ...(selected.facets && { facets: selected.facets }),
    ...buildAnswerNotes(selected),
  };
  return buildSummed(reading, snapshot, `${JSON.stringify(rest).slice(1, -1)},"listings":[${items.join(',')}]}`);
}

/**
 * Builds a page of what readers saw change after a revision, oldest first. `kept` of the latest changes are given one by
 * one, what lies further back compacted.
 */
export function buildChanges(
  reading: Reading,
  query: ChangesQuery,
  snapshot: Snapshot,
  kept = KEPT_CHANGES,
): SmallDocument {
  const { published } = reading;
  const view = query.history === 'all' ? 'whole' : { kept };
  const { since, changes, next, resume, compactedUpTo } = readChangeFeed(published, snapshot, query, view);
  const page: Omit<AgentChanges, 'catalogue' | 'revision'> = {
    since,
    ...(compactedUpTo !== undefined && { compacted_up_to: compactedUpTo }),
    ...(next !== undefined && { next_cursor: next }),
    ...(resume !== undefined && { resume_cursor: resume, poll_after_seconds: POLL_AFTER_SECONDS }),
    changes: changes.map(({ seq: _seq, ...change }) => change),
    tombstones: [...new Set(changes.map(({ slug }) => slug))].flatMap((slug) => findTombstone(published, slug) ?? []),
  };
  return buildSummed(reading, snapshot, JSON.stringify(page).slice(1));
}

/** Builds the comparison of routes by their names. */
function buildComparison(reading: Reading, names: readonly string[], snapshot: Snapshot): SmallDocument {
  const { site, published } = reading;
  const asOf = reading.now().toISOString();
  const routes = findComparedRoutes(published, names).map((found) => buildComparedRoute(found, { site, asOf }));
  return buildSummed(reading, snapshot, JSON.stringify({ routes }).slice(1));
}

/** Puts the catalogue's summary before the rest of a document, which is JSON without its opening brace. */
function buildSummed({ site, now }: Reading, snapshot: Snapshot, rest: string): SmallDocument {
  const { revision } = snapshot;
  const summary = buildSummary(snapshot, site, now());
  const text = `{"catalogue":${JSON.stringify(summary)},"revision":${revision},${rest}`;
  return buildDocument(text, { generatedAt: summary.generated_at, revision });
}

/** Builds the document of one listing. Its ETag stays while other listings change, but for `others`, which are the same product. */
function buildListing({ revision, detail, etag }: Detail, others: readonly string[]): Document {
  if (others.length === 0) return buildDocument(`{"revision":${revision},${detail.slice(1)}`, { etag, revision });
  const named = detail.replace(/^\{"listing":\{/, `{"listing":{"same_product":${JSON.stringify(others)},`);
  const digest = createHash('sha256').update(others.join(' ')).digest('base64url').slice(0, 8);
  return buildDocument(`{"revision":${revision},${named.slice(1)}`, { etag: `${etag}-${digest}`, revision });
}

/** Throws why there is no document of a listing: it was removed, or never listed. */
function refuseListing({ published }: Reading, slug: string): never {
  const tombstone = findTombstone(published, slug);
  if (tombstone) {
    throw new ServiceError('gone', `The listing ${slug} was removed on ${tombstone.delisted_at.slice(0, 10)}.`, {
      hint: 'The tombstone says who removed it, and why.',
      details: { tombstone, decisions: listChanges(published, { slug }) },
    });
  }
  throw new ServiceError('not_found', `There is no live listing "${slug}".`, {
    hint: `GET ${PATHS.agentList}?q=… searches the catalogue.`,
  });
}

/** Builds the document of a settled payment, with everything that it takes to check it on the chain. */
function buildReceipt({ published, site }: Reading, id: string, { revision }: Snapshot): Document {
  const receipt = findReceipt(published, id);
  if (!receipt) {
    throw new ServiceError('not_found', 'There is no receipt with this id.', {
      hint: `The routes at ${PATHS.agentListing('{slug}')} name theirs as proof.receipt_id.`,
    });
  }
  const { payment, slug: listing, method, path, correction } = receipt;
  const route = `${method} ${path}`;
  const text = JSON.stringify(buildAgentReceipt(payment, { listing, route, revision, site, correction }));
  return buildDocument(text, { incidental: `"revision":${revision}`, revision });
}
