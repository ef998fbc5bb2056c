import type { Finding } from '../model/finding.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** One harvest of one feed: where it goes on, and whether it is through. */
export interface Pull {
  id: number;
  feed: string;
  started_at: string;
  updated_at: string;
  next_offset: number;
  pages: number;
}

/** Finds the unfinished pull of a feed that was last heard of at `since` (ISO 8601) or later, to go on with it. */
export function findOpenPull(catalogue: Catalogue, feed: string, since: string): Pull | undefined {
  return findRow(
    catalogue,
    catalogue.query
      .selectFrom('pulls')
      .selectAll()
      .where('feed', '=', feed)
      .where('completed_at', 'is', null)
      .where('updated_at', '>=', since)
      .orderBy('id', 'desc')
      .limit(1),
  );
}

/** Starts a pull of a feed at its beginning. */
export function startPull({ catalogue, at }: Writing, feed: string): Pull {
  const row = { feed, started_at: at, updated_at: at, completed_at: null, next_offset: 0, pages: 0 };
  const { lastInsertRowid } = runStatement(catalogue, catalogue.query.insertInto('pulls').values(row));
  return { ...row, id: Number(lastInsertRowid) };
}

/** Records one page of a pull: its raw items (the later of two with one key stands) and where the next page starts. */
export function recordPage(
  { catalogue, at }: Writing,
  pull: Pull,
  page: { items: readonly { key: string; raw: unknown }[]; next_offset: number },
): Pull {
  for (const { key, raw } of page.items) {
    runStatement(
      catalogue,
      catalogue.query
        .insertInto('feed_items')
        .values({ feed: pull.feed, item_key: key, pull_id: pull.id, raw: JSON.stringify(raw) })
        .onConflict((conflict) =>
          conflict.columns(['feed', 'item_key']).doUpdateSet(({ ref }) => ({
            pull_id: ref('excluded.pull_id'),
            raw: ref('excluded.raw'),
          })),
        ),
    );
  }
  const next = { ...pull, next_offset: page.next_offset, pages: pull.pages + 1, updated_at: at };
  const { next_offset, pages, updated_at } = next;
  runStatement(
    catalogue,
    catalogue.query.updateTable('pulls').set({ next_offset, pages, updated_at }).where('id', '=', pull.id),
  );
  return next;
}

/** Records that a pull has seen every page. */
export function completePull({ catalogue, at }: Writing, pull: Pull): void {
  runStatement(
    catalogue,
    catalogue.query.updateTable('pulls').set({ completed_at: at, updated_at: at }).where('id', '=', pull.id),
  );
}

/** Lists the raw items that a pull brought, in a stable order. */
export function listFeedItems(catalogue: Catalogue, pull: Pull): unknown[] {
  const query = catalogue.query
    .selectFrom('feed_items')
    .select('raw')
    .where('feed', '=', pull.feed)
    .where('pull_id', '=', pull.id)
    .orderBy('item_key');
  return listRows(catalogue, query).map(({ raw }) => JSON.parse(raw));
}

/** Records the findings of an import in place of those of the source's last one. */
export function recordFindings({ catalogue, at }: Writing, source: string, findings: readonly Finding[]): void {
  runStatement(catalogue, catalogue.query.deleteFrom('findings').where('source', '=', source));
  for (const { item, code, severity, message } of findings) {
    runStatement(
      catalogue,
      catalogue.query
        .insertInto('findings')
        .values({ source, item, code, severity, message, found_at: at })
        .onConflict((conflict) => conflict.doNothing()),
    );
  }
}

/** Counts the findings on record by severity and code. */
export function countFindings(catalogue: Catalogue): { code: string; severity: string; count: number }[] {
  return listRows(
    catalogue,
    catalogue.query
      .selectFrom('findings')
      .select(({ fn }) => ['code', 'severity', fn.countAll<number>().as('count')])
      .groupBy(['severity', 'code'])
      .orderBy('count', 'desc'),
  );
}
