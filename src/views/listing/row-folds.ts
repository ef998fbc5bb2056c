/** Most rows of one provider, or of one product, on a page. Further ones are folded behind the last of these. */
const ROWS_TOGETHER = 3;

/** The groups of a row: its provider, and the number of its product if that is at several addresses. */
export interface RowGroups {
  /** Registered domain of its API's host; for a host without one, the host with its port. */
  readonly provider: string;
  readonly product: number | null;
}

/**
 * Folds rows by provider and by product until `limit` rows are shown, each with those folded behind it. `taken` is the number of
 * rows shown or folded. With `isWhole`, nothing is folded.
 */
export function foldRows<Row>(
  rows: readonly Row[],
  getGroups: (row: Row) => RowGroups,
  { isWhole, limit = rows.length }: { isWhole: boolean; limit?: number },
) {
  const shown: { row: Row; provider: string; product: number | null; more: Row[] }[] = [];
  let taken = 0;
  for (const row of rows) {
    const { provider, product } = getGroups(row);
    const last = isWhole
      ? undefined
      : (shown.filter((one) => one.provider === provider)[ROWS_TOGETHER - 1] ??
        shown.filter((one) => product !== null && one.product === product)[ROWS_TOGETHER - 1]);
    if (!last && shown.length === limit) break;
    taken += 1;
    if (last) last.more.push(row);
    else shown.push({ row, provider, product, more: [] });
  }
  return { shown, taken };
}
