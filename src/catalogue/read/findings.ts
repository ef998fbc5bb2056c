import { sql } from 'kysely';
import type { Finding } from '../../model/declaration.ts';
import type { Catalogue } from '../database.ts';

/** A finding on record: its source, and when it was first found, ISO 8601 UTC. */
export interface RecordedFinding extends Finding {
  source: string;
  found_at: string;
}

/** Lists the findings on record of a source. */
export async function listFindings({ query }: Catalogue, source: string): Promise<RecordedFinding[]> {
  return await query
    .selectFrom('findings')
    .select(['source', 'item', 'code', 'severity', 'message', 'found_at'])
    .where('source', '=', source)
    .execute();
}

/** Returns true if these are exactly the recorded findings of a source, in any order. */
export async function areFindingsOnRecord(
  catalogue: Catalogue,
  source: string,
  findings: readonly Finding[],
): Promise<boolean> {
  const recorded = new Set((await listFindings(catalogue, source)).map(getFindingKey));
  const found = new Set(findings.map(getFindingKey));
  return recorded.size === found.size && [...found].every((key) => recorded.has(key));
}

function getFindingKey({ item, code, severity, message }: Finding): string {
  return JSON.stringify([item, code, severity, message]);
}

/** Returns the number of recorded findings by severity and code. */
export async function countFindings({
  query,
}: Catalogue): Promise<{ code: string; severity: Finding['severity']; count: number }[]> {
  return await query
    .selectFrom('findings')
    .select(({ fn }) => ['code', 'severity', fn.countAll<number>().as('count')])
    .groupBy(['severity', 'code'])
    .orderBy('count', 'desc')
    .orderBy('code')
    .execute();
}

/** Lists the findings about an address and all addresses below it, refusals first. */
export async function listFindingsAbout({ query }: Catalogue, address: string): Promise<RecordedFinding[]> {
  const pattern = `%${address.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const rows = await query
    .selectFrom('findings')
    .select(['source', 'item', 'code', 'severity', 'message', 'found_at'])
    .where(sql<boolean>`item LIKE ${pattern} ESCAPE '\\'`)
    .orderBy('severity', 'desc')
    .orderBy('item')
    .orderBy('code')
    .execute();
  return rows.filter(({ item }) => isBelow(item, address));
}

/** Returns true if an item is at an address or below it: `https://a.example.org` is not below `https://a.example`. */
function isBelow(item: string, address: string): boolean {
  const at = item.indexOf(address);
  const next = item[at + address.length];
  return at >= 0 && (next === undefined || address.endsWith('/') || '/?#'.includes(next));
}
