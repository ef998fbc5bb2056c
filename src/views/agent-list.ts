import { z } from 'zod';
import { catalogueSummary } from '../model/summary.ts';
import { agentItem } from './agent-item.ts';
import { listFilters, listSort } from './list-query.ts';

/** The answer of `GET /agent/list`. */
export const agentList = z
  .object({
    catalogue: catalogueSummary,
    revision: z.int().nonnegative().describe('Catalogue revision that this answer and its counts are of'),
    filters: listFilters
      .extend({ sort: listSort, limit: z.int() })
      .describe('What was applied; counts in `catalogue` are of the whole catalogue all the same'),
    total: z.int().nonnegative().describe('Number of listings that match'),
    next_cursor: z.string().optional().describe('Absent on the last page'),
    notice: z.string().optional().describe('Where `weak` is true: what that means, in a sentence'),
    weak: z.boolean().optional().describe('With `q`, true where even the best match answers little of the request'),
    unmatched: z.array(z.string()).optional().describe('With `q`, words of the request that nothing was found for'),
    listings: z.array(agentItem),
  })
  .meta({ id: 'AgentList' });
/** What is said where nothing fits a request well. */
export const WEAK_NOTICE = 'Nothing fits all of this; the nearest are listed.';

export type AgentList = z.infer<typeof agentList>;
