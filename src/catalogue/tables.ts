import type { Generated } from 'kysely';

/** Column types of each table, as Kysely checks queries against them. Booleans are 0/1, times ISO 8601 UTC, amounts atomic USDC. */

/** One row: who this catalogue is and how often what readers see has changed. */
export interface CatalogueTable {
  id: 1;
  identity: string;
  revision: number;
  revised_at: string;
}

/** One row a listing, live or not: its identity, and the document that readers see, derived from the evidence rows. */
export interface ListingsTable {
  /** Row number, which the search index shares. */
  number: Generated<number>;
  id: string;
  slug: string;
  base_url: string;
  state: 'live' | 'held' | 'delisted';
  verified: 0 | 1;
  revision: number;
  /** JSON of model `Listing`. */
  document: string;
}

/** What each source says of a listing, whole and as it came. */
export interface DeclarationsTable {
  listing_id: string;
  kind: string;
  source: string;
  /** Set when a complete pull of the source no longer held the listing. */
  withdrawn_at: string | null;
  /** JSON of model `Declaration`. */
  document: string;
}

/** Who took a listing out, until it is put back. */
export interface DelistingsTable {
  listing_id: string;
  by: 'operator' | 'provider' | 'rule';
  reason: string;
  at: string;
}

export interface RoutesTable {
  id: string;
  listing_id: string;
  method: string;
  path: string;
}

/** Every offer ever declared for or observed on a route. */
export interface TermsTable {
  id: Generated<number>;
  route_id: string;
  evidence: 'declared' | 'observed';
  terms_key: string;
  network: string;
  scheme: string;
  asset: string;
  amount: number;
  pay_to: string | null;
  max_timeout_seconds: number | null;
  x402_version: number | null;
  source: string;
  first_seen_at: string | null;
  last_seen_at: string | null;
  current: 0 | 1;
}

export interface ReceiptsTable {
  id: string;
  route_id: string;
  network: string;
  asset: string;
  amount: number;
  payer: string;
  pay_to: string;
  transaction: string;
  settled_at: string;
  settled: 0 | 1;
  delivered: 0 | 1;
  conforming: 'yes' | 'no' | 'undeclared';
}

/** The log of every reader-visible decision; `seq` orders it, `revision` groups what became visible together. */
export interface ChangesTable {
  seq: Generated<number>;
  revision: number;
  at: string;
  listing_id: string;
  kind: string;
  reason: string;
  detail: string;
}

/** One harvest of one feed, resumable at `next_offset` until it is complete. */
export interface PullsTable {
  id: Generated<number>;
  feed: string;
  started_at: string;
  updated_at: string;
  completed_at: string | null;
  next_offset: number;
  pages: number;
  /** How many items its pages brought, those left out that an earlier page had brought already. */
  items: number;
  /** Set with the last page: whether the feed was seen whole. */
  ended: 'complete' | 'incomplete' | null;
}

/** Raw feed items, the refused ones too, each as last seen. */
export interface FeedItemsTable {
  feed: string;
  item_key: string;
  item_hash: string;
  pull_id: number;
  raw: string;
}

/** What was said of items of a source at its last import. */
export interface FindingsTable {
  source: string;
  item: string;
  code: string;
  severity: 'refused' | 'noted';
  message: string;
  found_at: string;
}

export interface Tables {
  catalogue: CatalogueTable;
  listings: ListingsTable;
  declarations: DeclarationsTable;
  delistings: DelistingsTable;
  routes: RoutesTable;
  terms: TermsTable;
  receipts: ReceiptsTable;
  changes: ChangesTable;
  pulls: PullsTable;
  feed_items: FeedItemsTable;
  findings: FindingsTable;
}
