import { KEPT_CHANGES, readChangeFeed } from '../../published/change-feed.ts';
import { findTombstone } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import type { Snapshot } from '../../published/snapshot.ts';
import {
  type AgentChanges,
  addSentence,
  agentChanges,
  type ChangesQuery,
  changesQuery,
  POLL_AFTER_SECONDS,
} from '../../views/changes.ts';
import { PATHS } from '../../views/links.ts';
import { buildChangeExample, buildSummaryExample } from '../../views/openapi/example.ts';
import { buildSummed, type Document } from '../document.ts';
import { defineRead } from './define.ts';

/** A page of the reader-visible changes after a revision. */
export const changesEndpoint = defineRead({
  id: 'listChanges',
  path: PATHS.agentChanges,
  summary: 'What changed after a revision, oldest first, tombstones included',
  description:
    'Follow next_cursor to the last page, then come back with its resume_cursor: nothing is missed. 410 ' +
    '(history_replaced) says to start again with since=0, and 503 (since_ahead) that another server was ahead. Far ' +
    'back, changes that later ones supersede are left out unless history is all.',
  query: changesQuery,
  examples: { since: 41, limit: 20, cursor: 'bm90LXJlYWw', history: 'all' },
  answer: {
    description: 'A page of changes',
    schema: agentChanges,
    example: (site): AgentChanges => ({
      catalogue: buildSummaryExample(site),
      revision: 42,
      since: 41,
      resume_cursor: '42-42-mibq1z40-318-1k0v9zc',
      poll_after_seconds: POLL_AFTER_SECONDS,
      changes: [addSentence(buildChangeExample(42))],
      tombstones: [],
    }),
  },
  failures: ['HistoryReplaced'],
  build: (query, { reading, snapshot }) => buildChanges(reading, query, snapshot),
});

/** Builds the page, oldest first. The latest `kept` changes are listed one by one, earlier ones compacted. */
export function buildChanges(reading: Reading, query: ChangesQuery, snapshot: Snapshot, kept = KEPT_CHANGES): Document {
  const { published } = reading;
  const view = query.history === 'all' ? 'whole' : { kept };
  const { since, changes, next, resume, compactedUpTo } = readChangeFeed(published, snapshot, query, view);
  const page: Omit<AgentChanges, 'catalogue' | 'revision'> = {
    since,
    ...(compactedUpTo !== undefined && { compacted_up_to: compactedUpTo }),
    ...(next !== undefined && { next_cursor: next }),
    ...(resume !== undefined && { resume_cursor: resume, poll_after_seconds: POLL_AFTER_SECONDS }),
    changes: changes.map(({ seq: _seq, ...change }) => addSentence(change)),
    tombstones: [...new Set(changes.map(({ slug }) => slug))].flatMap((slug) => findTombstone(published, slug) ?? []),
  };
  return buildSummed(reading, snapshot, { rest: JSON.stringify(page).slice(1) });
}
