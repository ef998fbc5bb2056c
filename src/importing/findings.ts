import type { Finding } from '../model/declaration.ts';
import { findCodeWords, type IMPORT_FINDING_CODES } from '../model/finding.ts';

/** Builds a finding of the import itself. */
export function buildImportFinding(
  severity: Finding['severity'],
  code: keyof typeof IMPORT_FINDING_CODES,
  item: string,
  message: string,
): Finding {
  return { code, severity, item, message };
}

/** Returns the meaning of a finding's code, in one sentence. */
export function getMeaning(code: string): string {
  return findCodeWords(code)?.meaning ?? 'A finding of another version of the program.';
}

/** The number of findings with a code. */
export interface FindingCount {
  code: string;
  severity: Finding['severity'];
  count: number;
  meaning: string;
}

/** Counts findings by severity and code: refusals first, then the most frequent. */
export function countByCode(findings: readonly Finding[]): FindingCount[] {
  const counts = new Map<string, FindingCount>();
  for (const { code, severity } of findings) {
    const known = counts.get(`${severity} ${code}`);
    if (known) known.count += 1;
    else counts.set(`${severity} ${code}`, { code, severity, count: 1, meaning: getMeaning(code) });
  }
  return sortCounts([...counts.values()]);
}

/** Sorts counts for readers: refusals first, then the most frequent. */
export function sortCounts(counts: FindingCount[]): FindingCount[] {
  return counts.sort(
    (a, b) => b.severity.localeCompare(a.severity) || b.count - a.count || a.code.localeCompare(b.code),
  );
}
