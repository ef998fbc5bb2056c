import { KEPT_CHANGES, readChangeFeed } from '../snapshot/change-feed.ts';
import { buildPart } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { buildSummary } from '../snapshot/snapshot.ts';
import { type AgentChanges, type ChangesQuery, changesQuery, POLL_AFTER_SECONDS } from '../views/agent-changes.ts';
import { buildJoinedResponse } from './joined.ts';
import { parseQuery } from './parameters.ts';

/**
 * Serves `GET /agent/changes?since=`: what readers saw change after a revision, oldest first, as a feed that can be
 * followed for ever. `kept` of the latest changes are given one by one, what lies further back compacted.
 */
export function createAgentChanges(reading: Reading, { kept = KEPT_CHANGES } = {}): (request: Request) => Response {
  const { catalogue, site, getSnapshot, now } = reading;
  // One transaction, so that the page and the snapshot it is told with are of one revision.
  const read = catalogue.sqlite.transaction((query: ChangesQuery) => {
    const snapshot = getSnapshot();
    return { snapshot, feed: readChangeFeed(catalogue, snapshot, query, query.history === 'all' ? 'whole' : { kept }) };
  });
  return (request) => {
    const { snapshot, feed } = read(parseQuery(changesQuery, new URL(request.url).searchParams));
    const { since, changes, next, resume, compactedUpTo } = feed;
    const page: Omit<AgentChanges, 'catalogue' | 'revision'> = {
      since,
      ...(compactedUpTo !== undefined && { compacted_up_to: compactedUpTo }),
      ...(next !== undefined && { next_cursor: next }),
      ...(resume !== undefined && { resume_cursor: resume, poll_after_seconds: POLL_AFTER_SECONDS }),
      changes: changes.map(({ seq: _seq, ...change }) => change),
      tombstones: [...new Set(changes.map(({ slug }) => slug))].flatMap((slug) => snapshot.tombstones.get(slug) ?? []),
    };
    const summary = buildSummary(snapshot, site, now());
    const head = `{"catalogue":${JSON.stringify(summary)},"revision":${snapshot.revision}`;
    return buildJoinedResponse(request, {
      head,
      headKey: head.replace(summary.generated_at, ''),
      body: buildPart(`,${JSON.stringify(page).slice(1)}`),
      revision: snapshot.revision,
    });
  };
}
