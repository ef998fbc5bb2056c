import { getDomain } from '../../evidence/domains.ts';

/** Rows of one provider on a page; further ones are folded behind the last of these. */
const ROWS_OF_PROVIDER = 3;

/**
 * Folds rows by the registered domains of their hosts (of a host without one, by that and its port) until `limit` of them are
 * shown, each with those behind it; `taken` counts all of these. If `isWhole`, nothing is folded.
 */
export function foldProviders<Row>(
  rows: readonly Row[],
  getHost: (row: Row) => string,
  { isWhole, limit = rows.length }: { isWhole: boolean; limit?: number },
) {
  const shown: { row: Row; provider: string; more: Row[] }[] = [];
  let taken = 0;
  for (const row of rows) {
    const provider = isWhole ? '' : getProvider(getHost(row));
    const last = isWhole ? undefined : shown.filter((one) => one.provider === provider)[ROWS_OF_PROVIDER - 1];
    if (!last && shown.length === limit) break;
    taken += 1;
    if (last) last.more.push(row);
    else shown.push({ row, provider, more: [] });
  }
  return { shown, taken };
}

function getProvider(host: string): string {
  const { href, hostname } = new URL(`https://${host}`);
  const domain = getDomain(href);
  return domain === hostname ? host : domain;
}
