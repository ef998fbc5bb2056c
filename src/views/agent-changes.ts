import { z } from 'zod';
import { change } from '../model/change.ts';
import { catalogueSummary } from '../model/summary.ts';
import { tombstone } from './tombstone.ts';

export const CHANGES_LIMIT_DEFAULT = 100;
export const CHANGES_LIMIT_MAX = 1000;

/** What a reader asks of the feed of changes. */
export const changesQuery = z.strictObject({
  since: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Revision that the reader has: what became visible after it is listed, oldest first'),
  limit: z.int().min(1).max(CHANGES_LIMIT_MAX).default(CHANGES_LIMIT_DEFAULT).describe('Changes a page'),
  cursor: z.string().max(100).optional().describe('next_cursor of the page before'),
});

/** The answer of `GET /agent/changes`. */
export const agentChanges = z
  .object({
    catalogue: catalogueSummary,
    revision: z
      .int()
      .nonnegative()
      .describe('Catalogue revision of this answer; after the last page, ask again with it as since'),
    since: z.int().nonnegative().describe('What was asked for'),
    next_cursor: z.string().optional().describe('Absent on the last page'),
    changes: z.array(change),
    tombstones: z.array(tombstone).describe('The listings of this page that are delisted now'),
  })
  .meta({ id: 'AgentChanges' });
export type AgentChanges = z.infer<typeof agentChanges>;
