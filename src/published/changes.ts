import type { Change, ChangeKind } from '../model/change.ts';
import type { FeedScope } from '../views/changes.ts';
import type { Published } from './file.ts';

/** A change with its position in the log, which never changes. */
export type LoggedChange = Change & { seq: number };

/** A position in the log, with enough of the change there to tell it from the same position in another log. */
export type LogPlace = Pick<LoggedChange, 'seq' | 'revision' | 'at' | 'listing_id' | 'kind'>;

/** A change as its row stores it: the detail is JSON. */
type ChangeRow = Omit<LoggedChange, 'detail'> & { detail: string };

const COLUMNS = 'c.seq, c.revision, c.at, l.slug, c.listing_id, c.kind, c.reason, c.detail';
const SELECT = `SELECT ${COLUMNS} FROM changes c JOIN listings l ON l.id = c.listing_id`;

/** Lists the latest `limit` changes of one listing, oldest first; only those of the given `kinds`, if any are given. */
export function listChanges(
  published: Published,
  { slug, limit = 1000, kinds }: { slug: string; limit?: number; kinds?: readonly ChangeKind[] },
): Change[] {
  const ofKinds = kinds === undefined ? '' : 'AND c.kind IN (SELECT value FROM json_each(@kinds))';
  const rows = published
    .prepare<ChangeRow>(
      `SELECT ${COLUMNS} FROM listings l JOIN changes c ON c.listing_id = l.id
       WHERE l.slug = +@slug ${ofKinds} ORDER BY c.seq DESC LIMIT +@limit`,
    )
    .all({ slug, limit, ...(kinds && { kinds: JSON.stringify(kinds) }) });
  return rows.reverse().map(parseUnnumbered);
}

/** Finds the last change that was visible at a revision, or the change at a position; undefined if there is none. */
export function findLogPlace(
  published: Published,
  where: { upToRevision: number } | { seq: number },
): LogPlace | undefined {
  const columns = 'SELECT seq, revision, at, listing_id, kind FROM changes';
  return 'seq' in where
    ? published.prepare<LogPlace>(`${columns} WHERE seq = ?`).get(where.seq)
    : published
        .prepare<LogPlace>(`${columns} WHERE revision <= ? ORDER BY revision DESC, seq DESC LIMIT 1`)
        .get(where.upToRevision);
}

/** Lists the first `limit` changes after the position `after`, one by one. */
export function listLog(published: Published, { after, limit }: { after: number; limit: number }): LoggedChange[] {
  return list(published, `${SELECT} WHERE c.seq > +? ORDER BY c.seq LIMIT +?`, after, limit);
}

/** Lists the first `limit` changes after `after` and up to `upTo` that no later change of the same subject supersedes. */
export function listLatestChanges(
  published: Published,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): LoggedChange[] {
  const sql = `SELECT ${COLUMNS} FROM latest_changes n JOIN changes c ON c.seq = n.seq JOIN listings l ON l.id = c.listing_id
    WHERE n.seq > +? AND n.seq <= +? ORDER BY n.seq LIMIT +?`;
  return list(published, sql, after, upTo, limit);
}

/** Lists the first `limit` telling changes after a position. */
export function listTellingChanges(
  published: Published,
  { after, limit }: { after: LogPlace | undefined; limit: number },
): LoggedChange[] {
  const sql = `${SELECT} WHERE c.telling = 1 AND c.revision >= +? AND c.seq > +? ORDER BY c.revision, c.seq LIMIT +?`;
  return list(published, sql, after?.revision ?? 0, after?.seq ?? 0, limit);
}

/** Lists the latest `limit` telling changes, in the order they happened. */
export function listLatestTellingChanges(published: Published, limit: number): LoggedChange[] {
  const sql = `${SELECT} WHERE c.telling = 1 ORDER BY c.revision DESC, c.seq DESC LIMIT +?`;
  return list(published, sql, limit).reverse();
}

/** The category of a listing; of a removed listing, its last one. */
const CATEGORY =
  "coalesce(l.category, (SELECT document ->> '$.category' FROM documents WHERE listing = l.number AND l.state = 'delisted'))";

/** Builds the SQL condition on the listing `l` of a change, and the value that it binds. */
function buildTest(of: FeedScope | undefined): { test: string; values: string[] } {
  if (of === undefined) return { test: '', values: [] };
  if ('slug' in of) return { test: 'AND l.slug = +?', values: [of.slug] };
  if ('domain' in of) return { test: 'AND l.domain = +?', values: [of.domain] };
  return { test: `AND ${CATEGORY} = +?`, values: [of.category] };
}

/** Lists the telling changes of one revision, in the order in which they happened. */
export function listTellingChangesOf(published: Published, revision: number, of?: FeedScope): Change[] {
  // A revision with thousands of new listings is read row by row: reading all rows at once takes several times the memory of what
  // is kept.
  const { test, values } = buildTest(of);
  const statement = published.prepare<ChangeRow>(
    `${SELECT} WHERE c.telling = 1 AND c.revision = +? ${test} ORDER BY c.seq`,
  );
  return Array.from(statement.iterate(revision, ...values), parseUnnumbered);
}

/** Lists the newest revisions with telling changes, no later than `until`, newest first. */
export function listTellingRevisions(
  published: Published,
  { until, limit, of }: { until: number; limit: number; of?: FeedScope | undefined },
): number[] {
  const { test, values } = buildTest(of);
  const joined = of === undefined ? '' : 'JOIN listings l ON l.id = c.listing_id';
  const sql = `SELECT DISTINCT c.revision FROM changes c ${joined}
    WHERE c.telling = 1 AND c.revision <= +? ${test} ORDER BY c.revision DESC LIMIT +?`;
  return published
    .prepare<{ revision: number }>(sql)
    .all(until, ...values, limit)
    .map(({ revision }) => revision);
}

function list(published: Published, sql: string, ...parameters: number[]): LoggedChange[] {
  return published
    .prepare<ChangeRow>(sql)
    .all(...parameters)
    .map((row) => ({ ...row, detail: JSON.parse(row.detail) }));
}

function parseUnnumbered({ seq: _seq, detail, ...row }: ChangeRow): Change {
  return { ...row, detail: JSON.parse(detail) };
}
