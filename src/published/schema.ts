import { crc32 } from 'node:zlib';
import { type NetworkKey, networkKey } from '../model/network.ts';
import { ORDERS } from './orders.ts';

/** Identifies a file as a published catalogue: `PRAGMA application_id`, the letters "x402" in ASCII. */
export const APPLICATION_ID = 0x78343032;

/**
 * Returns the name of the column with the lowest price of a listing's routes on a network: of all routes, or of
 * settlement-verified ones.
 */
export function getPriceColumn(network: NetworkKey, isVerified: boolean): string {
  return `${isVerified ? 'verified_price' : 'price'}_${network}`;
}

const PRICES = networkKey.options.flatMap((key) => [getPriceColumn(key, false), getPriceColumn(key, true)]);

/**
 * The columns that filters of lists read. The index of each order contains them, so a list is found without reading the listings.
 */
export const FILTERED = `category, reliability_band, verified_routes, networks, seen_networks, price_min, ${PRICES.join(', ')}`;

const ORDER_INDEXES = Object.entries(ORDERS).map(
  ([sort, { sql }]) => `CREATE INDEX listings_by_${sort} ON listings (${sql}, slug, ${FILTERED}) WHERE state = 'live';`,
);

/** The tables that are in the download. Times are ISO 8601 UTC, amounts atomic USDC (6 decimals), booleans 0 or 1. */
export const SCHEMA = `
-- One row: which catalogue this is, and how often what readers see has changed.
CREATE TABLE catalogue (
  identity TEXT NOT NULL,
  revision INTEGER NOT NULL,
  revised_at TEXT NOT NULL
) STRICT;

-- When each revision became visible.
CREATE TABLE revisions (
  revision INTEGER PRIMARY KEY,
  at TEXT NOT NULL
) STRICT;

-- One row a listing. Everything after \`title\` is null unless the listing is live.
CREATE TABLE listings (
  number INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,            -- live, held (known, but something is missing, such as a price) or delisted
  revision INTEGER NOT NULL,      -- of its latest change
  base_url TEXT,                  -- null for a held listing that was never live
  title TEXT,                     -- likewise
  tagline TEXT,
  provider_name TEXT,
  provider_key TEXT,              -- the same in lower case
  category TEXT,
  price_min INTEGER,              -- lowest price of one request
  price_max INTEGER,
${PRICES.map((name) => `  ${name} INTEGER,`).join('\n')} -- lowest price of its routes on a network; of the verified ones
  networks TEXT,                  -- networks that it is paid on, seen or declared by its sources, separated by spaces
  seen_networks TEXT,             -- of these, those on which dated evidence shows that payment is advertised
  verified_networks TEXT,         -- networks on which a route is settlement-verified, separated by spaces
  routes INTEGER,                 -- number of its routes
  verified_routes INTEGER,        -- number of those that are settlement-verified
  reliability_band TEXT,          -- established, thin or unscored
  reliability_score REAL,         -- 0 to 100; null while unscored
  latency_median_ms INTEGER,      -- half of the valid answers to our probes took no longer; null while fewer than 12
  latency_p95_ms INTEGER,         -- 95 % of them took no longer
  listed_at TEXT,
  updated_at TEXT,
  verified_at TEXT,               -- time of the latest payment that verifies a route now
  topics TEXT,                    -- words that say what it is about, separated by spaces
  domain TEXT,                    -- registered domain of its host, or the host; as base_url, of removed listings, too
  product INTEGER,                -- the same number where listings are one product at several addresses; null if not known
  marked TEXT                     -- demo, test or token sale, where it is not an API run to be bought; else null
) STRICT;
CREATE INDEX listings_by_base_url ON listings (base_url);
CREATE INDEX listings_by_domain ON listings (domain, state, slug);
CREATE INDEX listings_by_revision ON listings (revision);

-- What /agent/listings/{slug} says of a live listing, without its routes; of a delisted one its tombstone and the paths it had.
CREATE TABLE documents (
  listing INTEGER PRIMARY KEY,
  document TEXT NOT NULL
) STRICT;

-- The routes of the live listings, in the order of their listing.
CREATE TABLE routes (
  listing INTEGER NOT NULL,
  position INTEGER NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  url TEXT NOT NULL,              -- where it is called
  description TEXT AS (document ->> '$.description'), -- provider's text
  verified INTEGER NOT NULL,      -- 1: settlement-verified
  verified_at TEXT,
  danger INTEGER NOT NULL,        -- 1: something grave speaks against it
  latency_median_ms INTEGER,      -- as of listings, for this route alone
  latency_p95_ms INTEGER,
  document TEXT NOT NULL,         -- what /agent/listings/{slug} says of it
  PRIMARY KEY (listing, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX routes_by_path ON routes (path);

-- The current ways to pay for each route.
CREATE TABLE offers (
  listing INTEGER NOT NULL,
  position INTEGER NOT NULL,      -- of the route
  network TEXT NOT NULL,          -- base or solana
  scheme TEXT NOT NULL,
  asset TEXT NOT NULL,
  amount INTEGER NOT NULL,
  pay_to TEXT,                    -- null where nobody said
  evidence TEXT NOT NULL,         -- observed: a 402 answer asked for it; declared: a source says so
  last_seen_at TEXT,
  needs TEXT NOT NULL             -- what a client must be able to do to pay it, separated by spaces
) STRICT;
CREATE INDEX offers_by_route ON offers (listing, position);
CREATE INDEX offers_payable ON offers (listing, position) WHERE pay_to IS NOT NULL;

-- Every decision that readers can see, in the order it was taken.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  at TEXT NOT NULL,
  listing_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,           -- JSON: what it was before and after, and on what evidence
  telling INTEGER NOT NULL        -- 0: something was seen again or described in other words
) STRICT;
CREATE INDEX changes_by_revision ON changes (revision);
CREATE INDEX changes_by_listing ON changes (listing_id);
CREATE INDEX changes_telling ON changes (revision) WHERE telling = 1;

-- The latest change of each subject of a listing.
CREATE TABLE latest_changes (
  listing_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  seq INTEGER NOT NULL UNIQUE,
  PRIMARY KEY (listing_id, subject)
) STRICT, WITHOUT ROWID;

-- Payments of this service that settled, by the word of the chain.
CREATE TABLE receipts (
  id TEXT PRIMARY KEY,
  listing INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  network TEXT NOT NULL,
  amount INTEGER NOT NULL,
  settled_at TEXT NOT NULL,
  delivered INTEGER,              -- 1: the product came back; null where that is not known
  current INTEGER NOT NULL,       -- 1: its listing rests on it now, or names it as corrected
  document TEXT NOT NULL,         -- JSON: everything needed to check it on the chain
  correction TEXT                 -- JSON: the operator's word that the record is wrong
) STRICT;
CREATE INDEX receipts_by_listing ON receipts (listing);

-- How many listings came, went, became verified and ceased to be, by day (UTC).
CREATE TABLE listing_days (
  day TEXT PRIMARY KEY,
  listed INTEGER NOT NULL,
  taken_out INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  unverified INTEGER NOT NULL
) STRICT;

-- How the hosts that were probed came out, by spans of six hours since 1970.
CREATE TABLE rounds (
  round INTEGER PRIMARY KEY,
  hosts INTEGER NOT NULL,
  failing INTEGER NOT NULL,
  ours INTEGER NOT NULL           -- 1: its failures are put down to this service's own connection
) STRICT;
`;

/**
 * Indexes and tables for this code alone, which are not in the download: counts of live listings, the search entries, short forms
 * of listings and routes, compressed answers, and the code and base URL that all of these were written by and for.
 */
export const OWN_SCHEMA = `
-- Indexes for the orders of lists, and for finding listings otherwise. A query of all live listings that reads further columns
-- takes half the time without these indexes, which it gets by writing +state.
CREATE INDEX listings_by_name ON listings (slug, ${FILTERED}) WHERE state = 'live';
${ORDER_INDEXES.join('\n')}
CREATE INDEX listings_by_provider ON listings (provider_key) WHERE provider_key IS NOT NULL;
CREATE INDEX listings_by_product ON listings (product, slug) WHERE product IS NOT NULL;
CREATE INDEX offers_by_needs ON offers (needs, listing, network, amount);

-- Numbers of live listings by what filters read. Price, network and proof are those of one and the same route.
CREATE TABLE counts (
  network TEXT NOT NULL,          -- that they are paid on; '' for any
  proved INTEGER NOT NULL,        -- 1: by their settlement-verified routes alone
  category TEXT NOT NULL,
  band TEXT NOT NULL,             -- reliability_band
  verified INTEGER NOT NULL,      -- 1: some route is settlement-verified
  is_seen INTEGER NOT NULL,       -- 1: dated evidence shows that payment is advertised on that network; for any, on one of them
  is_unseen INTEGER NOT NULL,     -- 1: it is only declared
  price INTEGER NOT NULL,         -- least price limit that such a route and its listing pass; -1 where no such route has a price
  listings INTEGER NOT NULL,
  PRIMARY KEY (network, proved, category, band, verified, is_seen, is_unseen, price)
) STRICT, WITHOUT ROWID;

-- By what live listings are found: their words, what filters read of their routes (JSON), and a vector of what they are about.
CREATE TABLE search_entries (
  listing INTEGER PRIMARY KEY,
  terms TEXT NOT NULL,
  vector BLOB NOT NULL,
  facts TEXT NOT NULL
) STRICT;

-- The short forms of the live listings, as lists show them. Apart from their documents, so that a page of a list reads little else.
CREATE TABLE items (
  listing INTEGER PRIMARY KEY,
  item TEXT NOT NULL
) STRICT;

-- The short forms of the routes of live listings, as the results of searches show them.
CREATE TABLE rendered_routes (
  listing INTEGER NOT NULL,
  position INTEGER NOT NULL,
  route TEXT NOT NULL,
  PRIMARY KEY (listing, position)
) STRICT, WITHOUT ROWID;
-- What /agent/listings/{slug} answers of each live listing, with the first page of its routes, compressed by gzip.
CREATE TABLE answers (
  listing INTEGER PRIMARY KEY,
  etag TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;
-- One row: by which code and for which BASE_URL all listings were written.
CREATE TABLE rendering (
  code_version TEXT NOT NULL,
  base_url TEXT NOT NULL
) STRICT;
`;

/** Version of these tables (`PRAGMA user_version`, a signed number of 32 bits): a file of another one is made again. */
export const SCHEMA_VERSION = crc32(`${SCHEMA}${OWN_SCHEMA}`) | 0;
