import { getDomain } from '../../evidence/domains.ts';

/** Rows of one provider, or of one product, on a page; further ones are folded behind the last of these. */
const ROWS_TOGETHER = 3;

/** What rows belong together by: their provider, and the number of their product, where that is at several addresses. */
export interface RowGroups {
  /** Registered domain of the host of their API; of a host without one, that and its port. */
  readonly provider: string;
  readonly product: number | null;
}

/**
 * Folds rows by their provider and by their product until `limit` of them are shown, each with those behind it; `taken` counts all of
 * these. If `isWhole`, nothing is folded.
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

/** Returns the registered domain of a host; of a host without one, that and its port. */
export function getProvider(host: string): string {
  const { href, hostname } = new URL(`https://${host}`);
  const domain = getDomain(href);
  return domain === hostname ? host : domain;
}
