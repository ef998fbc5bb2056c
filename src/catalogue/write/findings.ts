import type { Finding } from '../../model/declaration.ts';
import { insertRows } from '../database.ts';
import { listFindings } from '../read/findings.ts';
import { getRowKey } from '../row-keys.ts';
import type { Writing } from '../transaction.ts';

/**
 * Records the findings of an import in place of those of the source's last import. A repeated finding keeps the time at which it
 * was first found.
 */
export async function recordFindings(
  { catalogue, at }: Writing,
  source: string,
  findings: readonly Finding[],
): Promise<void> {
  const recorded = await listFindings(catalogue, source);
  const earlier = new Map(recorded.map(({ item, code, found_at }) => [`${code} ${item}`, found_at]));
  await catalogue.query.deleteFrom('findings').where('source', '=', source).execute();
  const rows = findings.map(({ item, code, severity, message }) => ({
    id: getRowKey(source, item, code, message),
    source,
    item,
    code,
    severity,
    message,
    found_at: earlier.get(`${code} ${item}`) ?? at,
  }));
  await insertRows(catalogue, 'findings', [...new Map(rows.toReversed().map((row) => [row.id, row])).values()]);
}
