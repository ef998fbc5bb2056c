import Database from 'better-sqlite3';
import { openCatalogueForReading } from '../../../src/catalogue/database.ts';
import { listChanges } from '../../../src/catalogue/read/changes.ts';
import { findListing } from '../../../src/catalogue/read/listings.ts';
import { getRevision } from '../../../src/catalogue/transaction.ts';
import type { Config } from '../../../src/config.ts';
import { listPayableTerms } from '../../../src/evidence/terms.ts';
import { isLive, type LiveListing } from '../../../src/model/listing.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import { getUsdcNumber } from '../../../src/model/usdc.ts';
import { buildDiscoveryResource } from '../../../src/views/discovery.ts';
import { buildAgentItem } from '../../../src/views/listing/item.ts';
import { buildPublicListing, joinListing } from '../../../src/views/listing/record.ts';
import { buildAgentRoute } from '../../../src/views/listing/route-record.ts';

/**
 * The tables of both Express peers. `listed` has a row for each network of a listing, with its lowest `price` there, and one
 * for all of them together; `lowest` is in each the lowest price of all. So each order is a range of one index, which also has
 * what filters need. `counts` says how many rows of `listed` have the same values, so that no total goes through the
 * listings. `common` has the stems that more than half of the listings have. Texts are stored as they are sent.
 */
const TABLES = `
  CREATE TABLE directory (revision INTEGER, live INTEGER, verified INTEGER, resources INTEGER);
  CREATE TABLE items (number INTEGER PRIMARY KEY, item TEXT);
  CREATE TABLE details (slug TEXT PRIMARY KEY, detail TEXT);
  CREATE TABLE listed (
    network TEXT, slug TEXT, category TEXT, verified INTEGER, band TEXT, price REAL, lowest REAL, updated TEXT,
    number INTEGER,
    PRIMARY KEY (network, slug)
  ) WITHOUT ROWID;
  CREATE VIRTUAL TABLE words USING fts5 (title, tagline, description, routes, content = '', tokenize = 'porter');
  CREATE TABLE resources (number INTEGER PRIMARY KEY, item TEXT);
  CREATE TABLE offers (resource INTEGER, network TEXT, scheme TEXT, pay_to TEXT, type TEXT);
  CREATE VIRTUAL TABLE resource_words USING fts5 (title, description, path, content = '', tokenize = 'porter');`;

/** Made when the rows are there: indexes for all orders and filters, and what SQLite plans by. */
const INDEXES = `
  CREATE INDEX listed_by_price ON listed (network, lowest, slug, category, verified, band, price, number);
  CREATE INDEX listed_by_update ON listed (network, updated DESC, slug, category, verified, band, price, lowest, number);
  CREATE INDEX category_by_slug ON listed (network, category, slug, verified, band, price, lowest, number);
  CREATE INDEX category_by_price ON listed (network, category, lowest, slug, verified, band, price, number);
  CREATE INDEX category_by_update
    ON listed (network, category, updated DESC, slug, verified, band, price, lowest, number);
  CREATE TABLE counts (
    network TEXT, category TEXT, verified INTEGER, band TEXT, price REAL, listings INTEGER,
    PRIMARY KEY (network, category, verified, band, price)
  ) WITHOUT ROWID;
  INSERT INTO counts SELECT network, category, verified, band, price, count(*) FROM listed GROUP BY 1, 2, 3, 4, 5;
  CREATE INDEX offers_by_account ON offers (pay_to, resource);
  CREATE INDEX offers_by_network ON offers (network, scheme, type, resource);
  INSERT INTO words (words) VALUES ('optimize');
  INSERT INTO resource_words (resource_words) VALUES ('optimize');
  CREATE VIRTUAL TABLE temp.counted USING fts5vocab (main, words, row);
  CREATE TABLE common AS SELECT term FROM temp.counted WHERE doc > (SELECT live / 2 FROM directory);
  ANALYZE;`;

/** Copies the live listings of a catalogue into the SQLite file of the Express peers, those first that were listed first. */
export async function copyRecords(config: Config, file: string): Promise<void> {
  const catalogue = await openCatalogueForReading(config.catalogueAddress);
  const revision = await getRevision(catalogue);
  const database = new Database(file);
  // Nobody needs the file after a crash.
  database.pragma('journal_mode = OFF');
  database.pragma('synchronous = OFF');
  database.exec(TABLES);
  const open = (table: string, columns: number) =>
    database.prepare(`INSERT INTO ${table} VALUES (${Array(columns).fill('?').join(', ')})`);
  const addItem = open('items', 2);
  const addDetail = open('details', 2);
  const addListed = open('listed', 9);
  const addWords = open('words (rowid, title, tagline, description, routes)', 5);
  const addResource = open('resources', 2);
  const addOffer = open('offers', 5);
  const addResourceWords = open('resource_words (rowid, title, description, path)', 4);
  let [number, verified, resource] = [0, 0, 0];
  database.exec('BEGIN');
  const slugs = await catalogue.query.selectFrom('listings').select('slug').orderBy('number').execute();
  for (const { slug } of slugs) {
    const listing = await findListing(catalogue, { slug });
    if (!listing || !isLive(listing)) continue;
    number += 1;
    const { title, tagline, description, routes } = listing;
    const decisions = await listChanges(catalogue, slug);
    const item = buildAgentItem(listing, config);
    const { routes: forms, ...head } = buildPublicListing(listing, config);
    const detail = joinListing(
      forms.map((route) => JSON.stringify(buildAgentRoute(route))),
      {
        head: JSON.stringify(head),
        revision: listing.revision,
        sameProduct: [],
        routesTotal: forms.length,
        decisions,
      },
    );
    verified += Number(item.payment_verified);
    addItem.run(number, JSON.stringify(item));
    addDetail.run(slug, detail);
    const facts = [slug, item.category, Number(item.payment_verified), item.reliability_band];
    for (const [network, price] of listPrices(listing)) {
      addListed.run(network, ...facts, price, item.price_min_usdc, item.updated_at, number);
    }
    const texts = routes.map((route) => `${route.path} ${route.description}`);
    addWords.run(number, title, tagline, description, texts.join(' '));
    for (const route of forms) {
      const offers = listPayableTerms(route);
      if (offers.length === 0) continue;
      resource += 1;
      const document = buildDiscoveryResource(head, route, config);
      addResource.run(resource, JSON.stringify(document));
      addResourceWords.run(resource, title, route.description, route.path);
      for (const { network, scheme, pay_to } of offers) {
        addOffer.run(resource, NETWORKS[network].id, scheme, pay_to, document.type);
      }
    }
  }
  open('directory', 4).run(revision, number, verified, resource);
  database.exec('COMMIT');
  database.exec(INDEXES);
  database.close();
  await catalogue.close();
}

/** Lists the networks on which a listing can be paid with its lowest price there; '' stands for all of them together. */
function listPrices({ price_min, networks, routes }: LiveListing): [network: string, price: number][] {
  const advertised = networks.filter((network) => network.advertised);
  return [
    ['', getUsdcNumber(price_min)],
    ...advertised.map(({ key }): [string, number] => {
      const offers = routes.flatMap(({ terms }) => terms.filter(({ network }) => network === key));
      return [key, getUsdcNumber(Math.min(...offers.map(({ amount }) => amount)))];
    }),
  ];
}
