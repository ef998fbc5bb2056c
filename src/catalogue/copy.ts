import { createHash } from 'node:crypto';
import { type Insertable, type Kysely, sql } from 'kysely';
import { ServiceError } from '../errors.ts';
import { type Catalogue, holdState, runTransaction } from './database.ts';
import type { Tables } from './tables.ts';

/** The tables, each after those that it refers to, with their key columns. */
const KEYS: { readonly [Name in keyof Tables]: readonly (keyof Tables[Name] & string)[] } = {
  catalogue: ['id'],
  revisions: ['revision'],
  listings: ['number'],
  declarations: ['listing_id', 'kind', 'source'],
  delistings: ['listing_id', 'by'],
  replies: ['id'],
  routes: ['id'],
  terms: ['id'],
  receipts: ['id'],
  corrections: ['receipt_id'],
  listing_names: ['name', 'listing_id'],
  payments: ['id'],
  changes: ['seq'],
  listing_days: ['day'],
  pulls: ['id'],
  feed_items: ['id'],
  findings: ['id'],
  samples: ['id'],
  rounds: ['round', 'prober'],
  probe_targets: ['listing_id'],
  hosts: ['host'],
  probe_runs: ['id'],
};

/** The primary keys that the database generates. */
const COUNTED = [
  ['listings', 'number'],
  ['terms', 'id'],
  ['changes', 'seq'],
  ['pulls', 'id'],
  ['samples', 'id'],
  ['probe_runs', 'id'],
] as const;

/** Rows that are copied at a time. */
const ROWS_AT_ONCE = 500;

/** The copied catalogue. */
export interface CopiedCatalogue {
  readonly identity: string;
  readonly revision: number;
  readonly rows: number;
}

/**
 * Copies a catalogue at one moment into an empty one, whatever engines they are in, and compares both by the digests of their
 * rows. At the end everything is there, or nothing. Throws `conflict` if the target is not empty, `unavailable` once `signal` is
 * aborted, and `internal` if the copy differs. `onCopied` is called with the number of rows copied so far.
 */
export async function copyCatalogue(
  source: Catalogue,
  target: Catalogue,
  { onCopied, signal }: { onCopied?: (rows: number) => void; signal?: AbortSignal } = {},
): Promise<CopiedCatalogue> {
  return holdState(source, (held) =>
    runTransaction(target, async ({ query, engine }) => {
      await refuseUsed(query, target.name);
      let copied = 0;
      const digests = new Map<string, string>();
      for (const name of Object.keys(KEYS) as (keyof Tables)[]) {
        const digest = createHash('sha256');
        for await (const rows of readRows(held.query, name)) {
          if (signal?.aborted) {
            throw new ServiceError('unavailable', 'The copy was stopped, and nothing was written.', {
              reason: 'stopped',
            });
          }
          for (const row of rows) digest.update(formatRow(row));
          await query
            .insertInto(name)
            .values(rows as Insertable<Tables[typeof name]>[])
            .execute();
          copied += rows.length;
          onCopied?.(copied);
        }
        digests.set(name, digest.digest('hex'));
      }
      await engine.resetCounters(query, COUNTED);
      for (const [name, wanted] of digests) {
        if ((await digestTable(query, name as keyof Tables)) === wanted) continue;
        throw new ServiceError('internal', `The table ${name} was not copied as it is; nothing was written.`, {
          hint: 'Try again; if it fails again, check both databases.',
          reason: 'copy_differs',
        });
      }
      const { identity, revision } = await query.selectFrom('catalogue').selectAll().executeTakeFirstOrThrow();
      return { identity, revision, rows: copied };
    }),
  );
}

async function refuseUsed(query: Kysely<Tables>, name: string): Promise<void> {
  const state = await query.selectFrom('catalogue').selectAll().executeTakeFirst();
  const evidence = await query.selectFrom('listings').select('id').limit(1).executeTakeFirst();
  if ((state?.revision ?? 0) > 0 || evidence) {
    throw new ServiceError('conflict', `${name} already holds a catalogue of revision ${state?.revision}.`, {
      hint: 'Name a new file or an empty database: a copy never replaces anything.',
      reason: 'exists',
    });
  }
  await query.deleteFrom('catalogue').execute();
}

/** Goes through the rows of a table in the order of its key. */
async function* readRows(
  query: Kysely<Tables>,
  name: keyof Tables,
): AsyncGenerator<Readonly<Record<string, unknown>>[]> {
  const key = sql.join(KEYS[name].map((column) => sql.ref(column)));
  for (let last: unknown[] | undefined; ; ) {
    const behind = last ? sql`WHERE (${key}) > (${sql.join(last)})` : sql``;
    const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)} ${behind}
      ORDER BY ${key} LIMIT ${sql.lit(ROWS_AT_ONCE)}`.execute(query);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    last = KEYS[name].map((column) => rows.at(-1)?.[column]);
  }
}

async function digestTable(query: Kysely<Tables>, name: keyof Tables): Promise<string> {
  const digest = createHash('sha256');
  for await (const rows of readRows(query, name)) for (const row of rows) digest.update(formatRow(row));
  return digest.digest('hex');
}

/** Writes a row so that equal rows give equal texts, whatever the order of the columns in the engine. */
function formatRow(row: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))}\n`;
}
