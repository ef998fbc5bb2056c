import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import {
  hasReceipts,
  listChangesBehind,
  listDaysFrom,
  listEntriesBehind,
  listLatestBehind,
  listListingsBehind,
  listReceiptsBehind,
  listReceiptsOf,
  listRevisionsSince,
  listRoundsSince,
  listWordsBehind,
  type NewsReceipt,
} from '../catalogue/news.ts';
import { parsePayment } from '../catalogue/payment-records.ts';
import { findRevisionTime as findCatalogueTime, getCatalogueState } from '../catalogue/write.ts';
import { isLive, type Listing, type LiveListing } from '../model/listing.ts';
import { buildPublicPayment } from '../model/payment.ts';
import { listChanges } from './changes.ts';
import { isCurrentSchema, type Published } from './file.ts';
import { buildListingRows, parseListing, renderListing } from './listing-rows.ts';
import { APPLICATION_ID, OWN_SCHEMA, SCHEMA, SCHEMA_VERSION } from './schema.ts';
import { getPublishedState, type PublishedState } from './state.ts';

/** How long following takes before it lets requests be answered, in milliseconds. */
const TURN_MS = 4;

/**
 * Brings a published catalogue up to date with the catalogue, in one transaction: readers see the state before until all of
 * it is there, and if this is killed, the file is as it was. What the file holds of another catalogue, or of this one
 * before it was restored from a backup, is replaced as a whole. With another `codeVersion` than the one that
 * rendered the listings, all are rendered again. Says whether anything was written. Pauses
 * every few milliseconds, so that requests are answered.
 */
export async function followCatalogue(
  catalogue: Catalogue,
  published: Published,
  codeVersion?: string,
): Promise<boolean> {
  const steps = follow(catalogue, published, codeVersion);
  let since = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - since < TURN_MS) continue;
    await nextTurn();
    since = performance.now();
  }
}

/** Does the same without a pause. */
export function followAtOnce(catalogue: Catalogue, published: Published, codeVersion?: string): boolean {
  const steps = follow(catalogue, published, codeVersion);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Says whether a file is of this catalogue's latest revision, and rendered by this code. */
export function isUpToDate(catalogue: Catalogue, published: Published, codeVersion?: string): boolean {
  const from = findStart(catalogue, published, codeVersion);
  return from !== undefined && !from.rendersAll && from.revision === getCatalogueState(catalogue).revision;
}

/**
 * Says whether a file can be served from while it catches up: it is of this catalogue. What other code rendered is a little
 * out of date, which is better than nothing.
 */
export function canBeServed(catalogue: Catalogue, published: Published): boolean {
  return findStart(catalogue, published, undefined) !== undefined;
}

/** Where following begins. */
interface Start extends PublishedState {
  readonly rendersAll: boolean;
}

/** Finds where following begins; undefined if the file has to be made from the beginning. */
function findStart(catalogue: Catalogue, published: Published, codeVersion: string | undefined): Start | undefined {
  if (!isCurrentSchema(published)) return undefined;
  const state = getPublishedState(published);
  if (state.identity !== getCatalogueState(catalogue).identity) return undefined;
  // A catalogue that was restored from a backup went back, and on from there: its revision of this number is another.
  if (state.revision > 0 && findCatalogueTime(catalogue, state.revision) !== state.revised_at) return undefined;
  const rendered = published.prepare<{ code_version: string }>('SELECT code_version FROM rendering').get();
  return { ...state, rendersAll: codeVersion !== undefined && rendered?.code_version !== codeVersion };
}

/** Copies what is missing. At every `yield` it may pause. */
function* follow(catalogue: Catalogue, published: Published, codeVersion?: string): Generator<void, boolean> {
  if (isUpToDate(catalogue, published, codeVersion)) return false;
  catalogue.sqlite.exec('BEGIN');
  try {
    const to = getCatalogueState(catalogue);
    published.sqlite.exec('BEGIN IMMEDIATE');
    // Another process may have followed while this one waited for the lock.
    const from = findStart(catalogue, published, codeVersion) ?? createTables(published);
    if (from.revision >= to.revision && from.identity === to.identity && !from.rendersAll) return false;
    yield* copyRows(catalogue, published, from.revision);
    const listings = openListingWriter(catalogue, published);
    if (from.rendersAll) yield* renderAll(published, codeVersion, from.revision === 0 ? [] : listings.renderStored());
    yield* followListings(catalogue, from.revision, listings);
    yield* followReceipts(catalogue, published, from.revision);
    published
      .prepare('UPDATE catalogue SET identity = ?, revision = ?, revised_at = ?')
      .run(to.identity, to.revision, to.revised_at);
    published.sqlite.exec('COMMIT');
    return true;
  } finally {
    if (published.sqlite.inTransaction) published.sqlite.exec('ROLLBACK');
    catalogue.sqlite.exec('ROLLBACK');
  }
}

/** Puts empty tables in the place of all there are. */
function createTables({ sqlite }: Published): Start {
  const tables = sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  for (const name of tables) sqlite.exec(`DROP TABLE "${name}"`);
  sqlite.exec(SCHEMA);
  sqlite.exec(OWN_SCHEMA);
  sqlite.exec("INSERT INTO catalogue VALUES ('', 0, '')");
  sqlite.pragma(`application_id = ${APPLICATION_ID}`);
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
  return { identity: '', revision: 0, revised_at: '', rendersAll: true };
}

/** Copies the rows that are the same in both files. */
function* copyRows(catalogue: Catalogue, published: Published, revision: number): Generator<void> {
  const getLast = (sql: string) => published.prepare<{ last: number | null }>(sql).get()?.last ?? 0;
  yield* copy(
    published,
    'revisions',
    revision,
    (last) => listRevisionsSince(catalogue, last),
    (row) => row.revision,
  );
  const change = getLast('SELECT max(seq) AS last FROM changes');
  yield* copy(
    published,
    'changes',
    change,
    (last) => listChangesBehind(catalogue, last),
    ({ seq }) => seq,
  );
  yield* copy(
    published,
    'latest_changes',
    change,
    (last) => listLatestBehind(catalogue, last),
    ({ seq }) => seq,
  );
  const word = getLast('SELECT max(number) AS last FROM search_words');
  yield* copy(
    published,
    'search_words',
    word,
    (last) => listWordsBehind(catalogue, last),
    (row) => row.number,
  );
  const entry = getLast('SELECT max(seq) AS last FROM search_entries');
  yield* copy(
    published,
    'search_entries',
    entry,
    (last) => listEntriesBehind(catalogue, last),
    ({ seq }) => seq,
  );
  const day = published.prepare<{ last: string | null }>('SELECT max(day) AS last FROM listing_days').get()?.last ?? '';
  const replace = openInsert(published, 'listing_days');
  for (const row of listDaysFrom(catalogue, day)) replace(row);
  const replaceRound = openInsert(published, 'rounds');
  for (const row of listRoundsSince(catalogue, revision)) replaceRound(row);
}

/** Copies rows part by part; each part begins after the last row of the one before. */
function* copy<Row extends object>(
  published: Published,
  table: string,
  from: number,
  list: (last: number) => Row[],
  getPlace: (row: Row) => number,
): Generator<void> {
  const insert = openInsert(published, table);
  let last = from;
  for (;;) {
    const rows = list(last);
    for (const row of rows) {
      insert(row);
      last = getPlace(row);
    }
    yield;
    if (rows.length === 0) return;
  }
}

/** Opens the writing of rows of a table, by their columns, each in the place of that of the same key. */
function openInsert(published: Published, table: string): (row: object) => void {
  const columns = published.sqlite.pragma(`table_info(${table})`) as { name: string }[];
  const names = columns.map(({ name }) => name);
  const sql = `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`;
  const statement = published.sqlite.prepare(sql);
  return (row) => void statement.run(row);
}

/** Writes listings into the file. */
interface ListingWriter {
  write(row: ReturnType<typeof listListingsBehind>[number]): void;
  /** Renders the live listings that the file holds, one by one. */
  renderStored(): Generator<void>;
}

function openListingWriter(catalogue: Catalogue, published: Published): ListingWriter {
  const insert = openInsert(published, 'listings');
  const insertRoute = openInsert(published, 'routes');
  const insertOffer = openInsert(published, 'offers');
  const insertRendered = openInsert(published, 'rendered');
  const insertDocument = openInsert(published, 'documents');
  const replaceReceipt = openReceiptWriter(published);
  const paysAtAll = hasReceipts(catalogue);
  const removals = ['documents', 'routes', 'offers', 'rendered', 'receipts'].map((table) =>
    published.sqlite.prepare(`DELETE FROM ${table} WHERE listing = ?`),
  );
  const render = (number: number, listing: LiveListing) => {
    const decisions = listChanges(published, { slug: listing.slug });
    insertRendered({ listing: number, ...renderListing(listing, decisions) });
  };
  return {
    write(row) {
      const listing = parseListing(row.document);
      const rows = buildListingRows(row, listing);
      for (const removal of removals) removal.run(row.number);
      insert(rows.listing);
      if (rows.document !== null) insertDocument({ listing: row.number, document: rows.document });
      for (const route of rows.routes) insertRoute(route);
      for (const offer of rows.offers) insertOffer(offer);
      if (listing && isLive(listing)) render(row.number, listing);
      if (paysAtAll) for (const receipt of listReceiptsOf(catalogue, row.id)) replaceReceipt(receipt, listing);
    },
    *renderStored() {
      const next = published.sqlite.prepare<[number], { listing: number; document: string }>(
        'SELECT listing, document FROM documents WHERE listing > ? ORDER BY listing LIMIT 1',
      );
      for (let row = next.get(0); row; row = next.get(row.listing)) {
        const listing: Listing = JSON.parse(row.document);
        if (isLive(listing)) render(row.listing, listing);
        yield;
      }
    },
  };
}

function* followListings(catalogue: Catalogue, revision: number, { write }: ListingWriter): Generator<void> {
  for (let last = 0; ; ) {
    const rows = listListingsBehind(catalogue, revision, last);
    for (const row of rows) {
      write(row);
      last = row.number;
      yield;
    }
    if (rows.length === 0) return;
  }
}

/** Renders every listing again. */
function* renderAll(published: Published, codeVersion: string | undefined, rendering: Iterable<void>): Generator<void> {
  published.sqlite.exec('DELETE FROM rendered; DELETE FROM rendering');
  published.prepare('INSERT INTO rendering VALUES (?)').run(codeVersion ?? '');
  yield* rendering;
}

/** Writes the receipts whose own record changed; those of listings that changed are written with these. */
function* followReceipts(catalogue: Catalogue, published: Published, revision: number): Generator<void> {
  const write = openReceiptWriter(published);
  const find = published.sqlite.prepare<[number], string>('SELECT document FROM documents WHERE listing = ?').pluck();
  for (let last = ''; ; ) {
    const receipts = listReceiptsBehind(catalogue, revision, last);
    for (const receipt of receipts) {
      const document = find.get(receipt.listing);
      write(receipt, document === undefined ? undefined : JSON.parse(document));
      last = receipt.id;
      yield;
    }
    if (receipts.length === 0) return;
  }
}

function openReceiptWriter(published: Published): (receipt: NewsReceipt, listing: Listing | undefined) => void {
  const insert = openInsert(published, 'receipts');
  return ({ id, listing: number, method, path, revision, document, because, corrected_at }, listing) => {
    const payment = buildPublicPayment(parsePayment(document));
    if (!payment) return;
    const { network, amount, delivered, settlement } = payment;
    insert({
      ...{ id, listing: number, revision, method, path, network, amount },
      settled_at: settlement.settled_at,
      delivered: delivered === null ? null : Number(delivered),
      current: listing && isLive(listing) && listReceiptIds(listing).has(id) ? 1 : 0,
      document: JSON.stringify(payment),
      correction: because === null ? null : JSON.stringify({ because, at: corrected_at }),
    });
  };
}

/** Lists the receipts that a listing names: what proves its routes, what speaks against them, what was corrected. */
function listReceiptIds({ routes, corrections }: Listing): Set<string> {
  const named = routes.flatMap(({ proofs, undelivered }) => [
    ...proofs.map(({ receipt_id }) => receipt_id),
    ...(undelivered ? [undelivered.receipt_id] : []),
  ]);
  return new Set([...named, ...corrections.map(({ receipt_id }) => receipt_id)]);
}
