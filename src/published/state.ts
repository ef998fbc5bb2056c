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

/** By which code, and for which address of the service, the listings of a published catalogue were written. */
export interface Rendering {
  readonly code_version: string;
  readonly base_url: string;
}

/** Gives by which code, and for which address, all listings were written. */
export function getRendering(published: Published): Rendering {
  const row = published.prepare<Rendering>('SELECT code_version, base_url FROM rendering').get();
  return row ?? { code_version: '', base_url: '' };
}

/** Finds the time of a revision, ISO 8601 UTC; undefined where the catalogue never had one of that number. */
export function findRevisionTime(published: Published, revision: number): string | undefined {
  return published.prepare<{ at: string }>('SELECT at FROM revisions WHERE revision = ?').get(revision)?.at;
}
