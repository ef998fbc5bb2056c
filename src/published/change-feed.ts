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
import { findRevisionTime } from './state.ts';

/**
 * Number of the latest changes that are listed one by one. Of earlier changes only the latest of each subject of a listing is
 * listed, so a reader who starts far back reads the outcome for each listing, not every step.
 */
export const KEPT_CHANGES = 10_000;

/** A request for a page of the feed. */
export interface FeedQuery {
  /** A revision, a cursor, or a date or time (ISO 8601), which stands for the latest revision before it. */
  readonly since?: number | string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The changes that a page lists: all but the latest `kept` compacted, every change (`whole`), or telling changes alone. */
export type FeedView = { readonly kept: number } | 'whole' | 'telling';

/** One page of the feed. */
export interface FeedPage {
  /** The page lists changes after this revision. */
  readonly since: number;
  readonly changes: readonly LoggedChange[];
  /** Cursor of the next page; undefined on the last page. */
  readonly next: string | undefined;
  /** Cursor to read later changes with, on the last page; undefined before it. */
  readonly resume: string | undefined;
  /** Revision up to which the page may list only the latest change of each subject; undefined if no change is left out. */
  readonly compactedUpTo: number | undefined;
}

/** The reader's position in the log. */
interface Position {
  /** The revision after which the reader began. */
  readonly since: number;
  /** The revision that the reader has read up to. */
  readonly revision: number;
  readonly place: LogPlace | undefined;
}

/**
 * Reads a page of the log of changes. Call it while the file stays at the revision of the snapshot. A page may end within a
 * revision. A cursor names a position in the log, the time of its revision and a mark of the change there; these show whether the
 * history was replaced since. Throws `gone` (`history_replaced`) for a cursor of a replaced history, `unavailable`
 * (`since_ahead`) for a revision that this file does not have yet, and `bad_input` (`bad_cursor`) for anything else that is no
 * cursor.
 */
export function readChangeFeed(
  published: Published,
  snapshot: Snapshot,
  { since: asked, cursor, limit }: FeedQuery,
  view: FeedView,
): FeedPage {
  const { revision } = snapshot;
  const since = asked === undefined ? undefined : (findRevisionBefore(published, String(asked)) ?? asked);
  const begin = findPosition(published, snapshot, String(cursor ?? since ?? 0));
  if (since !== undefined && ![cursor ?? String(since), String(begin.since)].includes(String(since))) {
    throw buildCursorError();
  }
  const { rows, compactedUpTo } = listView(published, begin.place, limit + 1, view);
  const changes = rows.slice(0, limit);
  const isLast = rows.length <= limit;
  const end = isLast ? findLogPlace(published, { upToRevision: revision }) : changes.at(-1);
  return {
    since: begin.since,
    changes,
    next: isLast ? undefined : buildCursor(published, { since: begin.since, revision: end?.revision ?? 0, place: end }),
    resume: isLast ? buildCursor(published, { since: revision, revision, place: end }) : undefined,
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

/**
 * A cursor: since, revision, time of the revision (milliseconds, base 36), position in the log, and the mark of the change there.
 */
const CURSOR = /^(\d{1,15})-(\d{1,15})-([0-9a-z]{1,9})-(\d{1,15})-([0-9a-z]{1,7})$/;

/** A revision alone, or a cursor without a time, which counts as the revision that it starts with. */
const BARE = /^(\d{1,15})(-\d{1,15}-[0-9a-z]{5,7})?$/;

/** A date, or a time in ISO 8601, as readers write it. */
const TIME = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Finds the latest revision before a date or time; undefined for a text that is neither. */
function findRevisionBefore({ prepare }: Published, text: string): number | undefined {
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return undefined;
  const sql = 'SELECT coalesce(max(revision), 0) AS revision FROM revisions WHERE at < ?';
  return prepare<{ revision: number }>(sql).get(new Date(time).toISOString())?.revision;
}

function buildCursor(published: Published, { since, revision, place }: Position): string {
  const time = getTime(published, revision).toString(36);
  return [since, revision, time, place?.seq ?? 0, buildMark(place)].join('-');
}

/** Returns the time of a revision in milliseconds; 0 for one that the catalogue never had. */
function getTime(published: Published, revision: number): number {
  return Date.parse(findRevisionTime(published, revision) ?? '') || 0;
}

function buildMark(place: LogPlace | undefined): string {
  const facts = place && [place.revision, place.at, place.listing_id, place.kind];
  return crc32((facts ?? []).join('|')).toString(36);
}

function findPosition(published: Published, { revision: latest, revised_at }: Snapshot, asked: string): Position {
  const [, bare] = BARE.exec(asked) ?? [];
  if (bare !== undefined) {
    const since = Number(bare);
    if (since > latest) throw buildAheadError(since, latest);
    return { since, revision: since, place: findLogPlace(published, { upToRevision: since }) };
  }
  const [, since, at, time = '', seq, mark] = CURSOR.exec(asked) ?? [];
  if (mark === undefined) throw buildCursorError();
  const [revision, ms] = [Number(at), Number.parseInt(time, 36)];
  // Times never go backwards in one history: an earlier revision with a later time is of another.
  if (revision > latest && ms >= Date.parse(revised_at || '1970')) throw buildAheadError(revision, latest);
  const place = findLogPlace(published, { seq: Number(seq) });
  const isSame = revision <= latest && ms === getTime(published, revision) && mark === buildMark(place);
  if (isSame) return { since: Number(since), revision, place };
  throw new ServiceError('gone', 'The history that the cursor is of was replaced by another one.', {
    hint: 'Start again with since=0, and forget what you have: the catalogue was restored, or another database took over.',
    reason: 'history_replaced',
    details: { revision: latest },
  });
}

function buildAheadError(asked: number, revision: number): ServiceError {
  return new ServiceError('unavailable', `The catalogue is at revision ${revision} here, not yet at ${asked}.`, {
    hint: 'Ask again in a few seconds: another server was ahead. If this lasts, start again with since=0.',
    reason: 'since_ahead',
    details: { revision, retry_after_seconds: 5 },
  });
}

function buildCursorError(): ServiceError {
  return new ServiceError('bad_input', 'The cursor is not one of this query.', {
    hint: 'Send the cursor as it came, without since or with the same, or leave it out to begin again.',
    reason: 'bad_cursor',
  });
}
