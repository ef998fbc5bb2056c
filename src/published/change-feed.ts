import { crc32 } from 'node:zlib';
import { ServiceError } from '../errors.ts';
import {
  findLogPlace,
  type LoggedChange,
  type LogPlace,
  listLatestChanges,
  listLog,
  listTellingChanges,
} from './changes.ts';
import type { Published } from './file.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * How many of the latest changes are given one by one. Earlier ones are compacted: of each subject of a listing
 * only the latest change is left, so that who comes from far back reads what became of each listing, not all it went through.
 */
export const KEPT_CHANGES = 10_000;

/** What a reader asks of the feed. */
export interface FeedQuery {
  readonly since?: number | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** How the log is read: compacted behind the latest `kept` changes, whole, or the telling changes alone. */
export type FeedView = { readonly kept: number } | 'whole' | 'telling';

/** One page of the feed. */
export interface FeedPage {
  /** The revision after which it lists. */
  readonly since: number;
  readonly changes: readonly LoggedChange[];
  /** Where the next page begins; undefined on the last. */
  readonly next: string | undefined;
  /** Where to go on later, once the last page is read; undefined before. */
  readonly resume: string | undefined;
  /** Changes up to this revision may be the latest of their subject alone; undefined where none are. */
  readonly compactedUpTo: number | undefined;
}

/** Where in the log a reader is. */
interface Position {
  readonly since: number;
  readonly place: LogPlace | undefined;
}

/**
 * Reads a page of the log of changes. Call it while the file stays at the revision of the snapshot. A page may end within a
 * revision. A cursor is a place in the log, which nothing moves, with a mark of the change there, so that a cursor of
 * another log is refused. Throws `bad_input` for a cursor or revision that this log does not know.
 */
export function readChangeFeed(
  published: Published,
  { identity, revision }: Snapshot,
  { since, cursor, limit }: FeedQuery,
  view: FeedView,
): FeedPage {
  const from = cursor === undefined ? undefined : findPosition(published, identity, cursor);
  if (from && since !== undefined && since !== from.since) throw buildCursorError();
  const begin = from ?? startAt(published, since ?? 0, revision);
  const { rows, compactedUpTo } = listView(published, begin.place, limit + 1, view);
  const changes = rows.slice(0, limit);
  const isLast = rows.length <= limit;
  const end = isLast ? findLogPlace(published, { upToRevision: revision }) : changes.at(-1);
  return {
    since: begin.since,
    changes,
    next: isLast ? undefined : buildCursor(identity, { since: begin.since, place: end }),
    resume: isLast ? buildCursor(identity, { since: revision, place: end }) : undefined,
    compactedUpTo,
  };
}

function listView(
  published: Published,
  place: LogPlace | undefined,
  limit: number,
  view: FeedView,
): { rows: LoggedChange[]; compactedUpTo: number | undefined } {
  const after = place?.seq ?? 0;
  if (view === 'telling') {
    return { rows: listTellingChanges(published, { after: place, limit }), compactedUpTo: undefined };
  }
  const end = view === 'whole' ? undefined : findLogPlace(published, { upToRevision: Number.MAX_SAFE_INTEGER });
  const upTo = end && view !== 'whole' ? end.seq - view.kept : 0;
  if (upTo <= after) return { rows: listLog(published, { after, limit }), compactedUpTo: undefined };
  const latest = listLatestChanges(published, { after, upTo, limit });
  const rest = limit - latest.length;
  const rows = rest > 0 ? [...latest, ...listLog(published, { after: upTo, limit: rest })] : latest;
  return { rows, compactedUpTo: findLogPlace(published, { seq: upTo })?.revision };
}

function startAt(published: Published, since: number, revision: number): Position {
  // A reader who has seen more than there is has read another catalogue, or this one before it was restored.
  if (since > revision) {
    throw new ServiceError('bad_input', `The catalogue is at revision ${revision}, not yet at ${since}.`, {
      hint: 'Begin again with since=0: this is another catalogue, or an earlier state of it.',
      reason: 'since_ahead',
      details: { revision },
    });
  }
  return { since, place: findLogPlace(published, { upToRevision: since }) };
}

/** Writes a place as `<since>-<place>-<mark>`; the mark says which log it is of and which change is there. */
function buildCursor(identity: string, { since, place }: Position): string {
  return `${since}-${place?.seq ?? 0}-${buildMark(identity, place)}`;
}

function buildMark(identity: string, place: LogPlace | undefined): string {
  const facts = place && [place.seq, place.revision, place.at, place.listing_id, place.kind];
  return crc32([identity, ...(facts ?? [])].join('|')).toString(36);
}

function findPosition(published: Published, identity: string, cursor: string): Position {
  const [, since, seq, mark] = /^(\d{1,15})-(\d{1,15})-([0-9a-z]{1,7})$/.exec(cursor) ?? [];
  if (mark === undefined) throw buildCursorError();
  const place = findLogPlace(published, { seq: Number(seq) });
  if (mark !== buildMark(identity, place) || (place === undefined) !== (Number(seq) === 0)) {
    throw new ServiceError('bad_input', 'What the cursor stands behind is not in the log of this catalogue.', {
      hint: 'Begin again with since=0: this is another catalogue, or one put back to an earlier state since.',
      reason: 'other_log',
    });
  }
  return { since: Number(since), place };
}

function buildCursorError(): ServiceError {
  return new ServiceError('bad_input', 'The cursor is not one of this query.', {
    hint: 'Send the cursor as it came, without since or with the same, or leave it out to begin again.',
    reason: 'bad_cursor',
  });
}
