import type { Finding } from '../model/declaration.ts';
import { findCodeWords } from '../model/finding.ts';
import type { Listing } from '../model/listing.ts';
import { cutText } from '../model/text.ts';
import { buildFinding } from '../sources/findings.ts';
import type { DeclarationOutcome, FailedDeclaration, Recording } from './record-declarations.ts';

/** The message for an import that was stopped. */
export const IMPORT_STOPPED = 'The import was stopped. Run the same command again: what is already imported stays.';

/** The result for one listing, or for one file that was refused. `failed`: it could not be recorded. */
export interface ImportOutcome {
  outcome: DeclarationOutcome['outcome'] | 'failed' | 'refused' | 'withdrawn';
  slug: string | null;
  id: string | null;
  title: string | null;
  base_url: string | null;
  /** The file that it came from; null for an item of a feed. */
  file: string | null;
}

/** The effect that readers see at an address in a provider's file after the file was applied. */
export interface ReaderEffect {
  base_url: string;
  /** Slug; null if nothing is listed at the address. */
  slug: string | null;
  /**
   * `live`: it was not before. `removed`: a tombstone, as the provider asks. `waiting`: somebody else removed it.
   * `kept_out`: nothing is listed, and nothing will be. `nothing_to_list`: nothing is listed. `held`: no price is
   * known.
   */
  effect: 'live' | 'changed' | 'unchanged' | 'removed' | 'waiting' | 'held' | 'kept_out' | 'nothing_to_list';
  /** The effect in words. */
  sentence: string;
}

/** The report of an import. */
export interface ImportReport {
  /** The name on record of the feed or the provider's document; null for manifests. */
  feed: string | null;
  /**
   * False if a listing could not be recorded, if every manifest was refused, or if the import is incomplete. Refused
   * items of a feed or document count as done, even if all are refused.
   */
  complete: boolean;
  /** The next step, if the import is incomplete or something was refused. */
  next: string | null;
  revision: { before: number; after: number };
  /**
   * Counts of files, or of items of the feed or document: all of them, those that became part of a listing, duplicates,
   * and refused ones.
   */
  items: { received: number; taken: number; duplicates: number; refused: number };
  listings: Record<'added' | 'changed' | 'unchanged' | 'held' | 'delisted' | 'withdrawn' | 'failed', number>;
  /** Findings by code, refusals first. */
  reasons: FindingCount[];
  outcomes: ImportOutcome[];
  /** Effects at each address, for a provider's file alone. */
  effects?: ReaderEffect[];
  findings: Finding[];
  took_ms: number;
}

/** Builds the outcomes of listings: recorded ones, then those that could not be recorded. */
export function buildOutcomes({ recorded, failed }: Recording, isFile: boolean): ImportOutcome[] {
  const build = ({ declaration: { title, base_url, source } }: DeclarationOutcome | FailedDeclaration) => ({
    title: title || null,
    base_url,
    file: isFile ? source.name : null,
  });
  return [
    ...recorded.map((entry) => ({ outcome: entry.outcome, slug: entry.slug, id: entry.id, ...build(entry) })),
    ...failed.map((entry) => ({ outcome: 'failed' as const, slug: null, id: entry.id, ...build(entry) })),
  ];
}

/** Builds the outcome of a listing that its source no longer declares. */
export function buildWithdrawal(slug: string, listing: Listing | undefined): ImportOutcome {
  const { id = null, title = null, base_url = null } = listing ?? {};
  return { outcome: 'withdrawn', slug, id, title, base_url, file: null };
}

/** Longest part of an item's name that a message quotes, in UTF-16 units. */
export const ITEM_LENGTH = 200;

/** Builds the findings of listings that could not be recorded. Each names its file or, for a feed, its address. */
export function buildFailureFindings({ failed }: Recording, isFile: boolean): Finding[] {
  return failed.map(({ declaration: { base_url, source }, reason, message }) => {
    const item = isFile ? source.name : base_url;
    return buildFinding(
      'refused',
      'not_recorded',
      item,
      `${cutText(item, ITEM_LENGTH)}: the listing could not be recorded (${reason}: ${message}).`,
    );
  });
}

/** Completeness of an import. Each kind of import knows this itself. */
interface ImportCompletion {
  /**
   * Reason why it is incomplete, and what to do: it was stopped, there was nothing to import, or its end was not seen.
   */
  shortfall: string | null;
  /** Advice about refused items. */
  advice: string | null;
}

const FAILED =
  'Some listings could not be recorded, as the findings explain; the others are imported. Fix the cause and run the same command again.';

type ReportFacts = Omit<ImportReport, 'listings' | 'reasons' | 'complete' | 'next'>;

/** Builds a report from its facts: adds the counts, and whether the import is complete. */
export function buildReport(facts: ReportFacts, { shortfall, advice }: ImportCompletion): ImportReport {
  const listings = { added: 0, changed: 0, unchanged: 0, held: 0, delisted: 0, withdrawn: 0, failed: 0 };
  for (const { outcome } of facts.outcomes) if (outcome !== 'refused') listings[outcome] += 1;
  const missing = shortfall ?? (listings.failed > 0 ? FAILED : null);
  return {
    ...facts,
    complete: missing === null,
    next: missing ?? advice,
    listings,
    reasons: countByCode(facts.findings),
  };
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
function countByCode(findings: readonly Finding[]): FindingCount[] {
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
