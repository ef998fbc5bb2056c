import { getProviderHost } from '../../evidence/domains.ts';
import { PATHS } from '../links.ts';
import { hasProviderPath } from '../pages/provider-page.ts';

/** Rows of one provider on a page; further ones are folded behind the last of these. */
const ROWS_OF_PROVIDER = 3;

/** A row of a page, and the rows that are folded behind it. */
export interface FoldedRow<Row> {
  readonly row: Row;
  /** Null where nothing is folded behind it. */
  readonly more: {
    /** Registered domain that the hosts have in common. */
    readonly provider: string;
    /** The page of all listings there; null where it has none. */
    readonly href: string | null;
    readonly rows: readonly Row[];
  } | null;
}

/** Folds the rows of a page by their providers. `getHost` gives the host of a row; if `isWhole`, nothing is folded. */
export function foldProviders<Row>(
  rows: readonly Row[],
  getHost: (row: Row) => string,
  isWhole: boolean,
): FoldedRow<Row>[] {
  const ofProviders = isWhole ? [] : [...Map.groupBy(rows, (row) => getProviderHost(getHost(row)))];
  const folds = new Map(
    ofProviders.flatMap(([provider, members]) => {
      const more = members.slice(ROWS_OF_PROVIDER);
      const href = hasProviderPath(provider) ? PATHS.provider(provider) : null;
      return more.length === 0 ? [] : [[members[ROWS_OF_PROVIDER - 1] as Row, { provider, href, rows: more }] as const];
    }),
  );
  const folded = new Set([...folds.values()].flatMap((fold) => fold.rows));
  return rows.flatMap((row) => (folded.has(row) ? [] : { row, more: folds.get(row) ?? null }));
}

/** Counts the rows, from the first, that a page of `limit` rows takes, those that are folded behind them among them. */
export function countTaken<Row>(
  rows: readonly Row[],
  getHost: (row: Row) => string,
  { limit, isWhole }: { limit: number; isWhole: boolean },
): number {
  if (isWhole) return Math.min(limit, rows.length);
  const counts = new Map<string, number>();
  let shown = 0;
  const end = rows.findIndex((row) => {
    const provider = getProviderHost(getHost(row));
    const count = (counts.get(provider) ?? 0) + 1;
    counts.set(provider, count);
    if (count <= ROWS_OF_PROVIDER) shown += 1;
    return shown > limit;
  });
  return end < 0 ? rows.length : end;
}
