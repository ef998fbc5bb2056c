import { listChangesAfter } from '../catalogue/changes.ts';
import { findListing } from '../catalogue/listings.ts';
import { ServiceError } from '../errors.ts';
import { buildPart } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { buildSummary } from '../snapshot/snapshot.ts';
import { type AgentChanges, changesQuery } from '../views/agent-changes.ts';
import { findTombstone } from '../views/tombstone.ts';
import { buildJoinedResponse } from './joined.ts';
import { parseQuery } from './parameters.ts';

/**
 * Serves `GET /agent/changes?since=`: what readers saw change after a revision, oldest first, as a feed that can be
 * followed for ever. A page may end within a revision; its cursor is a place in the log, which nothing moves.
 */
export function createAgentChanges(reading: Reading): (request: Request) => Response {
  const { catalogue, site, getSnapshot, now } = reading;
  return (request) => {
    const { since, limit, cursor } = parseQuery(changesQuery, new URL(request.url).searchParams);
    const snapshot = getSnapshot();
    if (since > snapshot.revision) throw buildAheadError(since, snapshot.revision);
    const until = snapshot.revision;
    const after = cursor === undefined ? 0 : parseCursor(cursor, since);
    const rows = listChangesAfter(catalogue, { since, until, after, limit: limit + 1 });
    const changes = rows.slice(0, limit).map(({ seq: _seq, ...change }) => change);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    const page: Omit<AgentChanges, 'catalogue' | 'revision'> = {
      since,
      ...(last && { next_cursor: `${since}-${last.seq}` }),
      changes,
      tombstones: [...new Set(changes.map(({ slug }) => slug))].flatMap((slug) => {
        const listing = findListing(catalogue, { slug });
        return (listing && findTombstone(listing)) ?? [];
      }),
    };
    const summary = buildSummary(snapshot, site, now());
    const head = `{"catalogue":${JSON.stringify(summary)},"revision":${until}`;
    return buildJoinedResponse(request, {
      head,
      headKey: head.replace(summary.generated_at, ''),
      body: buildPart(`,${JSON.stringify(page).slice(1)}`),
      revision: until,
    });
  };
}

function parseCursor(cursor: string, since: number): number {
  const [, revision, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (seq !== undefined && Number(revision) === since) return Number(seq);
  throw new ServiceError('bad_input', 'The cursor is not one of this query.', {
    hint: 'Send next_cursor as it came, with the same since, or leave cursor out to start at the first page.',
    reason: 'bad_cursor',
  });
}

/** Somebody who has seen more than there is has read another catalogue, or this one before it was put back. */
function buildAheadError(since: number, revision: number): ServiceError {
  return new ServiceError('bad_input', `The catalogue is at revision ${revision}, not yet at ${since}.`, {
    hint: 'Begin again with since=0: this is another catalogue, or an earlier state of it.',
    reason: 'since_ahead',
    details: { revision },
  });
}
