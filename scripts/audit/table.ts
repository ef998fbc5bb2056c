import { LIMITS, listMisses, type PageMeasure } from './limits.ts';

/** Builds an aligned table of all pages for a terminal, and below it the limits that each page misses. */
export function buildTable(pages: readonly PageMeasure[]): string {
  const categories = [...new Set(pages.flatMap(({ scores }) => Object.keys(scores)))];
  const rows = [
    ['page', ...categories, 'FCP', 'LCP'],
    ...pages.map(({ name, scores, fcp_ms, lcp_ms }) => [
      name,
      ...categories.map((category) => String(scores[category] ?? '-')),
      `${Math.round(fcp_ms)} ms`,
      `${Math.round(lcp_ms)} ms`,
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  return [...lines, '', ...buildVerdict(pages)].join('\n');
}

function buildVerdict(pages: readonly PageMeasure[]): string[] {
  const missing = pages.filter((page) => listMisses(page).length > 0);
  if (missing.length === 0) {
    return [`All ${pages.length} pages: ${LIMITS.score} in every category and FCP below ${LIMITS.fcp_ms} ms.`];
  }
  return [
    `${missing.length} of ${pages.length} pages miss something:`,
    ...missing.flatMap((page) => [`  ${page.path}`, ...listMisses(page).map((miss) => `    ${miss}`)]),
  ];
}
