import type { Finding } from '../model/declaration.ts';
import { type Catalogue, listRows, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** A finding on record: its source, and when it was first found, ISO 8601 UTC. */
export interface RecordedFinding extends Finding {
  source: string;
  found_at: string;
}

/**
 * Records the findings of an import, in place of those of the source's last import. What is found again keeps the time of
 * its first finding.
 */
export function recordFindings({ catalogue, at }: Writing, source: string, findings: readonly Finding[]): void {
  const earlier = new Map(
    listRows(catalogue, catalogue.query.selectFrom('findings').selectAll().where('source', '=', source)).map(
      ({ item, code, found_at }) => [`${code} ${item}`, found_at],
    ),
  );
  runStatement(catalogue, catalogue.query.deleteFrom('findings').where('source', '=', source));
  for (const { item, code, severity, message } of findings) {
    const found_at = earlier.get(`${code} ${item}`) ?? at;
    runStatement(
      catalogue,
      catalogue.query
        .insertInto('findings')
        .values({ source, item, code, severity, message, found_at })
        .onConflict((conflict) => conflict.doNothing()),
    );
  }
}

/** Returns whether these are just the findings on record of a source, in any order. */
export function areFindingsOnRecord(catalogue: Catalogue, source: string, findings: readonly Finding[]): boolean {
  const query = catalogue.query.selectFrom('findings').selectAll().where('source', '=', source);
  const recorded = new Set(listRows(catalogue, query).map(getFindingKey));
  const found = new Set(findings.map(getFindingKey));
  return recorded.size === found.size && [...found].every((key) => recorded.has(key));
}

function getFindingKey({ item, code, severity, message }: Finding): string {
  return JSON.stringify([item, code, severity, message]);
}

/** Counts the findings on record by severity and code. */
export function countFindings(catalogue: Catalogue): { code: string; severity: Finding['severity']; count: number }[] {
  return listRows(
    catalogue,
    catalogue.query
      .selectFrom('findings')
      .select(({ fn }) => ['code', 'severity', fn.countAll<number>().as('count')])
      .groupBy(['severity', 'code'])
      .orderBy('count', 'desc')
      .orderBy('code'),
  );
}

/** Lists the findings about an address and all addresses below it, refusals first. */
export function listFindingsAbout(catalogue: Catalogue, address: string): RecordedFinding[] {
  const query = catalogue.query
    .selectFrom('findings')
    .selectAll()
    .where(({ eb, fn, val }) => eb(fn<number>('instr', ['item', val(address)]), '>', 0))
    .orderBy('severity', 'desc')
    .orderBy('item')
    .orderBy('code');
  return listRows(catalogue, query).filter(({ item }) => isBelow(item, address));
}

/** Returns whether an item is at an address or below it: `https://a.example.org` is not below `https://a.example`. */
function isBelow(item: string, address: string): boolean {
  const next = item[item.indexOf(address) + address.length];
  return next === undefined || address.endsWith('/') || '/?#'.includes(next);
}
