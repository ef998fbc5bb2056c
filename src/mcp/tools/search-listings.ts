import { z } from 'zod';
import { readSelected } from '../../published/listings.ts';
import { selectListings } from '../../published/select.ts';
import { buildAnswerNotes, listQuery } from '../../views/listing/query.ts';
import { countFitting, getTokenEstimate } from '../compact.ts';
import { buildCompactItem, compactItem } from '../compact-item.ts';
import { buildTool } from '../tool.ts';

/** Listings a page where the caller does not say, and at most. */
const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 50;

/** What a page may cost its reader for each listing asked for; a page of longer ones comes short. */
const TOKENS_A_LISTING = 150;

/** Searches the live listings with the filters of `/agent/list`, in pages short enough for a model. */
export const searchListingsTool = buildTool({
  title: 'Search payable APIs',
  description:
    'Find APIs that are paid for per request in USDC; all filters must hold. Without arguments it lists everything ' +
    'by name. get_listing tells how to call one. Stop on DANGER.',
  // A host or a path is said in q.
  input: listQuery.omit({ host: true, path: true }).extend({
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe('Listings a page at most'),
  }),
  output: z.object({
    revision: z.int().nonnegative().describe('Catalogue revision'),
    total: z.int().nonnegative(),
    weak: z.boolean().optional(),
    notice: z.string().optional(),
    unmatched: z.array(z.string()).optional(),
    next_cursor: z.string().optional().describe('cursor of the next page; absent on the last'),
    listings: z.array(compactItem),
  }),
  answer: (query, { reading, snapshot }) => {
    const asked = selectListings(reading.published, snapshot, query);
    const { total, next_cursor: cursor } = asked;
    const listings = readSelected(reading.published, asked).map((item) => buildCompactItem(JSON.parse(item)));
    const { revision } = snapshot;
    const { understood = [], notice, ...doubts } = buildAnswerNotes(asked);
    const said = understood.map(({ filter, value, words }) => `"${words.join('", "')}" as ${filter}=${value}`);
    const notices = [said.length > 0 && `Understood ${said.join(', ')}.`, notice].filter(Boolean);
    const notes = { ...doubts, ...(notices.length > 0 && { notice: notices.join(' ') }) };
    const frame = getTokenEstimate(JSON.stringify({ revision, total, ...notes, next_cursor: cursor, listings: [] }));
    const count = countFitting(listings, TOKENS_A_LISTING * query.limit - frame);
    const next_cursor = count < listings.length ? asked.getCursorAfter(count) : cursor;
    return {
      revision,
      total,
      ...notes,
      ...(next_cursor !== undefined && { next_cursor }),
      listings: listings.slice(0, count),
    };
  },
});
