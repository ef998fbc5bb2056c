import { type ImportOutcome, type ImportReport, ITEM_LENGTH, type ReaderEffect } from '../importing/report.ts';
import { cutText } from '../model/text.ts';
import { formatCount } from '../views/words/figures.ts';
import { renderCounts } from './finding-words.ts';
import type { Cell, Page, Style } from './terminal/page.ts';

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

/** Largest number of a feed's failures that are named one by one. */
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

/** The report of an import. With `dry_run` it is what the import would do. */
export interface ImportResult extends ImportReport {
  dry_run: boolean;
}

/** Writes the report of an import: for manifests one line each, then the counts, then the reasons for refusals. */
export function renderReport(report: ImportResult, page: Page): void {
  if (report.effects) renderEffects(report, report.effects, page);
  else renderListings(report, page);
  if (!report.dry_run) return;
  page.blank();
  page.say({ text: 'Nothing was written: this is what the import would change.', style: 'yellow' });
}

function renderListings(report: ImportResult, page: Page): void {
  const { feed, items, listings, reasons } = report;
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

function renderRevision({ revision: { before, after }, took_ms, dry_run }: ImportResult, page: Page): void {
  const verb = dry_run ? 'would go' : 'went';
  const moved = before === after ? `The revision is still ${after}` : `The revision ${verb} from ${before} to ${after}`;
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
function renderEffects(report: ImportResult, effects: readonly ReaderEffect[], page: Page): void {
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
