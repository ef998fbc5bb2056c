import type { ReleaseHeader } from './release.ts';

/** What a rebuild says while it runs; commands and the server's log render it. Times are in milliseconds. */
export type RebuildEvent =
  /** Another rebuild holds the lock. */
  | { type: 'waiting' }
  /** The pages are compiled, once per code version. */
  | { type: 'compiling'; code_version: string }
  | { type: 'compiled'; code_version: string; ms: number }
  /** How many of the pages that must be rendered are done. */
  | { type: 'rendering'; done: number; total: number }
  /** Something of an earlier release turned out damaged, and is made again. */
  | { type: 'mending'; damage: string }
  /** Something that the page code or the compiler wrote to its error output. */
  | { type: 'said'; text: string };

/** What became of a rebuild. `unchanged`: the current release is of this catalogue, revision, code and settings already. */
export type RebuildResult =
  | { outcome: 'unchanged'; release: ReleaseHeader }
  | { outcome: 'released'; release: ReleaseHeader; rendered: number; linked: number; ms: number };

export type OnRebuildEvent = (event: RebuildEvent) => void;
