import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import compression from 'compression';
import express, { type Request } from 'express';
import { listChanges } from '../../src/catalogue/changes.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { readConfig } from '../../src/config.ts';
import { isLive } from '../../src/model/listing.ts';
import { getSite } from '../../src/release/release.ts';
import { openReading } from '../../src/snapshot/reading.ts';
import { listResources } from '../../src/snapshot/resources.ts';
import { listEntries } from '../../src/snapshot/snapshot.ts';
import { type AgentListing, buildAgentListing } from '../../src/views/agent-listing.ts';
import { buildDiscoveryResource } from '../../src/views/discovery-resource.ts';

/**
 * What we are measured against: a directory of the same records as one would write it in an afternoon, with Express,
 * better-sqlite3, FTS5 and `compression`, every answer made when it is asked for. Runs as a child process with the settings
 * of a catalogue, copies the records into a database of its own, and tells the port it listens on.
 */
const config = readConfig();
const database = new Database(join(dirname(config.catalogueFile), 'express.sqlite'));
database.exec(`
  CREATE TABLE listings (
    slug TEXT PRIMARY KEY, category TEXT, price_min REAL, payment_verified INTEGER, item TEXT, facts TEXT
  );
  CREATE TABLE routes (number INTEGER PRIMARY KEY, slug TEXT, facts TEXT);
  CREATE INDEX routes_by_slug ON routes (slug);
  CREATE TABLE changes (number INTEGER PRIMARY KEY, slug TEXT, facts TEXT);
  CREATE INDEX changes_by_slug ON changes (slug);
  CREATE INDEX listings_by_category ON listings (category, slug);
  CREATE TABLE resources (number INTEGER PRIMARY KEY, document TEXT);
  CREATE VIRTUAL TABLE words USING fts5 (slug UNINDEXED, title, tagline, description, routes, tokenize = 'porter');
`);
copyRecords();

const app = express();
app.use(compression());
const insight = database.prepare('SELECT count(*) AS live, sum(payment_verified) AS verified FROM listings');
const listPage = database.prepare(
  'SELECT item FROM listings WHERE price_min <= ? AND (? IS NULL OR category = ?) ORDER BY slug LIMIT ?',
);
const countPage = database
  .prepare('SELECT count(*) FROM listings WHERE price_min <= ? AND (? IS NULL OR category = ?)')
  .pluck();
const search = database.prepare(
  `SELECT item FROM words JOIN listings USING (slug) WHERE words MATCH ? ORDER BY bm25(words, 0, 8, 4, 2, 1) LIMIT ?`,
);
const findFacts = database.prepare('SELECT facts FROM listings WHERE slug = ?').pluck();
const listRoutes = database.prepare('SELECT facts FROM routes WHERE slug = ? ORDER BY number').pluck();
const listDecisions = database.prepare('SELECT facts FROM changes WHERE slug = ? ORDER BY number').pluck();
const listFound = database.prepare('SELECT document FROM resources ORDER BY number LIMIT ? OFFSET ?').pluck();
const countResources = database.prepare('SELECT count(*) FROM resources').pluck();

app.get('/agent/list', (request, response) => {
  const limit = Math.min(Number(request.query.limit ?? 100), 1000);
  const catalogue = { ...(insight.get() as object), generated_at: new Date().toISOString() };
  const { q, category = null, max_price_usdc: maximum = '1000000' } = request.query;
  if (typeof q === 'string') {
    const words = (q.match(/\w+/g) ?? []).map((word) => `"${word}"`).join(' OR ');
    response.json({ catalogue, listings: parseAll(search.all(words, limit)) });
    return;
  }
  const filters = [Number(maximum), category, category];
  response.json({ catalogue, total: countPage.get(filters), listings: parseAll(listPage.all(...filters, limit)) });
});
app.get('/agent/listings/:slug', (request: Request<{ slug: string }>, response) => {
  const document = findDocument(request.params.slug);
  if (document === undefined) response.status(404).json({ error: 'not found' });
  else response.json(document);
});
app.get('/discovery/resources', (request, response) => {
  const [limit, offset] = [Number(request.query.limit ?? 100), Number(request.query.offset ?? 0)];
  const items = listFound.all(limit, offset).map((document) => JSON.parse(String(document)));
  response.json({ x402Version: 2, items, pagination: { limit, offset, total: countResources.get() } });
});
app.get('/api/:slug', (request: Request<{ slug: string }>, response) => {
  const document = findDocument(request.params.slug);
  if (document === undefined) response.status(404).send('Not found');
  else response.send(renderPage(document));
});
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));

/** Puts the document of a listing together from its rows. */
function findDocument(slug: string): AgentListing | undefined {
  const facts = findFacts.get(slug);
  if (facts === undefined) return undefined;
  const { listing, ...rest } = JSON.parse(String(facts));
  const routes = listRoutes.all(slug).map((row) => JSON.parse(String(row)));
  const decisions = listDecisions.all(slug).map((row) => JSON.parse(String(row)));
  return { ...rest, listing: { ...listing, routes }, decisions };
}

function parseAll(rows: readonly unknown[]): unknown[] {
  return rows.map((row) => JSON.parse((row as { item: string }).item));
}

/** Renders all that is on record of a listing, in about as many bytes as our own page has. */
function renderPage({ listing }: AgentListing): string {
  const { title, tagline } = listing;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/style.css"></head><body><header><a href="/">Directory</a></header><main>
<h1>${escapeHtml(title)}</h1><p>${escapeHtml(tagline)}</p>${renderValue(listing)}</main></body></html>`;
}

function renderValue(value: unknown): string {
  if (Array.isArray(value)) return `<ul>${value.map((item) => `<li>${renderValue(item)}</li>`).join('')}</ul>`;
  if (typeof value !== 'object' || value === null) return escapeHtml(String(value));
  const rows = Object.entries(value).map(([name, item]) => `<dt>${escapeHtml(name)}</dt><dd>${renderValue(item)}</dd>`);
  return `<dl>${rows.join('')}</dl>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function copyRecords(): void {
  const site = getSite(config);
  const reading = openReading(config.catalogueFile, site);
  const snapshot = reading.getSnapshot();
  const addListing = database.prepare('INSERT INTO listings VALUES (?, ?, ?, ?, ?, ?)');
  const addRoute = database.prepare('INSERT INTO routes (slug, facts) VALUES (?, ?)');
  const addChange = database.prepare('INSERT INTO changes (slug, facts) VALUES (?, ?)');
  const addWords = database.prepare('INSERT INTO words VALUES (?, ?, ?, ?, ?)');
  const addResource = database.prepare('INSERT INTO resources (document) VALUES (?)');
  database.transaction(() => {
    for (const entry of listEntries(snapshot)) {
      const listing = findListing(reading.catalogue, { slug: entry.slug });
      if (!listing || !isLive(listing)) continue;
      const document = buildAgentListing(listing, {
        decisions: listChanges(reading.catalogue, { slug: entry.slug }),
        revision: snapshot.revision,
        site,
      });
      const { slug, category, price_min_usdc, payment_verified, itemJson } = entry;
      const { decisions, listing: shown, ...rest } = document;
      const { routes: shownRoutes, ...facts } = shown;
      const verified = Number(payment_verified);
      addListing.run(slug, category, price_min_usdc, verified, itemJson, JSON.stringify({ ...rest, listing: facts }));
      for (const route of shownRoutes) addRoute.run(slug, JSON.stringify(route));
      for (const decision of decisions) addChange.run(slug, JSON.stringify(decision));
      const routes = listing.routes.map(({ path, description }) => `${path} ${description}`).join(' ');
      addWords.run(slug, listing.title, listing.tagline, listing.description, routes);
    }
    const query = { limit: Number.MAX_SAFE_INTEGER, offset: 0 };
    for (const { listing, route } of listResources(reading, snapshot, query).resources) {
      addResource.run(JSON.stringify(buildDiscoveryResource(listing, route, site)));
    }
  })();
  reading.catalogue.close();
}
