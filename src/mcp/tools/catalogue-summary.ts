import { z } from 'zod';
import { CATEGORIES, catalogueSummary, category } from '../../model/catalogue.ts';
import { countByCategory } from '../../published/page-lists.ts';
import { buildSummary } from '../../published/snapshot.ts';
import { VERIFIED_MEANING } from '../../views/site.ts';
import { buildTool } from '../tool.ts';

/** Returns the counts of the catalogue, the same as in the OpenAPI document and `/agent/list`. */
export const catalogueSummaryTool = buildTool({
  title: 'Catalogue summary',
  description:
    'How many APIs are listed, how many are settlement-verified and what that means, by category, and the revision of ' +
    'the catalogue that these counts are of.',
  input: z.strictObject({}),
  output: catalogueSummary.extend({
    revision: z.int().nonnegative().describe('Rises with every change that readers can see'),
    revised_at: z.string().describe('Time of the latest such change'),
    by_category: z.array(z.object({ category, live_listings: z.int().nonnegative() })),
    settlement_verified_means: z.string(),
  }),
  answer: (_args, { reading, snapshot }) => {
    const counts = countByCategory(reading.published);
    return {
      ...buildSummary(snapshot, reading.site, reading.now()),
      revision: snapshot.revision,
      revised_at: snapshot.revised_at,
      by_category: CATEGORIES.map((name) => ({ category: name, live_listings: counts.get(name) ?? 0 })),
      settlement_verified_means: VERIFIED_MEANING,
    };
  },
});
