import type { z } from 'zod';
import type { Change } from '../../../model/change.ts';
import type { goneProblem } from '../../listing/record.ts';
import { EXAMPLE_ID, EXAMPLE_SEEN, EXAMPLE_SLUG } from './catalogue.ts';

/** The answer for the invented listing, as if it had been removed. */
export function buildGoneExample(): z.infer<typeof goneProblem> {
  const decision: Change = {
    revision: 43,
    at: EXAMPLE_SEEN,
    slug: EXAMPLE_SLUG,
    listing_id: EXAMPLE_ID,
    kind: 'delisted',
    reason: 'delisted_by_provider',
    detail: {},
  };
  return {
    type: 'about:blank',
    title: 'Gone',
    status: 410,
    code: 'gone',
    detail: `The listing ${EXAMPLE_SLUG} was removed on ${EXAMPLE_SEEN.slice(0, 10)}.`,
    tombstone: {
      slug: EXAMPLE_SLUG,
      id: EXAMPLE_ID,
      title: 'Example Prices',
      host: 'api.prices.example',
      delisted_at: EXAMPLE_SEEN,
      delisted_by: 'provider',
      reason: 'shut_down',
    },
    decisions: [decision],
  };
}
