import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { createFolder } from '../catalogue/folder.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { httpMethod } from '../model/request.ts';
import { checkLine } from '../views/provider-check.ts';
import { submissionState, submissionStep } from '../views/submission.ts';

/** Time for which submissions and reports are kept, in milliseconds. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Time in which the prober reads the file of a received host, in milliseconds. */
export const READ_WITHIN_MS = 24 * 60 * 60 * 1000;

/** Most rows of each table. Of more, the clients with the most rows lose their oldest ones. */
const MAX_ROWS = 5_000;

/** Longest wait for the lock of another process, in milliseconds. */
const BUSY_MS = 5_000;

const APPLICATION_ID = 0x61717565;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS submissions (
  id TEXT PRIMARY KEY,
  origin TEXT NOT NULL UNIQUE,
  client TEXT NOT NULL,
  at TEXT NOT NULL,
  state TEXT NOT NULL,
  received_at TEXT,
  document TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS submissions_state ON submissions (state, at);
CREATE TABLE IF NOT EXISTS reports (
  id INTEGER PRIMARY KEY,
  client TEXT NOT NULL,
  at TEXT NOT NULL,
  "transaction" TEXT NOT NULL,
  slug TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE ("transaction", slug, method, path)
) STRICT;
`;

const document = z.object({
  /** Every state with its time and reason, the oldest first. */
  history: z.array(submissionStep).min(1),
  /** What the last check found wrong with the provider's file. */
  problems: z.array(checkLine),
  /** The provider's file, filled in by what a check of the host found; null if it found nothing. */
  file: z.string().nullable(),
});
type Document = z.infer<typeof document>;

/** The wish of somebody that the provider's file of a host is read. */
export interface Submission extends Document {
  /** Last part of its address, which nobody can guess. */
  readonly id: string;
  readonly origin: string;
  readonly at: string;
  readonly state: z.infer<typeof submissionState>;
  /** Time at which the file was last found there and good; null if it never was. */
  readonly received_at: string | null;
}

const submissionRow = z
  .object({
    id: z.string(),
    origin: z.string().refine((text) => URL.parse(text)?.origin === text),
    at: z.iso.datetime(),
    state: submissionState,
    received_at: z.iso.datetime().nullable(),
    document: z.string().transform((text) => document.parse(JSON.parse(text))),
  })
  .transform(({ document: written, ...row }): Submission => ({ ...row, ...written }));

const reportRow = z.object({
  at: z.iso.datetime(),
  transaction: z.string(),
  slug: z.string(),
  method: httpMethod,
  path: z.string(),
});

/** The word of a buyer that a transaction paid for a route which brought nothing. It counts once it is found on the chain. */
export type BuyerReport = z.infer<typeof reportRow>;

const COLUMNS = 'id, origin, at, state, received_at, document';

/** How many earlier rows the same client has, so that clients take turns, however many rows one of them has. */
const TURN = 'row_number() OVER (PARTITION BY client ORDER BY at)';

/** Opens the queue for writing, and creates it if it is missing. Throws `unavailable` if the file cannot be opened. */
export function openQueue(file: string) {
  return attempt(file, () => {
    createFolder(dirname(file));
    const sqlite = new Sqlite(file, { timeout: BUSY_MS });
    refuseOther(sqlite, file);
    // Without a write-ahead log, readers need no right to write to the folder.
    sqlite.pragma('journal_mode = DELETE');
    sqlite.pragma(`application_id = ${APPLICATION_ID}`);
    sqlite.exec(SCHEMA);
    return buildQueue(sqlite);
  });
}

/** Reads the queue with `work`, without a right to write. Returns undefined if there is no queue. Throws as `openQueue` does. */
export function readQueue<Result>(file: string, work: (queue: QueueReading) => Result): Result | undefined {
  if (!existsSync(file)) return undefined;
  return attempt(file, () => {
    const sqlite = new Sqlite(file, { readonly: true, timeout: BUSY_MS });
    try {
      refuseOther(sqlite, file);
      return work(buildReading(sqlite));
    } finally {
      sqlite.close();
    }
  });
}

/** Throws for a database that is not a queue. An empty file is one that was not written yet. */
function refuseOther(sqlite: Sqlite.Database, file: string): void {
  const id = sqlite.pragma('application_id', { simple: true });
  if (id === APPLICATION_ID || sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return;
  sqlite.close();
  throw new ServiceError('bad_input', `${file} is a database, but not that of submissions.`, {
    hint: 'Set SUBMISSIONS to a file of its own.',
    reason: 'bad_setting',
  });
}

function attempt<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('unavailable', `The submissions in ${file} cannot be read: ${getErrorMessage(error)}.`, {
      hint: 'Check that SUBMISSIONS names the file of the intake, and that this user may read it.',
      reason: 'queue_failed',
      cause: error,
    });
  }
}

/** The queue as the prober, the payer and the operator's commands read it. */
export type QueueReading = ReturnType<typeof buildReading>;

/** Numbers of submissions by state, and of reports. */
export type QueueCounts = ReturnType<QueueReading['count']>;

function buildReading(sqlite: Sqlite.Database) {
  const isWritten = () => sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'reports'").get() !== undefined;
  const all = (sql: string, ...values: unknown[]): unknown[] => (isWritten() ? sqlite.prepare(sql).all(...values) : []);
  const first = (sql: string, value: string): Submission | undefined =>
    all(sql, value).map((row) => submissionRow.parse(row))[0];
  return {
    find: (id: string) => first(`SELECT ${COLUMNS} FROM submissions WHERE id = ?`, id),
    findByOrigin: (origin: string) => first(`SELECT ${COLUMNS} FROM submissions WHERE origin = ?`, origin),
    /** Lists all submissions, the newest first. */
    list: (limit: number): Submission[] =>
      all(`SELECT ${COLUMNS} FROM submissions ORDER BY at DESC, id LIMIT ?`, limit).map((row) =>
        submissionRow.parse(row),
      ),
    /** Lists submissions in a state, the one that has waited longest first. */
    listIn: (state: Submission['state'], limit: number): Submission[] =>
      all(`SELECT ${COLUMNS} FROM submissions WHERE state = ? ORDER BY received_at, at LIMIT ?`, state, limit).map(
        (row) => submissionRow.parse(row),
      ),
    /** Lists the origins whose file was found good at `since` or later, with the time: clients take turns, the oldest first. */
    listReceived: (since: string): { origin: string; received_at: string }[] =>
      all(
        `SELECT origin, received_at FROM submissions WHERE received_at >= ? AND state != 'refused' ORDER BY ${TURN}, received_at`,
        since,
      ).map((row) => receivedRow.parse(row)),
    /** Lists the reports since a time: clients take turns, the newest first. */
    listReports: (since: string): BuyerReport[] =>
      all(
        `SELECT at, "transaction", slug, method, path FROM reports WHERE at >= ?
         ORDER BY row_number() OVER (PARTITION BY client ORDER BY at DESC), at DESC`,
        since,
      ).map((row) => reportRow.parse(row)),
    /** Counts submissions by state, and reports, with the time since which the oldest received one waits. */
    count() {
      const rows = z
        .array(z.object({ state: submissionState, count: z.number(), oldest: z.string().nullable() }))
        .parse(all('SELECT state, count(*) AS count, min(received_at) AS oldest FROM submissions GROUP BY state'));
      const [reports] = z.array(z.object({ count: z.number() })).parse(all('SELECT count(*) AS count FROM reports'));
      const states = submissionState.options.map((state) => {
        return [state, rows.find((row) => row.state === state)?.count ?? 0] as const;
      });
      return {
        submissions: Object.fromEntries(states) as Record<Submission['state'], number>,
        oldest_received_at: rows.find(({ state }) => state === 'received')?.oldest ?? null,
        reports: reports?.count ?? 0,
      };
    },
  };
}

const receivedRow = submissionRow.in.pick({ origin: true }).extend({ received_at: z.iso.datetime() });

function buildQueue(sqlite: Sqlite.Database) {
  const reading = buildReading(sqlite);
  const write = ({ id, state, received_at, history, problems, file }: Submission): void => {
    const written = JSON.stringify({ history, problems, file } satisfies Document);
    sqlite
      .prepare('UPDATE submissions SET state = ?, received_at = ?, document = ? WHERE id = ?')
      .run(state, received_at, written, id);
  };
  const dropBeyond = (table: 'submissions' | 'reports'): void => {
    const { count } = z
      .object({ count: z.number() })
      .parse(sqlite.prepare(`SELECT count(*) AS count FROM ${table}`).get());
    if (count <= MAX_ROWS) return;
    const last = `SELECT id FROM ${table} ORDER BY ${TURN} DESC, at LIMIT ?`;
    sqlite.prepare(`DELETE FROM ${table} WHERE id IN (${last})`).run(count - MAX_ROWS);
  };
  return {
    ...reading,
    /** Returns the submission of an origin, which is created if there is none. `file` is that of the latest check. */
    submit: sqlite.transaction(
      (origin: string, { client, at, file }: { client: string; at: string; file: string | null }): Submission => {
        const known = reading.findByOrigin(origin);
        if (known) {
          if (file !== null && file !== known.file) write({ ...known, file });
          return { ...known, file: file ?? known.file };
        }
        const id = randomBytes(18).toString('base64url');
        const state = 'waiting_for_file';
        const history = [{ state, at, reason: 'The file is not on the host yet, as far as we know.' } as const];
        const row = { id, origin, at, state, received_at: null, history, problems: [], file } as const;
        sqlite
          .prepare('INSERT INTO submissions (id, origin, client, at, state, document) VALUES (?, ?, ?, ?, ?, ?)')
          .run(id, origin, client, at, state, JSON.stringify({ history, problems: [], file } satisfies Document));
        dropBeyond('submissions');
        return { ...row, history: [...history], problems: [] };
      },
    ),
    /** Adds a step to the history of a submission. Returns it; undefined if it is gone. */
    move: sqlite.transaction(
      (
        id: string,
        step: Submission['history'][number],
        problems: Submission['problems'] = [],
      ): Submission | undefined => {
        const before = reading.find(id);
        if (!before) return undefined;
        const last = before.history.at(-1);
        const isSame = last?.state === step.state && last.reason === step.reason;
        // Somebody may press the button all day.
        const kept = (isSame ? before.history.slice(0, -1) : before.history).slice(-MAX_STEPS);
        const received_at = step.state === 'received' ? step.at : before.received_at;
        const moved = { ...before, state: step.state, received_at, history: [...kept, step], problems };
        write(moved);
        return moved;
      },
    ),
    /** Keeps a report; the same one once. */
    report: sqlite.transaction(({ at, transaction, slug, method, path }: BuyerReport, client: string): void => {
      sqlite
        .prepare(
          'INSERT OR IGNORE INTO reports (client, at, "transaction", slug, method, path) VALUES (?, ?, ?, ?, ?, ?)',
        )
        .run(client, at, transaction, slug, method, path);
      dropBeyond('reports');
    }),
    /** Removes what is older than a time. */
    removeBefore: sqlite.transaction((time: string): void => {
      for (const table of ['submissions', 'reports']) sqlite.prepare(`DELETE FROM ${table} WHERE at < ?`).run(time);
    }),
    close: (): void => void sqlite.close(),
  };
}

/** Most steps of a history, beside the last one. */
const MAX_STEPS = 30;
