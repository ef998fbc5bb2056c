import type { Statement } from 'better-sqlite3';
import type { Request, Response } from 'express';
import { stemmer } from 'stemmer';
import { createApp, listen, openRecords, readDirectory, sendText } from './express.ts';

/**
 * `node express-directory.ts <file>` serves a directory as one would write it who knows Express, better-sqlite3 and FTS5 well.
 * It caches no answers. It sends its parent the port that it listens on.
 */
const database = openRecords(process.argv[2] ?? '');
const { revision, live, verified } = readDirectory(database);
const findDetail = database.prepare('SELECT detail FROM details WHERE slug = ?').pluck();

const app = createApp(revision);
app.get('/agent/list', (request, response) => {
  const { q, ...query } = request.query as Query;
  const limit = Math.min(Number(query.limit ?? 100), 1000);
  const catalogue = { live_listings: live, settlement_verified: verified, generated_at: new Date().toISOString() };
  const found = q === undefined ? list(query, limit) : { items: search(q, limit) };
  const { items, ...facts } = found;
  const head = JSON.stringify({ catalogue, revision, ...facts }).slice(0, -1);
  sendText(request, response, 'json', `${head},"listings":[${items}]}`);
});
app.get('/agent/listings/:slug', (request: Request<{ slug: string }>, response) => {
  const detail = findDetail.get(request.params.slug);
  if (detail === undefined) sendMissing(response);
  else sendText(request, response, 'json', String(detail));
});
app.get('/api/:slug', (request: Request<{ slug: string }>, response) => {
  const detail = findDetail.get(request.params.slug);
  if (detail === undefined) sendMissing(response);
  else sendText(request, response, 'html', renderPage(JSON.parse(String(detail)).listing));
});
listen(app);

function sendMissing(response: Response): void {
  response.status(404).json({ error: 'not found' });
}

type Query = Readonly<Record<string, string | undefined>>;

/** The column of each order, the condition of what comes behind a cursor, and the order itself. */
const SORTS: Readonly<Record<string, { key: string; isAfter: string; order: string }>> = {
  name: { key: 'slug', isAfter: 'slug > @slug', order: 'slug' },
  price: { key: 'lowest', isAfter: '(lowest, slug) > (@key, @slug)', order: 'lowest, slug' },
  updated: {
    key: 'updated',
    isAfter: '(updated < @key OR (updated = @key AND slug > @slug))',
    order: 'updated DESC, slug',
  },
};

/** The condition of each filter beside the network. */
const CONDITIONS: Readonly<Record<string, string>> = {
  category: 'category = @category',
  verified: 'verified = @verified',
  band: 'band = @band',
  max_price_usdc: 'price <= @max_price_usdc',
};

const statements = new Map<string, Statement>();

/** Prepares a statement once. */
function prepare(sql: string): Statement {
  const prepared = statements.get(sql) ?? database.prepare(sql);
  statements.set(sql, prepared);
  return prepared;
}

/** Lists a page of items as one text, the number of all that match, and if asked for the numbers by the values of filters. */
function list(query: Query, limit: number) {
  const { key, isAfter, order } = SORTS[query.sort ?? 'name'] ?? (SORTS.name as (typeof SORTS)[string]);
  const filters = Object.keys(CONDITIONS).filter((name) => query[name] !== undefined);
  const where = ['network = @network', ...filters.map((name) => CONDITIONS[name])].join(' AND ');
  // As ours: key and slug of the last one, and what a peer has no use for.
  const [afterKey, afterSlug] = query.cursor?.split('~') ?? [];
  const values = {
    ...query,
    network: query.network ?? '',
    verified: Number(query.verified === 'true'),
    max_price_usdc: Number(query.max_price_usdc),
    limit,
    key: query.sort === 'price' ? Number(afterKey) : afterKey,
    slug: afterSlug,
  };
  const page = `SELECT number, slug, ${key} AS key FROM listed WHERE ${where}${query.cursor ? ` AND ${isAfter}` : ''}
    ORDER BY ${order} LIMIT @limit`;
  const rows = prepare(`SELECT item, key, slug FROM (${page}) CROSS JOIN items USING (number)`).raw().all(values);
  const last = rows.length === limit ? (rows.at(-1) as [string, string | number, string]) : undefined;
  return {
    items: rows.map((row) => (row as string[])[0]).join(),
    total: prepare(`SELECT total(listings) FROM counts WHERE ${where}`).pluck().get(values),
    ...(last && { next_cursor: last.slice(1).join('~') }),
    ...(query.facets === 'true' && { facets: countFacets(filters, values) }),
  };
}

const PRICE_STEPS = ['0.001', '0.01', '0.1', '1'];

/** Counts what matches by the values of each filter, with all the others as they are. */
function countFacets(filters: readonly string[], values: object) {
  const count = (name: string, select: string, network = 'network = @network') => {
    const others = filters.filter((other) => other !== name).map((other) => CONDITIONS[other]);
    return prepare(`${select} WHERE ${[network, ...others].join(' AND ')} GROUP BY 1`).all(values);
  };
  const countValues = (name: string, network?: string) =>
    count(name, `SELECT ${name} AS value, sum(listings) AS count FROM counts`, network);
  const steps = JSON.stringify(PRICE_STEPS);
  return {
    category: countValues('category'),
    band: countValues('band'),
    network: countValues('network', "network <> ''"),
    verified: count('verified', `SELECT iif(verified, 'true', 'false') AS value, sum(listings) AS count FROM counts`),
    max_price_usdc: count(
      'max_price_usdc',
      `SELECT value, sum(listings) AS count FROM json_each('${steps}') JOIN counts ON price <= CAST(value AS REAL)`,
    ),
  };
}

const common = new Set(database.prepare('SELECT term FROM common').pluck().all());
const find = database
  .prepare(
    `SELECT group_concat(item) FROM (
      SELECT rowid AS number FROM words WHERE words MATCH ? ORDER BY bm25(words, 8, 4, 2, 1) LIMIT ?
    ) CROSS JOIN items USING (number)`,
  )
  .pluck();

/**
 * Finds the items that have one of the words at least, the best first, as one text. `ORDER BY rank` takes half as long again,
 * since it sorts all that match. Words of more than half of the listings weigh nothing, and are left out beside others.
 */
function search(q: string, limit: number): string {
  const words = q.match(/\w+/g) ?? [];
  const rare = words.filter((word) => !common.has(stemmer(word.toLowerCase())));
  const asked = rare.length > 0 ? rare : words;
  return String(find.get(asked.map((word) => `"${word}"`).join(' OR '), limit) ?? '');
}

interface Listing {
  readonly title: string;
  readonly tagline: string;
}

/** Renders all fields of a listing. Our own page has about three times the bytes. */
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
  return !/[&<>"]/.test(text) ? text : text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
