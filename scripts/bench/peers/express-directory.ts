import type { AddressInfo } from 'node:net';
import Database from 'better-sqlite3';
import compression from 'compression';
import express, { type Request } from 'express';

/**
 * `node express-directory.ts <file>` serves a directory as one would write it in an afternoon, with Express, better-sqlite3,
 * FTS5 and `compression`. It caches nothing. It sends its parent the port that it listens on.
 */
const database = new Database(process.argv[2], { readonly: true });
const countListings = database.prepare('SELECT count(*) AS live, sum(payment_verified) AS verified FROM listings');
const listPage = database
  .prepare('SELECT item FROM listings WHERE price_min <= ? AND (? IS NULL OR category = ?) ORDER BY slug LIMIT ?')
  .pluck();
const countPage = database
  .prepare('SELECT count(*) FROM listings WHERE price_min <= ? AND (? IS NULL OR category = ?)')
  .pluck();
const search = database
  .prepare(
    'SELECT item FROM words JOIN listings USING (slug) WHERE words MATCH ? ORDER BY bm25(words, 0, 8, 4, 2, 1) LIMIT ?',
  )
  .pluck();
const findFacts = database.prepare('SELECT facts FROM listings WHERE slug = ?').pluck();
const listRoutes = database.prepare('SELECT facts FROM routes WHERE slug = ? ORDER BY number').pluck();
const listDecisions = database.prepare('SELECT facts FROM changes WHERE slug = ? ORDER BY number').pluck();
const listResources = database.prepare('SELECT document FROM resources ORDER BY number LIMIT ? OFFSET ?').pluck();
const countResources = database.prepare('SELECT count(*) FROM resources').pluck();

const app = express();
app.use(compression());
app.get('/agent/list', (request, response) => {
  const limit = Math.min(Number(request.query.limit ?? 100), 1000);
  const catalogue = { ...(countListings.get() as object), generated_at: new Date().toISOString() };
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
  const items = parseAll(listResources.all(limit, offset));
  response.json({ x402Version: 2, items, pagination: { limit, offset, total: countResources.get() } });
});
app.get('/api/:slug', (request: Request<{ slug: string }>, response) => {
  const document = findDocument(request.params.slug);
  if (document === undefined) response.status(404).send('Not found');
  else response.send(renderPage(document.listing));
});
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));

interface Listing {
  readonly title: string;
  readonly tagline: string;
}

/** Finds the document of a listing, whose routes and decisions are rows of their own. */
function findDocument(slug: string): { listing: Listing } | undefined {
  const facts = findFacts.get(slug);
  if (facts === undefined) return undefined;
  const { listing, ...rest } = JSON.parse(String(facts));
  const routes = parseAll(listRoutes.all(slug));
  return { ...rest, listing: { ...listing, routes }, decisions: parseAll(listDecisions.all(slug)) };
}

function parseAll(rows: readonly unknown[]): unknown[] {
  return rows.map((row) => JSON.parse(String(row)));
}

/** Renders all fields of a listing, in about as many bytes as our own page has. */
function renderPage(listing: Listing): string {
  const [title, tagline] = [escapeHtml(listing.title), escapeHtml(listing.tagline)];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<link rel="stylesheet" href="/style.css"></head><body><header><a href="/">Directory</a></header><main>
<h1>${title}</h1><p>${tagline}</p>${renderValue(listing)}</main></body></html>`;
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
