import type { Generated, GeneratedAlways } from 'kysely';
import type { PaymentState } from '../model/payment.ts';
import type { ProbeOutcome } from '../model/probe.ts';

/** Column types of each table, as Kysely checks queries against them. Booleans are 0/1, times ISO 8601 UTC, amounts atomic USDC. */

/** One row: who this catalogue is and how often what readers see has changed. */
export interface CatalogueTable {
  id: 1;
  identity: string;
  revision: number;
  revised_at: string;
}

/** When each revision became visible. */
export interface RevisionsTable {
  revision: number;
  at: string;
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

/** Who wants no listing at an address, known or not, until that one decides otherwise. */
export interface DelistingsTable {
  base_url: string;
  by: 'operator' | 'provider' | 'rule';
  reason: string;
  /** Address of the statement that says so; null for a decision made here. */
  source: string | null;
  at: string;
}

/** What providers reply to cautions, by the address of the listing, known or not. */
export interface RepliesTable {
  base_url: string;
  caution: string;
  /** Method and path; empty where the reply is to that caution of the whole listing. */
  route: string;
  text: string;
  /** Address of the provider's file. */
  source: string;
  /** When it was first read. */
  at: string;
}

export interface RoutesTable {
  id: string;
  listing_id: string;
  method: string;
  path: string;
  payee: 'fixed' | 'rotating' | null;
  /** When it was last probed, with whatever outcome. */
  probed_at: string | null;
}

/**
 * Every offer ever declared for or observed on a route. An observed one has a row for each period in which it stood; of
 * those at most one is current.
 */
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
  genesis: string;
  /** JSON of model `PaidRequest`, or null. */
  request: string;
  /** Why the answer was not recognised as the product. */
  unrecognised: string | null;
}

/** The operator's word that a receipt is wrong on record. */
export interface CorrectionsTable {
  receipt_id: string;
  because: string;
  at: string;
}

/** A name that a live listing goes by, in a form in which lookalikes are equal. */
export interface ListingNamesTable {
  name: string;
  listing_id: string;
  /** Registrable domain of its host. */
  domain: string;
  /** 1: it is the better known of those that go by the name. */
  known: 0 | 1;
  since: string;
}

/** Every attempt to pay: the columns that caps and reconciliation read, and the whole. */
export interface PaymentsTable {
  id: string;
  /** A payment outlives its route: it is put back into a catalogue that has lost it. */
  route_id: string;
  network: string;
  /** The transaction it was found in; null where none is known. */
  transaction: string | null;
  /** UTC date by the clock of the chain, for the cap of a day. */
  day: string;
  payer: string;
  amount: number;
  state: PaymentState;
  prepared_at: string;
  /** JSON of model `Payment`. */
  document: string;
  /** Of its latest change that readers can see; null while it has no receipt. */
  revision: number | null;
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
  /** 1: it says more than that something was looked at again, or worded otherwise. */
  telling: GeneratedAlways<0 | 1>;
}

/** Of each subject of each listing the place of its latest change, kept by a trigger on the log. */
export interface LatestChangesTable {
  listing_id: string;
  subject: string;
  seq: number;
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

/** What one probe of one route saw: the columns that rules and queries read, and the rest. */
export interface SamplesTable {
  id: Generated<number>;
  listing_id: string;
  route_id: string;
  /** Origin that was asked. */
  host: string;
  /** Number of the six hours it was taken in. */
  round: number;
  at: string;
  outcome: ProbeOutcome;
  cause: string | null;
  status: number | null;
  /** Null for a sample without an answer, and for one older than the measuring. */
  latency_ms: number | null;
  /** JSON of the remaining fields of model `ProbeSample`. */
  document: string;
}

/** How the hosts that were probed in a round came out, and whether its failures are put down to us. */
export interface RoundsTable {
  round: number;
  hosts: number;
  failing: number;
  ours: 0 | 1;
  /** What readers see of it, since `revision`; null until the first revision after it was judged. */
  shown_hosts: number | null;
  shown_failing: number | null;
  shown_ours: 0 | 1 | null;
  revision: number | null;
  /** 1: judged since then. */
  pending: Generated<0 | 1>;
}

/** How many listings went live, were removed, became verified and ceased to be on a day; kept by a trigger. */
export interface ListingDaysTable {
  day: string;
  listed: number;
  taken_out: number;
  verified: number;
  unverified: number;
}

/** When a listing is probed next, and whether it has samples whose meaning is not published yet. */
export interface ProbeTargetsTable {
  listing_id: string;
  due_at: string;
  /** Round of its latest sample. */
  sampled_round: number;
  unpublished: 0 | 1;
}

/** What probing knows of a host, by its origin. */
export interface HostsTable {
  host: string;
  /** Its robots.txt as last read; empty where it has none. */
  robots: string | null;
  robots_at: string | null;
  /** When its own statement at the provider's door was last read. */
  door_at: string | null;
  /** When a made-up address beside a payable route was last asked. */
  sibling_at: string | null;
  /** When a route of it last answered a valid 402. */
  valid_at: string | null;
  /** It asked to be left alone until then. */
  wait_until: string | null;
}

/** One pass over every route (`all`) or every published listing (`freshening`), gone on with where it was left. */
export interface ProbeRunsTable {
  id: Generated<number>;
  scope: string;
  started_at: string;
  ended_at: string | null;
}

export interface Tables {
  catalogue: CatalogueTable;
  revisions: RevisionsTable;
  listings: ListingsTable;
  declarations: DeclarationsTable;
  delistings: DelistingsTable;
  replies: RepliesTable;
  routes: RoutesTable;
  terms: TermsTable;
  receipts: ReceiptsTable;
  corrections: CorrectionsTable;
  listing_names: ListingNamesTable;
  payments: PaymentsTable;
  changes: ChangesTable;
  latest_changes: LatestChangesTable;
  pulls: PullsTable;
  feed_items: FeedItemsTable;
  findings: FindingsTable;
  samples: SamplesTable;
  rounds: RoundsTable;
  listing_days: ListingDaysTable;
  probe_targets: ProbeTargetsTable;
  hosts: HostsTable;
  probe_runs: ProbeRunsTable;
}
