/** One line of a result: our figure, and where there is one that of the program it is compared with, of the same run. */
export interface Row {
  readonly listings: number;
  readonly what: string;
  /** `requests/s`, `s`, `ms`, `MB` … */
  readonly unit: string;
  readonly ours: number;
  /** Name of the program it is compared with. */
  readonly beside?: string | undefined;
  readonly theirs?: number | undefined;
  /** Ours divided by theirs. */
  readonly ratio?: number | undefined;
  /** Their processor time for a request divided by ours. Other work on the machine disturbs it less than `ratio`. */
  readonly cpu_ratio?: number | undefined;
  /** The goal for `ratio`, or for `ours` in a row without one. */
  readonly goal?: string | undefined;
}

/** Builds a row with rounded figures, and with the ratio of the two where none is given. */
export function buildRow(row: Row): Row {
  const { ours, theirs, ratio = theirs ? ours / theirs : undefined, cpu_ratio, ...rest } = row;
  return {
    ...rest,
    ours: roundFigure(ours),
    theirs: theirs === undefined ? undefined : roundFigure(theirs),
    ratio: ratio === undefined ? undefined : roundFigure(ratio),
    cpu_ratio: cpu_ratio === undefined ? undefined : roundFigure(cpu_ratio),
  };
}

const COLUMNS = ['listings', 'what', 'unit', 'ours', 'beside', 'theirs', 'ratio', 'cpu_ratio', 'goal'] as const;

/** Formats rows as a Markdown table without empty columns. */
export function formatTable(rows: readonly Row[]): string {
  const columns = COLUMNS.filter((column) => rows.some((row) => row[column] !== undefined));
  const lines = rows.map((row) => columns.map((column) => formatCell(row[column])));
  const widths = columns.map((column, at) => Math.max(column.length, ...lines.map((line) => line[at]?.length ?? 0)));
  const format = (line: readonly string[]) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [columns, widths.map((width) => '-'.repeat(width)), ...lines].map(format).join('\n');
}

function formatCell(value: string | number | undefined): string {
  return typeof value === 'number' ? value.toLocaleString('en') : (value ?? '');
}

/** Rounds to three digits, and from 100 on to whole numbers. */
function roundFigure(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Gets the median; of an even count the upper of the two in the middle. */
export function getMedian(numbers: readonly number[]): number {
  return getPercentile(numbers, 0.5);
}

/** Gets the number at a share from 0 to 1 of the sorted numbers. */
export function getPercentile(numbers: readonly number[], share: number): number {
  const at = Math.min(numbers.length - 1, Math.floor(share * numbers.length));
  return numbers.toSorted((a, b) => a - b)[at] ?? Number.NaN;
}
