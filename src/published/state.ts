import type { Published } from './file.ts';

/** Which catalogue is published, and up to where in its history. */
export interface PublishedState {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest change that readers can see, ISO 8601 UTC. */
  readonly revised_at: string;
}

/** Gives the state of a published catalogue; revision 0 if nothing was ever copied into it. */
export function getPublishedState(published: Published): PublishedState {
  const row = published.prepare<PublishedState>('SELECT identity, revision, revised_at FROM catalogue').get();
  return row ?? { identity: '', revision: 0, revised_at: '' };
}

/** Finds the public key of events for webhooks (`whpk_…`); null before the first event. */
export function findWebhookKey(published: Published): string | null {
  const row = published.prepare<{ webhook_key: string | null }>('SELECT webhook_key FROM catalogue').get();
  return row?.webhook_key ?? null;
}

/** How far writing all listings by their numbers is. */
export interface Making {
  /** 1: into a new file, from which nothing may be read yet; 0: again, by other code than wrote them. */
  readonly first: 0 | 1;
  /** The revision of the catalogue when it began, and the time of that, ISO 8601 UTC. */
  readonly revision: number;
  readonly revised_at: string;
  readonly code_version: string;
  /** Number of the listing that was written last. */
  readonly last: number;
  readonly done: number;
  readonly total: number;
}

/** Finds how far writing all listings is; undefined while that is not being done. */
export function findMaking(published: Published): Making | undefined {
  return published
    .prepare<Making>('SELECT first, revision, revised_at, code_version, last, done, total FROM making')
    .get();
}

/** Gives the version of the code by which all listings were written; empty while that is not one. */
export function getRendering(published: Published): string {
  return published.prepare<{ code_version: string }>('SELECT code_version FROM rendering').get()?.code_version ?? '';
}

/** Finds the time of a revision, ISO 8601 UTC; undefined where the catalogue never had one of that number. */
export function findRevisionTime(published: Published, revision: number): string | undefined {
  return published.prepare<{ at: string }>('SELECT at FROM revisions WHERE revision = ?').get(revision)?.at;
}

/** Gives a number that changes whenever another connection writes to the file (`PRAGMA data_version`). */
export function getFileVersion(published: Published): number {
  return published.prepare<{ data_version: number }>('PRAGMA data_version').get()?.data_version ?? 0;
}
