import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { suggestion } from '../../model/suggestion.ts';
import { findComparedRoutes } from '../../published/compared-routes.ts';
import { selectFoldedPage } from '../../published/folded-page.ts';
import { readSelected } from '../../published/listings.ts';
import type { AtRevision } from '../../published/reading.ts';
import { compareQuery, describeAbsence } from '../../views/compare.ts';
import { buildMatchedRoute } from '../../views/listing/matched-route.ts';
import { buildAnswerNotes, foldedListings, listQuery, listSort } from '../../views/listing/query.ts';
import { countFitting, getTokenEstimate } from '../compact.ts';
import { buildCompactItem, type CompactItem, compactItem } from '../compact-listing.ts';
import { buildTool } from '../tool.ts';

/** Listings on a page by default and at most. */
const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 50;

/** Tokens of a page, as it is sent, for each listing asked for; a page with longer listings has fewer. */
const TOKENS_A_LISTING = 145;

const output = z.object({
  revision: z.int().nonnegative(),
  total: z.int().nonnegative(),
  weak: z.boolean().optional(),
  notice: z.string().optional(),
  unmatched: z.array(z.string()).optional(),
  suggested: z.array(suggestion).optional(),
  next_cursor: z.string().optional(),
  listings: z.array(compactItem),
  folded: z.array(foldedListings).optional(),
});
type Answer = z.infer<typeof output>;

/** Searches the live listings with the filters of `/agent/list`, in pages that are short enough for a model. */
export const searchListingsTool = buildTool({
  title: 'Search payable APIs',
  description:
    'Find APIs that are paid for per request in USDC; all filters must hold. With q each comes as the route that fits ' +
    'best: check_payment_terms takes its url and method. Stop on DANGER.',
  // A path can be given in `q`.
  input: listQuery.omit({ facets: true, path: true }).extend({
    sort: listSort.optional().describe('Default: relevance with q, else name'),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe('At most a page'),
    compare: compareQuery.shape.routes.optional().describe('Alone: routes, each "slug METHOD url"'),
  }),
  output,
  answer: ({ compare, ...query }, { reading, snapshot }): Answer => {
    if (compare) return buildComparison(compare, query, { reading, snapshot });
    const { selected: asked, cut } = selectFoldedPage(reading.published, snapshot, query);
    const { total } = asked;
    const most = cut();
    const listings = readSelected(reading.published, most).map((item) => buildCompactItem(JSON.parse(item)));
    const { revision } = snapshot;
    const notes = buildAnswerNotes(asked);
    const frame = { revision, total, ...notes, ...most.rest, listings: [] };
    const count = countFitting(listings, TOKENS_A_LISTING * query.limit - getTokenEstimate(JSON.stringify(frame)));
    return { revision, total, ...notes, ...cut(count).rest, listings: listings.slice(0, count) };
  },
});

/** Builds the answer that compares routes, in the given order; the notice names the missing ones. */
function buildComparison(
  names: readonly string[],
  { limit: _limit, ...filters }: Record<string, unknown>,
  { reading, snapshot }: AtRevision,
): Answer {
  const [filter] = Object.keys(filters).filter((name) => filters[name] !== undefined);
  if (filter !== undefined) {
    throw new ServiceError('bad_input', `The argument compare goes without ${filter}.`, {
      hint: 'Compare routes that you name, or search: one call for each.',
      reason: 'bad_arguments',
    });
  }
  const { published } = reading;
  const listings: CompactItem[] = [];
  const absent: string[] = [];
  for (const found of findComparedRoutes(published, names)) {
    const { live, route } = found;
    if (!live || !route) absent.push(describeAbsence(found));
    else listings.push(buildCompactItem({ ...live, route: buildMatchedRoute(live, route) }));
  }
  return {
    revision: snapshot.revision,
    total: listings.length,
    ...(absent.length > 0 && { notice: absent.join(' ') }),
    listings,
  };
}
