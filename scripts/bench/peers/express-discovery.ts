import { createApp, listen, openRecords, readDirectory, sendText } from './express.ts';

/**
 * `node express-discovery.ts <file>` answers `/discovery/resources` and `/discovery/search` as x402 facilitators do, with
 * Express, better-sqlite3 and FTS5. It caches no answers. It sends its parent the port that it listens on.
 */
const database = openRecords(process.argv[2] ?? '');
const { revision, resources: all } = readDirectory(database);
/** The resources have numbers without gaps in their order, so a page of all of them is a range. */
const listAll = database
  .prepare('SELECT group_concat(item) FROM (SELECT item FROM resources WHERE number > @offset LIMIT @limit)')
  .pluck();
const search = database
  .prepare(
    `SELECT group_concat(item) FROM (
      SELECT rowid AS number FROM resource_words WHERE resource_words MATCH ? ORDER BY bm25(resource_words, 4, 2, 2) LIMIT ?
    ) CROSS JOIN resources USING (number)`,
  )
  .pluck();

/** The condition of each filter. Those of a request must hold of one and the same offer. */
const CONDITIONS: Readonly<Record<string, string>> = {
  payTo: 'pay_to = @payTo',
  network: 'network = @network',
  scheme: 'scheme = @scheme',
  type: 'type = @type',
};

type Query = Readonly<Record<string, string | undefined>>;

const app = createApp(revision);
app.get('/discovery/resources', (request, response) => {
  const query = request.query as Query;
  const [limit, offset] = [Math.min(Number(query.limit ?? 100), 1000), Number(query.offset ?? 0)];
  const { total, items } = list({ ...query, limit, offset });
  const pagination = `{"limit":${limit},"offset":${offset},"total":${total}}`;
  sendText(request, response, 'json', `{"x402Version":2,"items":[${items ?? ''}],"pagination":${pagination}}`);
});
app.get('/discovery/search', (request, response) => {
  const { query = '', limit = '20' } = request.query as Query;
  const words = (query.match(/\w+/g) ?? []).map((word) => `"${word}"`).join(' OR ');
  const resources = search.get(words, Math.min(Number(limit), 100)) ?? '';
  sendText(request, response, 'json', `{"x402Version":2,"resources":[${resources}],"partialResults":true}`);
});
listen(app);

function list(query: Readonly<Record<string, string | number | undefined>>) {
  const conditions = Object.keys(CONDITIONS).flatMap((name) => (query[name] === undefined ? [] : CONDITIONS[name]));
  if (conditions.length === 0) return { total: all, items: listAll.get(query) };
  const offers = `FROM offers WHERE ${conditions.join(' AND ')}`;
  const page = `SELECT DISTINCT resource AS number ${offers} ORDER BY number LIMIT @limit OFFSET @offset`;
  const items = database.prepare(`SELECT group_concat(item) FROM (${page}) CROSS JOIN resources USING (number)`);
  const count = database.prepare(`SELECT count(DISTINCT resource) ${offers}`);
  return { total: count.pluck().get(query), items: items.pluck().get(query) };
}
