import type { RecordedFinding } from '../catalogue/read/findings.ts';
import type { Finding } from '../model/declaration.ts';
import { FINDING_CODES } from '../sources/finding-codes.ts';
import type { Page } from './terminal/page.ts';

/** Codes of an import's own findings, besides those of reading a source. */
const IMPORT_FINDING_CODES = {
  slug_taken: 'Another listing has the slug that the manifest asks for, so the first characters of the id are added.',
  slug_kept: 'The listing already has another slug than the manifest asks for, and a slug never changes.',
  pull_failed: 'The last pull of the feed failed; the results of earlier pulls stay.',
  not_recorded: 'The listing could not be recorded, which is a fault of the program; nothing was kept.',
  provider_kept_out: 'The provider asked not to be listed at this address, so it will not be.',
  provider_others_stay:
    'The request is only for the origin; other listings of the host must be named by their base_url.',
  provider_not_lifted: "Somebody else removed the listing, which the provider's request does not undo.",
  provider_nothing_to_list: 'The entry asks for a listing, but has neither facts nor a document.',
  provider_reply_no_route: 'A reply is about a route that the listing does not have, so it is not shown.',
} as const;

/** Builds a finding of the import itself. */
export function buildImportFinding(
  severity: Finding['severity'],
  code: keyof typeof IMPORT_FINDING_CODES,
  item: string,
  message: string,
): Finding {
  return { code, severity, item, message };
}

const MEANINGS = new Map<string, string>(Object.entries({ ...FINDING_CODES, ...IMPORT_FINDING_CODES }));

/** Returns the meaning of a finding's code, in one sentence. */
export function getMeaning(code: string): string {
  return MEANINGS.get(code) ?? 'A finding of another version of the program.';
}

/** How often a code was found. */
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

/** Writes counts, one line for each code, with its meaning. */
export function renderCounts(counts: readonly FindingCount[], page: Page): void {
  page.table(
    [{ heading: '', align: 'right' }, { heading: '' }, { heading: 'code' }, { heading: 'meaning', cut: true }],
    counts.map(({ code, severity, count, meaning }) => [
      count,
      { text: severity, style: severity === 'refused' ? 'red' : 'yellow' },
      code,
      meaning,
    ]),
    2,
  );
}

/** Writes findings with their items. */
export function renderFindings(findings: readonly RecordedFinding[], page: Page): void {
  for (const { severity, code, item, message, source } of findings) {
    page.say({ text: `${severity} ${code}`, style: severity === 'refused' ? 'red' : 'yellow' }, 2);
    page.say(`${item}: ${message}`, 4);
    page.say({ text: `in ${source}`, style: 'dim' }, 4);
  }
}
