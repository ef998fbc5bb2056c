/** A value of a table: a count, an amount or a word of ours. Null: nothing was seen. */
export type Cell = string | number | null;

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Builds a CSV document (RFC 4180): a header row and one line a row. Text that a spreadsheet would run as a formula gets an
 * apostrophe before it; numbers stay numbers.
 */
export function buildCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(writeCell).join(',')}\r\n`).join('');
}

function writeCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
