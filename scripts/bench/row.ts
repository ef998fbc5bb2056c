/** One line of a result: what we do, and what the same takes or gives beside it, measured in one run. */
export interface Row {
  readonly listings: number;
  readonly what: string;
  /** `requests/s`, `s`, `ms`, `MB`. */
  readonly unit: string;
  readonly ours: number;
  /** With whom it is compared. */
  readonly beside?: string | undefined;
  readonly theirs?: number | undefined;
  /** Ours by theirs. */
  readonly ratio?: number | undefined;
  /** The same of processor time for each request, theirs by ours, where it is known: what else runs falls on it less. */
  readonly cpu_ratio?: number | undefined;
  /** What is to be reached, of the ratio where there is one, else of our figure. */
  readonly goal?: string | undefined;
}

/** Builds a row that compares, with its ratio where none was measured. */
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

const HEADS = ['listings', 'what', 'unit', 'ours', 'beside', 'theirs', 'ratio', 'cpu_ratio', 'goal'] as const;

/** Formats rows as a Markdown table, columns that none of them fills left out. */
export function formatTable(rows: readonly Row[]): string {
  const heads = HEADS.filter((head) => rows.some((row) => row[head] !== undefined));
  const cells = rows.map((row) => heads.map((head) => formatCell(row[head])));
  const widths = heads.map((head, at) => Math.max(head.length, ...cells.map((line) => line[at]?.length ?? 0)));
  const format = (line: readonly string[]) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [format(heads), format(widths.map((width) => '-'.repeat(width))), ...cells.map(format)].join('\n');
}

function formatCell(value: string | number | undefined): string {
  return typeof value === 'number' ? value.toLocaleString('en') : (value ?? '');
}

/** Rounds to three digits, and large figures to whole ones. */
function roundFigure(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
