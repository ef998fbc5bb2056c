import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { createFolder } from '../catalogue/folder.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { DAY_MS } from '../model/duration.ts';
import { checkLine } from '../views/provider-check.ts';
import { submissionState, submissionStep } from '../views/submission.ts';
import { openReports, REPORTS_SCHEMA } from './reports.ts';

/** Time for which submissions are kept, and in which the prober reads the file of a received host; milliseconds. */
export const KEPT_MS = 30 * DAY_MS;
export const READ_WITHIN_MS = DAY_MS;

/** Most submissions. Beyond that, the oldest ones of the clients with the most are removed. */
const MAX_ROWS = 5_000;

/** Most steps of a history, beside the last one. */
const MAX_STEPS = 30;

/** Longest wait for the lock of another process, in milliseconds. */
const BUSY_MS = 5_000;

const APPLICATION_ID = 0x61717565;

const SCHEMA = `
PRAGMA application_id = ${APPLICATION_ID};
CREATE TABLE submissions (
  id TEXT PRIMARY KEY, client TEXT NOT NULL, at TEXT NOT NULL, origin TEXT NOT NULL UNIQUE, state TEXT NOT NULL,
  received_at TEXT, document TEXT NOT NULL
) STRICT;
CREATE INDEX submissions_state ON submissions (state, received_at);`;

/** The wish of somebody that the provider's file of a host is read. */
const submission = z.object({
  /** Last part of its address, which nobody can guess. */
  id: z.string(),
  origin: z.string().refine((text) => URL.parse(text)?.origin === text),
  at: z.iso.datetime(),
  state: submissionState,
  /** Time at which the file was last found there and good; null if it never was. */
  received_at: z.iso.datetime().nullable(),
  /** Every state with its time and reason, the oldest first. */
  history: z.array(submissionStep).min(1),
  /** What the last check found wrong with the provider's file. */
  problems: z.array(checkLine),
  /** The provider's file, filled in by what a check of the host found; null if it found nothing. */
  file: z.string().nullable(),
});
export type Submission = z.infer<typeof submission>;

const count = z.object({ state: submissionState, count: z.number(), oldest: z.string().nullable() });

/** The client that submits, as a hash that gives away no address, and the time. */
interface Writer {
  client: string;
  at: string;
}

/** Opens the queue for writing, and creates it if it is missing. Throws `unavailable` if the file cannot be opened. */
export function openQueue(file: string) {
  return attempt(file, () => {
    createFolder(dirname(file));
    const sqlite = new Sqlite(file, { timeout: BUSY_MS });
    // Without a write-ahead log, readers need no right to write to the folder.
    sqlite.pragma('journal_mode = DELETE');
    sqlite
      .transaction(() => {
        if (!isQueue(sqlite, file)) sqlite.exec(SCHEMA);
        sqlite.exec(REPORTS_SCHEMA);
      })
      .immediate();
    return buildQueue(sqlite);
  });
}

/** Reads the queue with `work`, without a right to write. Returns undefined if there is no queue. Throws as `openQueue` does. */
export function readQueue<Result>(file: string, work: (queue: QueueReading) => Result): Result | undefined {
  if (!existsSync(file)) return undefined;
  return attempt(file, () => {
    const sqlite = new Sqlite(file, { readonly: true, timeout: BUSY_MS });
    try {
      return isQueue(sqlite, file) ? work(buildReading(sqlite)) : undefined;
    } finally {
      sqlite.close();
    }
  });
}

/** Reads the queue as `readQueue` does. Returns nothing if it cannot be read. */
export function tryReadQueue<Item>(file: string, read: (queue: QueueReading) => Item[]): Item[] {
  try {
    return readQueue(file, read) ?? [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [];
  }
}

/** Returns whether a database is a queue; false for an empty one. Throws for any other. */
function isQueue(sqlite: Sqlite.Database, file: string): boolean {
  if (sqlite.pragma('application_id', { simple: true }) === APPLICATION_ID) return true;
  if (sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return false;
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

/** The queue as the prober and the operator's commands read it. */
type QueueReading = ReturnType<typeof buildReading>;

/** Numbers of submissions by state, and the time since which the oldest received one waits. */
export type QueueCounts = ReturnType<QueueReading['count']>;

/** State that older versions recorded if the file was missing; it is read as `problems`. */
const EARLIER_STATE = 'waiting_for_file';
const nameToday = (name: string, value: unknown) => (name === 'state' && value === EARLIER_STATE ? 'problems' : value);

function buildReading(sqlite: Sqlite.Database) {
  const parse = <Schema extends z.ZodType>(schema: Schema, rows: string, ...values: unknown[]): z.infer<Schema>[] => {
    const documents = sqlite
      .prepare<unknown[], string>(`SELECT document FROM ${rows}`)
      .pluck()
      .all(...values);
    return documents.map((text) => schema.parse(JSON.parse(text, nameToday)));
  };
  return {
    /** Finds a submission by its id or its origin. */
    find: (key: string) => parse(submission, 'submissions WHERE id = ? OR origin = ?', key, key)[0],
    /** Lists submissions, the newest first. */
    list: (limit: number) => parse(submission, 'submissions ORDER BY at DESC, id LIMIT ?', limit),
    /** Lists submissions in the state `received`, the one that has waited longest first. */
    listWaiting: (limit: number) =>
      parse(submission, "submissions WHERE state = 'received' ORDER BY received_at LIMIT ?", limit),
    /** Lists those whose file was found good at `since` or later: clients take turns, the oldest first. */
    listReceived: (since: string) =>
      parse(
        submission,
        `submissions WHERE received_at >= ? AND state != 'refused'
         ORDER BY row_number() OVER (PARTITION BY client ORDER BY at), received_at`,
        since,
      ),
    /** Counts submissions by state, with the time since which the oldest received one waits. */
    count() {
      const sql = `SELECT replace(state, '${EARLIER_STATE}', 'problems') AS state, count(*) AS count, min(received_at) AS oldest
        FROM submissions GROUP BY 1`;
      const rows = z.array(count).parse(sqlite.prepare(sql).all());
      const find = (state: Submission['state']) => rows.find((row) => row.state === state);
      const submissions = submissionState.options.map((state) => [state, find(state)?.count ?? 0]);
      return {
        submissions: Object.fromEntries(submissions) as Record<Submission['state'], number>,
        oldest_received_at: find('received')?.oldest ?? null,
      };
    },
  };
}

function buildQueue(sqlite: Sqlite.Database) {
  const reading = buildReading(sqlite);
  const write = (put: Submission, client = ''): Submission => {
    const sql = `INSERT INTO submissions VALUES (@id, @client, @at, @origin, @state, @received_at, @document)
      ON CONFLICT (id) DO UPDATE SET (state, received_at, document) = (@state, @received_at, @document)`;
    const { id, at, origin, state, received_at } = put;
    sqlite.prepare(sql).run({ id, client, at, origin, state, received_at, document: JSON.stringify(put) });
    return put;
  };
  const dropBeyond = (): void => {
    const order = `ORDER BY row_number() OVER (PARTITION BY client ORDER BY at DESC), at DESC LIMIT -1 OFFSET ${MAX_ROWS}`;
    sqlite.exec(`DELETE FROM submissions WHERE id IN (SELECT id FROM submissions ${order})`);
  };
  return {
    ...reading,
    reports: openReports(sqlite),
    /** Returns the submission of an origin, and creates it if it is missing. `file` is the provider's file as the latest check fills it in. */
    submit: sqlite.transaction((origin: string, { client, at, file }: Writer & { file: string | null }): Submission => {
      const known = reading.find(origin);
      if (known) return file === null ? known : write({ ...known, file });
      const [id, state] = [randomBytes(12).toString('hex'), 'problems' as const];
      const history = [{ state, at, reason: 'The file is not on the host yet, as far as we know.' }];
      const made = write({ id, origin, at, state, received_at: null, history, problems: [], file }, client);
      dropBeyond();
      return made;
    }),
    /** Adds a step to the history of a submission. Returns it; undefined if it is gone. */
    move: sqlite.transaction(
      (id: string, step: Submission['history'][number], problems: Submission['problems'] = []) => {
        const before = reading.find(id);
        if (!before) return undefined;
        const last = before.history.at(-1);
        const isSame = last?.state === step.state && last.reason === step.reason;
        // The button can be pressed all day.
        const kept = (isSame ? before.history.slice(0, -1) : before.history).slice(-MAX_STEPS);
        const received_at = step.state === 'received' ? step.at : before.received_at;
        return write({ ...before, state: step.state, received_at, history: [...kept, step], problems });
      },
    ),
    /** Removes what is older than a time. */
    removeBefore: (time: string): void => void sqlite.prepare('DELETE FROM submissions WHERE at < ?').run(time),
    close: (): void => void sqlite.close(),
  };
}
