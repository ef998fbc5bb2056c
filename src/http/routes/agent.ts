import { listChanges } from '../../catalogue/changes.ts';
import { findListing } from '../../catalogue/listings.ts';
import { findPaidRoute, findPayment } from '../../catalogue/payment-records.ts';
import { findCorrection } from '../../catalogue/receipts.ts';
import { ServiceError } from '../../errors.ts';
import { isLive } from '../../model/listing.ts';
import { KEPT_CHANGES, readChangeFeed } from '../../snapshot/change-feed.ts';
import type { Reading } from '../../snapshot/reading.ts';
import { selectListings } from '../../snapshot/select.ts';
import { buildSummary, findEntry, type Snapshot } from '../../snapshot/snapshot.ts';
import { type AgentChanges, type ChangesQuery, changesQuery, POLL_AFTER_SECONDS } from '../../views/agent-changes.ts';
import { buildAgentListing } from '../../views/agent-listing.ts';
import { buildAgentReceipt } from '../../views/agent-receipt.ts';
import { PATHS } from '../../views/links.ts';
import { getListSort, type ListQuery, listQuery } from '../../views/list-query.ts';
import { buildDocument, type Document, type SmallDocument } from '../document.ts';
import { type Get, NO_QUERY } from './route.ts';

/** Adds the catalogue as JSON: `/agent/list`, `/agent/listings/{slug}`, `/agent/changes` and `/agent/receipts/{id}`. */
export function addAgentRoutes(get: Get, reading: Reading): void {
  get(PATHS.agentList, listQuery, (query) => buildList(reading, query));
  get(PATHS.agentChanges, changesQuery, (query) => buildChanges(reading, query));
  get(PATHS.agentListing(':slug'), NO_QUERY, (_, { slug = '' }) => buildListing(reading, slug));
  get(PATHS.agentReceipt(':id'), NO_QUERY, (_, { id = '' }) => buildReceipt(reading, id.toLowerCase()));
}

/** Builds a page of listings that fit a query. */
function buildList(reading: Reading, query: ListQuery): Document {
  const snapshot = reading.getSnapshot();
  const { total, entries, answer, next_cursor } = selectListings(reading, snapshot, query);
  const { cursor: _cursor, ...given } = query;
  const listings = entries.map(({ itemJson }, at) =>
    answer === undefined ? itemJson : `${itemJson.slice(0, -1)},"match":${answer.matches[at]}}`,
  );
  const rest = {
    filters: { ...given, sort: getListSort(query) },
    total,
    ...(next_cursor !== undefined && { next_cursor }),
    ...(answer?.isWeak && { weak: true }),
    ...(answer && answer.unmatched.length > 0 && { unmatched: answer.unmatched }),
  };
  return buildSummed(reading, snapshot, `${JSON.stringify(rest).slice(1, -1)},"listings":[${listings.join(',')}]}`);
}

/**
 * Builds a page of what readers saw change after a revision, oldest first. `kept` of the latest changes are given one by
 * one, what lies further back compacted.
 */
export function buildChanges(reading: Reading, query: ChangesQuery, kept = KEPT_CHANGES): SmallDocument {
  const { catalogue, getSnapshot } = reading;
  const snapshot = getSnapshot();
  const view = query.history === 'all' ? 'whole' : { kept };
  const { since, changes, next, resume, compactedUpTo } = readChangeFeed(catalogue, snapshot, query, view);
  const page: Omit<AgentChanges, 'catalogue' | 'revision'> = {
    since,
    ...(compactedUpTo !== undefined && { compacted_up_to: compactedUpTo }),
    ...(next !== undefined && { next_cursor: next }),
    ...(resume !== undefined && { resume_cursor: resume, poll_after_seconds: POLL_AFTER_SECONDS }),
    changes: changes.map(({ seq: _seq, ...change }) => change),
    tombstones: [...new Set(changes.map(({ slug }) => slug))].flatMap((slug) => snapshot.tombstones.get(slug) ?? []),
  };
  return buildSummed(reading, snapshot, JSON.stringify(page).slice(1));
}

/** Puts the catalogue's summary before the rest of a document, which is JSON without its opening brace. */
function buildSummed({ site, now }: Reading, snapshot: Snapshot, rest: string): SmallDocument {
  const { revision } = snapshot;
  const summary = buildSummary(snapshot, site, now());
  const text = `{"catalogue":${JSON.stringify(summary)},"revision":${revision},${rest}`;
  return buildDocument(text, { generatedAt: summary.generated_at, revision });
}

/** Builds the document of one listing. Its ETag stays while other listings change. */
function buildListing({ catalogue, getSnapshot, site }: Reading, slug: string): Document {
  const snapshot = getSnapshot();
  const tombstone = snapshot.tombstones.get(slug);
  if (tombstone) {
    throw new ServiceError('gone', `The listing ${slug} was taken out on ${tombstone.delisted_at.slice(0, 10)}.`, {
      hint: 'The tombstone says who took it out, and why.',
      details: { tombstone, decisions: listChanges(catalogue, { slug }) },
    });
  }
  const listing = findEntry(snapshot, slug) && findListing(catalogue, { slug });
  if (!listing || !isLive(listing)) {
    throw new ServiceError('not_found', `There is no live listing "${slug}".`, {
      hint: `GET ${PATHS.agentList}?q=… searches the catalogue.`,
    });
  }
  const decisions = listChanges(catalogue, { slug });
  return buildRevised(buildAgentListing(listing, { decisions, revision: snapshot.revision, site }));
}

/** Builds the document of a settled payment, with everything that it takes to check it on the chain. */
function buildReceipt({ catalogue, site, getSnapshot }: Reading, id: string): Document {
  const { revision } = getSnapshot();
  const payment = findPayment(catalogue, id);
  const paid = payment && findPaidRoute(catalogue, payment.route_id);
  if (!payment?.settlement || !paid) {
    throw new ServiceError('not_found', 'There is no receipt with this id.', {
      hint: `The routes at ${PATHS.agentListing('{slug}')} name theirs as proof.receipt_id.`,
    });
  }
  const { slug: listing, method, path } = paid;
  const correction = findCorrection(catalogue, payment.id);
  const settled = { ...payment, settlement: payment.settlement };
  return buildRevised(buildAgentReceipt(settled, { listing, route: `${method} ${path}`, revision, site, correction }));
}

/** Builds a document that names the revision it is of, and says the same at others. */
function buildRevised(document: { readonly revision: number }): Document {
  const { revision } = document;
  return buildDocument(JSON.stringify(document), { incidental: `"revision":${revision}`, revision });
}
