import type { RecordedFinding } from '../catalogue/read/findings.ts';
import type { FindingCount } from '../importing/report.ts';
import type { Caution } from '../model/caution.ts';
import { findCodeWords } from '../model/finding.ts';
import { describeCaution, describeCautionEvidence } from '../views/words/caution.ts';
import type { Page } from './terminal/page.ts';

/** Describes a caution with its evidence and the reply of the provider. */
export function describeCautionOnRecord(caution: Caution): string {
  const reply = caution.reply ? ` Its provider replies: "${caution.reply.text}"` : '';
  return `${describeCaution(caution)} On record: ${describeCautionEvidence(caution)}.${reply}`;
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
    const fix = findCodeWords(code)?.fix;
    if (fix !== undefined) page.say(`Fix: ${fix}`, 4);
    page.say({ text: `in ${source}`, style: 'dim' }, 4);
  }
}
