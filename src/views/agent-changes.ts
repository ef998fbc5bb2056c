import { z } from 'zod';
import { catalogueSummary } from '../model/catalogue.ts';
import { change } from '../model/change.ts';
import { tombstone } from './listing/record.ts';

export const CHANGES_LIMIT_DEFAULT = 100;
export const CHANGES_LIMIT_MAX = 1000;

/** How long a reader who has read all had best wait before asking again. */
export const POLL_AFTER_SECONDS = 60;

/** What a reader asks of the feed of changes. */
export const changesQuery = z.strictObject({
  since: z
    .int()
    .nonnegative()
    .optional()
    .describe('Revision that the reader has (0: none): what became visible after it is listed, oldest first'),
  limit: z.int().min(1).max(CHANGES_LIMIT_MAX).default(CHANGES_LIMIT_DEFAULT).describe('Changes a page'),
  cursor: z
    .string()
    .max(100)
    .optional()
    .describe('next_cursor of the page before, or resume_cursor of the last page read; it carries its since'),
  history: z
    .enum(['compact', 'all'])
    .default('compact')
    .describe('compact: of what lies far back only what it came to; all: every change ever made'),
});
export type ChangesQuery = z.infer<typeof changesQuery>;

/** The answer of `GET /agent/changes`. */
export const agentChanges = z
  .object({
    catalogue: catalogueSummary,
    revision: z
      .int()
      .nonnegative()
      .describe('Catalogue revision of this answer; after the last page, ask again with it as since'),
    since: z.int().nonnegative().describe('The revision after which is listed'),
    compacted_up_to: z
      .int()
      .positive()
      .optional()
      .describe(
        'Up to this revision superseded changes are left out: of each listing the latest change of its state, of each ' +
          'route its latest verification, and the latest of each other kind are here. Its routes and words are in ' +
          '/agent/listings/{slug}',
      ),
    next_cursor: z.string().optional().describe('Absent on the last page'),
    resume_cursor: z
      .string()
      .optional()
      .describe(
        'On the last page: the cursor to come back with for what happens later. Unlike since it is refused (other_log) ' +
          'when the catalogue was put back to an earlier state meanwhile',
      ),
    poll_after_seconds: z.int().positive().optional().describe('On the last page: asking sooner seldom tells more'),
    changes: z.array(change),
    tombstones: z.array(tombstone).describe('The listings of this page that are delisted now'),
  })
  .meta({ id: 'AgentChanges' });
export type AgentChanges = z.infer<typeof agentChanges>;
