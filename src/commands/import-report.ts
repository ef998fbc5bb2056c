import type { Finding } from '../model/finding.ts';
import { formatCount } from '../views/description.ts';
import { countByCode, type FindingCount, renderCounts } from './finding-words.ts';
import type { RecordedDeclaration } from './recording.ts';
import type { Cell, Page, Style } from './terminal/page.ts';

/** What became of one listing, or (`refused`) of one file that did not become one. */
export interface ImportOutcome {
  outcome: RecordedDeclaration['outcome'] | 'refused' | 'withdrawn';
  slug: string | null;
  id: string | null;
  title: string | null;
  base_url: string | null;
  /** The file it came from; null for an item of a feed. */
  file: string | null;
}

/** What an import came to. */
export interface ImportReport {
  /** The feed's name on record; null for manifests. */
  feed: string | null;
  /** False where something was refused that was meant to go in, or the import did not come to its end. */
  complete: boolean;
  /** What to do next, where it is not complete. */
  next: string | null;
  revision: { before: number; after: number };
  /** Files, or items of the feed: how many came, became part of a listing, came again, and were refused. */
  items: { received: number; taken: number; duplicates: number; refused: number };
  listings: Record<'added' | 'changed' | 'unchanged' | 'held' | 'delisted' | 'withdrawn', number>;
  /** Findings by code: the refusals first. */
  reasons: FindingCount[];
  outcomes: ImportOutcome[];
  findings: Finding[];
  took_ms: number;
}

/** Builds the outcomes of listings that were recorded. */
export function buildOutcomes(recorded: readonly RecordedDeclaration[], isFile: boolean): ImportOutcome[] {
  return recorded.map(({ outcome, slug, id, declaration }) => ({
    outcome,
    slug,
    id,
    title: declaration.title,
    base_url: declaration.base_url,
    file: isFile ? declaration.source.name : null,
  }));
}

/** Completes a report with the counts that follow from its outcomes and findings. */
export function buildReport(facts: Omit<ImportReport, 'listings' | 'reasons'>): ImportReport {
  const listings = { added: 0, changed: 0, unchanged: 0, held: 0, delisted: 0, withdrawn: 0 };
  for (const { outcome } of facts.outcomes) if (outcome !== 'refused') listings[outcome] += 1;
  return { ...facts, listings, reasons: countByCode(facts.findings) };
}

/** What the counts of a report mean. */
const MEANINGS: Readonly<Record<keyof ImportReport['listings'], string>> = {
  added: 'new and live',
  changed: 'live, and readers see something else than before',
  unchanged: 'left alone: readers see what they saw before',
  held: 'on record, but not live, for want of a price',
  delisted: 'left out: delisted, and only relist puts a listing back',
  withdrawn: 'no longer in the feed, so no longer advertised',
};

const STYLES: Readonly<Record<ImportOutcome['outcome'], Style>> = {
  added: 'green',
  changed: 'cyan',
  unchanged: 'dim',
  held: 'yellow',
  delisted: 'yellow',
  withdrawn: 'yellow',
  refused: 'red',
};

/** Writes what an import came to: of manifests a line each, then the counts, then why what was refused. */
export function renderReport(report: ImportReport, page: Page): void {
  const { feed, items, listings, reasons, revision } = report;
  if (feed === null) renderFiles(report, page);
  const meanings = Object.entries(MEANINGS).filter(([name]) => feed !== null || name !== 'withdrawn');
  const rows = meanings.map(([name, meaning]): Cell[] => {
    const count = Object.entries(listings).find(([key]) => key === name)?.[1] ?? 0;
    return [count, { text: name, style: count > 0 ? 'bold' : 'dim' }, { text: meaning, style: 'dim' }];
  });
  page.title(feed === null ? 'Listings' : `Listings of ${feed}`);
  page.table([{ heading: '', align: 'right' }, { heading: '' }, { heading: '', cut: true }], rows, 2);
  page.blank();
  const again = items.duplicates > 0 ? `, ${items.duplicates} more of the same` : '';
  page.say(
    `${formatCount(items.received, feed === null ? 'file' : 'item')}: ${items.taken} taken${again}, ${items.refused} refused.`,
  );
  const { before, after } = revision;
  const moved = before === after ? `The revision is still ${after}` : `The revision went from ${before} to ${after}`;
  page.say(`${moved}. This took ${(report.took_ms / 1000).toFixed(1)} s.`);
  if (reasons.length > 0) {
    page.blank();
    page.title('Found');
    renderCounts(reasons, page);
  }
  if (report.next !== null) {
    page.blank();
    page.say({ text: report.next, style: 'yellow' });
  }
}

/** Writes a line for each file, and below them what was found in each. */
function renderFiles({ outcomes, findings }: ImportReport, page: Page): void {
  page.table(
    [{ heading: '' }, { heading: '' }, { heading: '', cut: true }],
    outcomes.map(({ outcome, slug, file, title }) => [
      { text: outcome, style: STYLES[outcome] },
      slug ?? file ?? '',
      title ?? '',
    ]),
  );
  page.blank();
  for (const { severity, message } of findings) {
    page.say({ text: `${severity}: ${message}`, style: severity === 'refused' ? 'red' : 'yellow' });
  }
  if (findings.length > 0) page.blank();
}
