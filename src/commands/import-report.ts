import type { Finding } from '../model/declaration.ts';
import type { Listing } from '../model/listing.ts';
import { cutText } from '../model/text.ts';
import { formatCount } from '../views/words/figures.ts';
import { buildImportFinding, countByCode, type FindingCount, renderCounts } from './finding-words.ts';
import type { DeclarationOutcome, FailedDeclaration, Recording } from './recording.ts';
import type { Cell, Page, Style } from './terminal/page.ts';

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

/** What readers see at an address in a provider's file after the file was applied. */
export interface ReaderEffect {
  base_url: string;
  /** Null if nothing is listed at the address. */
  slug: string | null;
  /**
   * `live`: it was not before. `removed`: a tombstone, as the provider asks. `waiting`: somebody else removed it.
   * `kept_out`: nothing is listed, and nothing will be. `nothing_to_list`: nothing is listed. `held`: no price is
   * known.
   */
  effect: 'live' | 'changed' | 'unchanged' | 'removed' | 'waiting' | 'held' | 'kept_out' | 'nothing_to_list';
  /** The same in words. */
  sentence: string;
}

/** The report of an import. */
export interface ImportReport {
  /** The name on record of the feed or the provider's document; null for manifests. */
  feed: string | null;
  /**
   * False if a listing could not be recorded, or if the import is incomplete. Refused items count as done, even if all
   * are refused.
   */
  complete: boolean;
  /** What to do next, if the import is incomplete or something was refused. */
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
  /** Only for a provider's file: what readers see at each address in it. */
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

/** Builds the findings of listings that could not be recorded. Each names its file or, for a feed, its address. */
export function buildFailureFindings({ failed }: Recording, isFile: boolean): Finding[] {
  return failed.map(({ declaration: { base_url, source }, reason, message }) => {
    const item = isFile ? source.name : base_url;
    return buildImportFinding(
      'refused',
      'not_recorded',
      item,
      `${cutText(item, ITEM_LENGTH)}: the listing could not be recorded (${reason}: ${message}).`,
    );
  });
}

/** How complete an import is. Each kind of import knows this itself. */
export interface ImportCompletion {
  /** Why it is incomplete, and what to do: it was stopped, there was nothing to import, or its end was not seen. */
  shortfall: string | null;
  /** What to do about refused items. */
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

/** The meanings of the counts in a report. */
const MEANINGS: Readonly<Record<keyof ImportReport['listings'], string>> = {
  added: 'new and live',
  changed: 'live, and changed for readers',
  unchanged: 'not changed for readers',
  held: 'on record, but not live, because it has no price',
  delisted: 'removed by the operator, its provider or a rule, which an import does not undo',
  withdrawn: 'no longer in this source, so no longer advertised by it',
  failed: 'could not be recorded; the findings say why',
};

/** Longest part of an item's name that a message quotes, in UTF-16 units. */
const ITEM_LENGTH = 200;

/** How many failures of a feed are named one by one. */
const SHOWN_FAILURES = 20;

const STYLES: Readonly<Record<ImportOutcome['outcome'], Style>> = {
  added: 'green',
  changed: 'cyan',
  unchanged: 'dim',
  held: 'yellow',
  delisted: 'yellow',
  withdrawn: 'yellow',
  failed: 'red',
  refused: 'red',
};

/** Writes the report of an import: for manifests one line each, then the counts, then the reasons for refusals. */
export function renderReport(report: ImportReport, page: Page): void {
  const { feed, items, listings, reasons } = report;
  if (report.effects) {
    renderEffects(report, report.effects, page);
    return;
  }
  if (feed === null) renderFiles(report, page);
  const isShown = (name: string) =>
    name === 'withdrawn' ? feed !== null : name === 'failed' ? listings.failed > 0 : true;
  const meanings = Object.entries(MEANINGS).filter(([name]) => isShown(name));
  const rows = meanings.map(([name, meaning]): Cell[] => {
    const count = Object.entries(listings).find(([key]) => key === name)?.[1] ?? 0;
    return [count, { text: name, style: count > 0 ? 'bold' : 'dim' }, { text: meaning, style: 'dim' }];
  });
  page.title(feed === null ? 'Listings' : `Listings of ${feed}`);
  page.table([{ heading: '', align: 'right' }, { heading: '' }, { heading: '', cut: true }], rows, 2);
  page.blank();
  const again = items.duplicates > 0 ? `, ${items.duplicates} duplicates` : '';
  page.say(
    `${formatCount(items.received, feed === null ? 'file' : 'item')}: ${items.taken} taken${again}, ${items.refused} refused.`,
  );
  renderRevision(report, page);
  if (reasons.length > 0) {
    page.blank();
    page.title('Found');
    renderCounts(reasons, page);
  }
  if (feed !== null && listings.failed > 0) renderFailures(report, page);
  renderNext(report, page);
}

function renderRevision({ revision: { before, after }, took_ms }: ImportReport, page: Page): void {
  const moved = before === after ? `The revision is still ${after}` : `The revision went from ${before} to ${after}`;
  page.say(`${moved}. This took ${(took_ms / 1000).toFixed(1)} s.`);
}

function renderNext({ next }: ImportReport, page: Page): void {
  if (next === null) return;
  page.blank();
  page.say({ text: next, style: 'yellow' });
}

/** Codes of findings that the effect on readers already says. */
const SAID_BY_EFFECT: ReadonlySet<string> = new Set(['provider_kept_out', 'provider_not_lifted']);

/** Writes what readers see at each address of a provider's file, then its findings in full. */
function renderEffects(report: ImportReport, effects: readonly ReaderEffect[], page: Page): void {
  const { feed, items, findings } = report;
  page.title(`What ${feed} changes for readers`);
  page.facts(
    effects.map(({ base_url, sentence }) => [base_url, sentence] as const),
    2,
  );
  if (effects.length === 0) page.say('Nothing.', 2);
  page.blank();
  page.say(`${formatCount(items.received, 'entry', 'entries')}: ${items.taken} taken, ${items.refused} refused.`);
  renderRevision(report, page);
  const said = findings.filter(({ code }) => !SAID_BY_EFFECT.has(code));
  if (said.length > 0) page.blank();
  for (const { severity, item, message } of said.toSorted((a, b) => b.severity.localeCompare(a.severity))) {
    const about = item === feed || message.includes(item) ? '' : `${cutText(item, ITEM_LENGTH)}: `;
    page.say({ text: `${severity}: ${about}${message}`, style: severity === 'refused' ? 'red' : 'yellow' });
  }
  renderNext(report, page);
}

/** Names the first listings of a feed that could not be recorded. */
function renderFailures({ findings, listings }: ImportReport, page: Page): void {
  page.blank();
  const failures = findings.filter(({ code }) => code === 'not_recorded').slice(0, SHOWN_FAILURES);
  for (const { message } of failures) page.say({ text: message, style: 'red' });
  const more = listings.failed - failures.length;
  if (more > 0) page.say({ text: `And ${more} more.`, style: 'red' });
}

/** Writes a line for each file, and below them their findings. */
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
