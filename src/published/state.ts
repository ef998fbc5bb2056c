import type { Published } from './file.ts';

/** The identity of the published catalogue, and its latest revision. */
export interface PublishedState {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest change that readers can see, ISO 8601 UTC. */
  readonly revised_at: string;
}

/** Returns the state of a published catalogue; revision 0 for an empty one. */
export function getPublishedState(published: Published): PublishedState {
  const row = published.prepare<PublishedState>('SELECT identity, revision, revised_at FROM catalogue').get();
  return row ?? { identity: '', revision: 0, revised_at: '' };
}

/** The code version that wrote the listings of a published catalogue, and the base URL that they were written for. */
export interface Rendering {
  readonly code_version: string;
  readonly base_url: string;
}

/** Returns the code version that wrote all listings, and the base URL that they were written for. */
export function getRendering(published: Published): Rendering {
  const row = published.prepare<Rendering>('SELECT code_version, base_url FROM rendering').get();
  return row ?? { code_version: '', base_url: '' };
}

/** Finds the time of a revision, ISO 8601 UTC; undefined if the catalogue never had that revision. */
export function findRevisionTime(published: Published, revision: number): string | undefined {
  return published.prepare<{ at: string }>('SELECT at FROM revisions WHERE revision = ?').get(revision)?.at;
}
