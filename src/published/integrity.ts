import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Catalogue } from '../catalogue/database.ts';
import { openFollowed } from '../catalogue/delta.ts';
import { getCatalogueState } from '../catalogue/transaction.ts';
import { openPublished, type Published } from './file.ts';
import { makeCopy } from './follow.ts';
import { getPublishedState, getRendering } from './state.ts';

/** Most listings named for each table. */
const NAMED_AT_MOST = 5;

/**
 * Lists the tables in which a published catalogue differs from a fresh copy of the catalogue, made in a temporary file; empty if
 * all are the same. Tables are compared by their digests. Throws as `openFollowed` does.
 */
export async function listPublishedFaults(
  catalogue: Catalogue,
  published: Published,
  codeVersion: string,
): Promise<string[]> {
  const [wanted, found] = [await getCatalogueState(catalogue), getPublishedState(published)];
  if (found.identity !== wanted.identity) return ['it was made from another catalogue'];
  if (found.revision !== wanted.revision)
    return [`it is of revision ${found.revision}, the catalogue of ${wanted.revision}`];
  // Texts that other code wrote are not compared: the next start writes them again, and the check of the pages says so.
  const { code_version, base_url } = getRendering(published);
  const leftOut = code_version === codeVersion ? [] : ['answers', 'items', 'rendered_routes', 'rendering'];
  const folder = mkdtempSync(join(tmpdir(), 'published-'));
  const followed = await openFollowed(catalogue.address);
  let fresh: Published | undefined;
  try {
    const file = join(folder, 'published.sqlite');
    await makeCopy(followed, file, { code_version: codeVersion, base_url });
    fresh = openPublished(file);
    return listDifferences(published, fresh, leftOut);
  } finally {
    fresh?.close();
    await followed.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lists the tables that differ, apart from those in `leftOut`. */
function listDifferences(published: Published, fresh: Published, leftOut: readonly string[]): string[] {
  return listTables(fresh)
    .filter((table) => !leftOut.includes(table))
    .flatMap((table) => describeDifference(table, published, fresh) ?? []);
}

function listTables({ sqlite }: Published): string[] {
  return sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all();
}

function describeDifference(table: string, published: Published, fresh: Published): string | undefined {
  const [one, other] = [digestTable(published, table), digestTable(fresh, table)];
  if (one.digest === other.digest) return undefined;
  const numbers = new Set([...one.rows.keys(), ...other.rows.keys()]);
  const differing = [...numbers].filter((number) => one.rows.get(number) !== other.rows.get(number));
  const find = fresh.prepare<{ slug: string }>('SELECT slug FROM listings WHERE number = ?');
  const slugs = differing.slice(0, NAMED_AT_MOST).map((number) => find.get(number)?.slug ?? `number ${number}`);
  const more = differing.length > NAMED_AT_MOST ? ` and ${differing.length - NAMED_AT_MOST} more` : '';
  return differing.length === 0 ? `the table ${table}` : `the table ${table} (${slugs.join(', ')}${more})`;
}

/** Goes through the rows of a table, ordered by all their columns. */
function* iterateRows(published: Published, table: string, columns: readonly string[]): Generator<unknown[]> {
  const order = columns.map((_, at) => at + 1).join(', ');
  yield* published.sqlite.prepare<[], unknown[]>(`SELECT * FROM "${table}" ORDER BY ${order}`).raw().iterate();
}

/** Returns the digest of a table, and a digest of the rows of each listing if the table has rows by listing. */
function digestTable(published: Published, table: string): { digest: string; rows: Map<number, string> } {
  const columns = (published.sqlite.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
  const at = columns.indexOf(table === 'listings' ? 'number' : 'listing');
  const whole = createHash('sha256');
  const rows = new Map<number, string>();
  for (const row of iterateRows(published, table, columns)) {
    const text = JSON.stringify(row);
    whole.update(`${text}\n`);
    if (at < 0) continue;
    const number = Number(row[at]);
    rows.set(
      number,
      createHash('sha256')
        .update(`${rows.get(number) ?? ''}${text}`)
        .digest('base64url'),
    );
  }
  return { digest: whole.digest('base64url'), rows };
}
