import type { DeclarationSource } from '../model/declaration.ts';
import { type Catalogue, listRows } from './database.ts';

/** How many listings there are of each state; `verified` counts live ones with a settlement-verified route. */
export interface ListingCounts {
  live: number;
  verified: number;
  held: number;
  delisted: number;
}

/** Counts the listings by state. */
export function countListings(catalogue: Catalogue): ListingCounts {
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('listings')
      .select(({ fn }) => ['state', fn.countAll<number>().as('count'), fn.sum<number>('verified').as('verified')])
      .groupBy('state'),
  );
  const counts: ListingCounts = { live: 0, verified: 0, held: 0, delisted: 0 };
  for (const { state, count, verified } of rows) {
    counts[state] = count;
    counts.verified += verified;
  }
  return counts;
}

/** Counts the listings that a source declares and has not withdrawn. */
export function countStandingDeclarations(
  catalogue: Catalogue,
  source: Pick<DeclarationSource, 'kind' | 'name'>,
): number {
  const [row] = listRows(
    catalogue,
    catalogue.query
      .selectFrom('declarations')
      .where('kind', '=', source.kind)
      .where('source', '=', source.name)
      .where('withdrawn_at', 'is', null)
      .select(({ fn }) => fn.countAll<number>().as('count')),
  );
  return row?.count ?? 0;
}
