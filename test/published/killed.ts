import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { FollowedFiles } from '../../src/published/follow.ts';

const PUBLISHER = fileURLToPath(new URL('./publisher.ts', import.meta.url));

/** What a publication took that went to its end. */
export interface Taken {
  readonly cpu_s: number;
  readonly memory_mb: number;
  /** The most that the journal had while it was looked at. */
  readonly journal_mb: number;
}

/** Publishes in a process of its own, which is killed once `until` resolves unless it ended. What one took that was killed is not known. */
export async function publishInProcess(
  { catalogueAddress, publishedFile }: FollowedFiles,
  { codeVersion, until }: { codeVersion: string; until?: (ended: AbortSignal) => Promise<unknown> },
): Promise<Taken | undefined> {
  const child = fork(PUBLISHER, [catalogueAddress, publishedFile, codeVersion], { execArgv: [] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  let taken: Omit<Taken, 'journal_mb'> | undefined;
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  child.on('message', (message) => {
    if (typeof message === 'object') taken = message as typeof taken;
    resolve();
  });
  await begun;
  let journal = 0;
  const watching = setInterval(() => {
    journal = Math.max(journal, statSync(`${publishedFile}-wal`, { throwIfNoEntry: false })?.size ?? 0);
  }, 50);
  if (until) {
    const ending = new AbortController();
    void ended.then(() => ending.abort());
    await until(ending.signal);
    child.kill('SIGKILL');
  }
  const [code, signal] = await ended;
  clearInterval(watching);
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`publishing ended with ${code ?? signal}`);
  return taken && { ...taken, journal_mb: journal / 1e6 };
}

function runOn(file: string, work: (sqlite: Sqlite.Database) => void): void {
  const sqlite = new Sqlite(file);
  try {
    work(sqlite);
  } finally {
    sqlite.close();
  }
}

/** The numbers of the listings that were written since `noteWrites`, each as often as that was. */
export function listWritten(file: string): number[] {
  const sqlite = new Sqlite(file, { readonly: true });
  try {
    return sqlite.prepare<[], number>('SELECT number FROM written').pluck().all();
  } finally {
    sqlite.close();
  }
}

/** Has every listing noted that is written from now on. The notes are lost where the file is begun again. */
export function noteWrites(file: string): void {
  runOn(file, (sqlite) =>
    sqlite.exec(`CREATE TABLE written (number INTEGER NOT NULL);
      CREATE TRIGGER noted AFTER INSERT ON listings BEGIN INSERT INTO written VALUES (new.number); END`),
  );
}

export function forgetWrites(file: string): void {
  runOn(file, (sqlite) => sqlite.exec('DROP TRIGGER noted; DROP TABLE written'));
}

/** The row that says how far a file is; undefined for one that is whole, or that has no tables yet. */
export function findMakingOf(file: string): { first: 0 | 1; last: number; done: number; total: number } | undefined {
  if (!statSync(file, { throwIfNoEntry: false })?.size) return undefined;
  const sqlite = new Sqlite(file, { readonly: true });
  try {
    if (sqlite.pragma('user_version', { simple: true }) === 0) return undefined;
    return sqlite
      .prepare<[], { first: 0 | 1; last: number; done: number; total: number }>('SELECT * FROM making')
      .get();
  } finally {
    sqlite.close();
  }
}
