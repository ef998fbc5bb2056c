import { z } from 'zod';
import { readSelected } from '../../published/listings.ts';
import { selectListings } from '../../published/select.ts';
import { buildAnswerNotes, listQuery, listSort } from '../../views/listing/query.ts';
import { countFitting, getTokenEstimate, STRUCTURED } from '../compact.ts';
import { buildCompactItem, compactItem } from '../compact-item.ts';
import { buildTool } from '../tool.ts';

/** Listings a page where the caller does not say, and at most. */
const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 50;

/** What a page may cost its reader for each listing asked for, as it is sent; a page of longer ones comes short. */
const TOKENS_A_LISTING = 145;

/** Results that the text line names. */
const BRIEF_RESULTS = 3;

const output = z.object({
  revision: z.int().nonnegative().describe('Catalogue revision'),
  total: z.int().nonnegative(),
  weak: z.boolean().optional(),
  notice: z.string().optional(),
  unmatched: z.array(z.string()).optional(),
  next_cursor: z.string().optional().describe('cursor of the next page; absent on the last'),
  listings: z.array(compactItem),
});
type Answer = z.infer<typeof output>;

/** Searches the live listings with the filters of `/agent/list`, in pages short enough for a model. */
export const searchListingsTool = buildTool({
  title: 'Search payable APIs',
  description:
    'Find APIs that are paid for per request in USDC; all filters must hold. With q each comes as the route that fits ' +
    'best: check_payment_terms takes its url and method. Stop on DANGER.',
  // A host or a path is said in q.
  input: listQuery.omit({ facets: true, host: true, path: true }).extend({
    sort: listSort.optional().describe('Default: relevance with q, else name'),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe('Listings a page at most'),
  }),
  output,
  answer: (query, { reading, snapshot }): Answer => {
    const asked = selectListings(reading.published, snapshot, query);
    const { total, next_cursor: cursor } = asked;
    const listings = readSelected(reading.published, asked).map((item) => buildCompactItem(JSON.parse(item)));
    const { revision } = snapshot;
    const { understood = [], notice, ...doubts } = buildAnswerNotes(asked);
    const said = understood.map(({ filter, value, words }) => `"${words.join('", "')}" as ${filter}=${value}`);
    const notices = [said.length > 0 && `Understood ${said.join(', ')}.`, notice].filter(Boolean);
    const notes = { ...doubts, ...(notices.length > 0 && { notice: notices.join(' ') }) };
    const frame = { revision, total, ...notes, ...(cursor !== undefined && { next_cursor: cursor }), listings: [] };
    const line = buildBrief({ ...frame, listings: listings.slice(0, BRIEF_RESULTS) });
    const framing = getTokenEstimate(JSON.stringify(frame)) + getTokenEstimate(JSON.stringify(JSON.stringify(line)));
    const count = countFitting(listings, TOKENS_A_LISTING * query.limit - framing);
    const next_cursor = count < listings.length ? asked.getCursorAfter(count) : cursor;
    return {
      revision,
      total,
      ...notes,
      ...(next_cursor !== undefined && { next_cursor }),
      listings: listings.slice(0, count),
    };
  },
  brief: buildBrief,
});

/** Gives how many fit, and how the best are called at what price: with that a caller can check and call. */
function buildBrief({ total, weak, listings }: Answer) {
  return {
    total,
    ...(weak && { weak }),
    listings: listings.slice(0, BRIEF_RESULTS).map(({ caution, slug, method, url, price_usdc, input }) => ({
      ...(caution?.startsWith('DANGER') && { caution: 'DANGER' }),
      ...{ slug, method, url, price_usdc, input },
    })),
    rest: STRUCTURED,
  };
}
