import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { ChangedListing, Delta, DeltaSlice, KnownState, ReceiptRow } from '../catalogue/delta.ts';
import { parsePayment } from '../catalogue/read/payments.ts';
import { isFromStart } from '../model/caution.ts';
import type { JsonObject } from '../model/json.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { buildPublicPayment } from '../model/payment.ts';
import { countListing } from './counts.ts';
import { readRoutesPart } from './cursor.ts';
import type { Published } from './file.ts';
import { getHash } from './hash.ts';
import { buildListingRows, parseListing } from './listing-rows.ts';
import { joinDocument, type ListingRef, SAME_PRODUCT_MAX, writeDocument } from './listings.ts';
import { APPLICATION_ID, OWN_SCHEMA, SCHEMA, SCHEMA_VERSION } from './schema.ts';
import type { Rendering } from './state.ts';

/** Longest time for which changes are written before other work has its turn, in milliseconds. */
const TURN_MS = 4;

/** Returns the point up to which the catalogue was copied into a published file; revision 0 for an empty one. */
export function getCopiedState(published: Published): KnownState {
  const sql = `SELECT revision, (SELECT coalesce(max(seq), 0) FROM changes) AS seq,
    (SELECT coalesce(max(day), '') FROM listing_days) AS day FROM catalogue`;
  return published.prepare<KnownState>(sql).get() ?? { revision: 0, seq: 0, day: '' };
}

/** Makes the tables of a published catalogue in an empty file, at revision 0. */
export function createTables({ sqlite }: Published, { code_version, base_url }: Rendering): void {
  sqlite.exec(SCHEMA);
  sqlite.exec(OWN_SCHEMA);
  sqlite.exec("INSERT INTO catalogue VALUES ('', 0, '')");
  sqlite.prepare('INSERT INTO rendering VALUES (?, ?)').run(code_version, base_url);
  sqlite.pragma(`application_id = ${APPLICATION_ID}`);
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
}

/** Options of `applyDelta`. */
export interface ApplyOptions {
  /** Address of the service, which is put into what is rendered. */
  readonly base_url: string;
  /** Called with the number of listings written so far. */
  readonly onListing?: ((done: number) => void) | undefined;
  /** Stops the writing; the whole transaction is then undone. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes the changes that came after `known`, all in one transaction: readers see the earlier state until all of it is written.
 * Other work has its turn every few milliseconds. Throws if the file is at another point than `known`, and then leaves the file
 * as it was.
 */
export async function applyDelta(
  published: Published,
  known: KnownState,
  delta: Delta,
  { base_url, onListing, signal }: ApplyOptions,
): Promise<void> {
  const { sqlite } = published;
  let since = performance.now();
  const giveWay = async () => {
    if (performance.now() - since < TURN_MS) return;
    await nextTurn();
    signal?.throwIfAborted();
    since = performance.now();
  };
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    if (!isDeepStrictEqual(getCopiedState(published), known)) {
      throw new Error(`the changes do not follow what ${published.file} has`);
    }
    const writer = openWriter(published, base_url);
    let done = 0;
    for await (const { listings = [], ...rows } of delta.slices) {
      writer.writeRows(rows);
      await giveWay();
      for (const listing of listings) {
        writer.writeListing(listing);
        done += 1;
        onListing?.(done);
        await giveWay();
      }
    }
    for (const listing of writer.listRelated()) {
      writer.writeAnswer(listing);
      await giveWay();
    }
    const { identity, revision, revised_at } = delta.state;
    published
      .prepare('UPDATE catalogue SET identity = ?, revision = ?, revised_at = ?')
      .run(identity, revision, revised_at);
    sqlite.exec('COMMIT');
  } finally {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
  }
}

/** The tables whose rows are replaced when a listing changes. */
const OF_LISTING = [
  ...['documents', 'routes', 'offers', 'receipts'],
  ...['search_entries', 'items', 'rendered_routes', 'answers'],
];

/** Opens the writing of rows. A row replaces the one with the same key. */
function openWriter(published: Published, baseUrl: string) {
  const inserts = new Map<string, (row: object) => void>();
  const insert = (table: string, row: object) => {
    const write = inserts.get(table) ?? openInsert(published, table);
    inserts.set(table, write);
    write(row);
  };
  /** The slugs that `listNamed` gave for each product before its listings were written, by the product's number. */
  const namedBefore = new Map<number, readonly string[]>();
  const noteProduct = (product: unknown) => {
    if (typeof product === 'number' && !namedBefore.has(product))
      namedBefore.set(product, listNamed(published, product));
  };
  const insertAnswer = (listing: number, text: string) =>
    insert('answers', { listing, etag: getHash(text), body: gzipSync(text, GZIP) });
  return {
    writeRows({ revisions = [], listing_days = [], rounds = [], changes = [] }: Omit<DeltaSlice, 'listings'>): void {
      for (const row of revisions) insert('revisions', row);
      for (const row of listing_days) insert('listing_days', row);
      for (const row of rounds) insert('rounds', row);
      for (const row of changes) {
        const { seq, listing_id, kind } = row;
        const detail = JSON.parse(row.detail);
        insert('changes', { ...row, telling: isTelling(kind, detail) ? 1 : 0 });
        // The latest change of each subject of a listing.
        insert('latest_changes', { listing_id, subject: getSubject(kind, detail), seq });
      }
    },
    writeListing(row: ChangedListing): void {
      const { number } = row;
      const listing = parseListing(row.document);
      const rows = buildListingRows(row, listing, { baseUrl });
      noteProduct(published.prepare<{ product: number | null }>(PRODUCT_OF).get(number)?.product);
      noteProduct(rows.listing.product);
      countListing(published, number, -1);
      for (const table of OF_LISTING) published.prepare(`DELETE FROM ${table} WHERE listing = ?`).run(number);
      insert('listings', rows.listing);
      countListing(published, number, 1);
      if (rows.document) insert('documents', { listing: number, document: rows.document });
      for (const route of rows.routes) insert('routes', route);
      for (const offer of rows.offers) insert('offers', offer);
      if (rows.live && rows.document) {
        const { search, item, matchedRoutes } = rows.live;
        insert('search_entries', { listing: number, ...search });
        insert('items', { listing: number, item });
        for (const [position, route] of matchedRoutes.entries())
          insert('rendered_routes', { listing: number, position, route });
        const routes = rows.routes.map(({ document }) => String(document));
        const part = readRoutesPart({}, row.slug);
        const found = { ...row, head: rows.document, routesTotal: routes.length };
        const shown = { ...found, routes: routes.slice(part.from, part.to), part };
        insertAnswer(number, joinDocument(published, row.slug, shown));
      }
      for (const receipt of buildReceiptRows(row.receipts, listing)) insert('receipts', receipt);
    },
    /** Lists the listings whose documents must be written again because they now name other listings of the same product. */
    listRelated(): ListingRef[] {
      return [...namedBefore].flatMap(([product, before]) => {
        const named = listNamed(published, product);
        const isNewAlone = before.length === 0 && named.length === 1;
        if (isNewAlone || isDeepStrictEqual(named, before)) return [];
        return published.prepare<ListingRef>(OF_PRODUCT).all(product);
      });
    },
    /** Writes the document of a live listing again. */
    writeAnswer({ number, slug }: ListingRef): void {
      const text = writeDocument(published, slug, { part: readRoutesPart({}, slug) });
      if (text !== undefined) insertAnswer(number, text);
    },
  };
}

/** Compression of the documents of listings. */
const GZIP = { level: 6 };

const PRODUCT_OF = 'SELECT product FROM listings WHERE number = ?';
const OF_PRODUCT = 'SELECT number, slug FROM listings WHERE product = ?';

/**
 * Lists the slugs of a product's listings that its other listings name: one more than a listing names, since it does not name
 * itself.
 */
function listNamed(published: Published, product: number): readonly string[] {
  const sql = `${OF_PRODUCT} ORDER BY slug LIMIT ${SAME_PRODUCT_MAX + 1}`;
  return published
    .prepare<ListingRef>(sql)
    .all(product)
    .map(({ slug }) => slug);
}

/** Prepares the writing of rows. A column that a row does not name is null. */
function openInsert({ sqlite }: Published, table: string): (row: object) => void {
  const columns = sqlite.pragma(`table_info(${table})`) as { name: string }[];
  const names = columns.map(({ name }) => name);
  const values = names.map((name) => `@${name}`);
  const statement = sqlite.prepare(
    `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${values.join(', ')})`,
  );
  const empty = Object.fromEntries(names.map((name) => [name, null]));
  return (row) => void statement.run({ ...empty, ...row });
}

function buildReceiptRows(receipts: readonly ReceiptRow[], listing: Listing | undefined): object[] {
  const live = listing && isLive(listing) ? listing : undefined;
  const named = live && listReceiptIds(live);
  return receipts.flatMap(({ id, listing: number, method, path, revision, document, because, corrected_at }) => {
    const payment = buildPublicPayment(parsePayment(document), path, live);
    if (!payment) return [];
    const { network, amount, delivered, settlement } = payment;
    return {
      id,
      listing: number,
      revision,
      method,
      path,
      network,
      amount,
      settled_at: settlement.settled_at,
      delivered: delivered === null ? null : Number(delivered),
      current: named?.has(id) ? 1 : 0,
      document: JSON.stringify(payment),
      correction: because === null ? null : JSON.stringify({ because, at: corrected_at }),
    };
  });
}

/**
 * Lists the receipts that a listing names: those that prove its routes, those that show that a paid call failed, and corrected
 * ones.
 */
function listReceiptIds({ routes, corrections }: Listing): Set<string> {
  const named = routes.flatMap(({ proofs, undelivered }) => [
    ...proofs.map(({ receipt_id }) => receipt_id),
    ...(undelivered ? [undelivered.receipt_id] : []),
  ]);
  return new Set([...named, ...corrections.map(({ receipt_id }) => receipt_id)]);
}

/** The kinds of changes of the state of a listing. */
const STATES = ['listed', 'held', 'delisted', 'relisted'];

/** The kinds of changes that always say more than that something was looked at again or worded otherwise. */
const TELLING = [...STATES, 'verified', 'unverified', 'cautioned', 'corrected'];

/**
 * Returns the subject of a change: the state of its listing, the verification of one route, one caution, one corrected
 * receipt, or else its kind. A later change of the same subject supersedes it.
 */
function getSubject(kind: string, detail: JsonObject): string {
  if (STATES.includes(kind)) return 'state';
  if (kind === 'verified' || kind === 'unverified') return `verification of ${detail.route ?? ''}`;
  if (kind === 'cautioned' || kind === 'cleared') return `caution ${detail.code}`;
  return kind === 'corrected' ? `correction of ${detail.receipt_id}` : kind;
}

/** Returns whether something changed besides times, counts and wording. */
function isTelling(kind: string, detail: JsonObject): boolean {
  if (kind === 'cleared') return !isFromStart(detail);
  if (kind === 'priced') return isThere(isThere(detail.from) ? (detail.from as JsonObject).min : undefined);
  if (kind === 'routed') return detail.terms !== undefined || detail.undelivered !== undefined;
  return TELLING.includes(kind);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
