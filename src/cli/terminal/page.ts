import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import cutToWidth from 'cli-truncate';
import getWidth from 'string-width';
import { getPrintable } from './printable.ts';

export type Style = Parameters<typeof styleText>[0];

/** A stream for output, such as the standard streams. A terminal has a width. */
export type Output = Writable & { isTTY?: boolean; columns?: number };

/** Text of a report, or text with a style that only a terminal shows. */
export type Cell = string | number | { text: string; style: Style };

/** `right` is for numbers. `cut` marks the column that is shortened on a narrow terminal. */
interface Column {
  heading: string;
  align?: 'left' | 'right';
  cut?: boolean;
}

/**
 * A report that is being written: for a person on a terminal, otherwise for a program (tab-separated, nothing cut, no
 * headings).
 */
export interface Page {
  readonly isTerminal: boolean;
  title(text: string): void;
  /** A line of prose, indented by `indent` columns. */
  say(text: Cell, indent?: number): void;
  /** Labelled values, one on each line. */
  facts(rows: readonly (readonly [label: string, value: Cell])[], indent?: number): void;
  table(columns: readonly Column[], rows: readonly (readonly Cell[])[], indent?: number): void;
  blank(): void;
  getText(): string;
}

const DEFAULT_COLUMNS = 80;
const NARROWEST_CUT = 12;

const GAP = '  ';

/** Opens a report for `output`. All text is made printable. */
export function openPage(output: Output): Page {
  const isTerminal = output.isTTY === true;
  const lines: string[] = [];
  const paint = (cell: Cell) => {
    const text = getCellText(cell);
    return typeof cell === 'object' ? styleText(cell.style, text, { stream: output, validateStream: true }) : text;
  };
  const write = (indent: number, line: string) => lines.push(' '.repeat(isTerminal ? indent : 0) + line.trimEnd());

  function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], indent = 0): void {
    if (!isTerminal) {
      for (const row of rows) write(0, row.map(getCellText).join('\t'));
      return;
    }
    const hasHeadings = columns.some(({ heading }) => heading !== '');
    const head = columns.map(({ heading }): Cell => ({ text: heading, style: 'dim' }));
    const shown = hasHeadings ? [head, ...rows] : rows;
    const widths = getColumnWidths(columns, shown, (output.columns ?? DEFAULT_COLUMNS) - indent);
    for (const row of shown) {
      const cells = row.map((cell, at) => {
        const text = cutToWidth(paint(cell), widths[at] ?? 0);
        const padding = ' '.repeat((widths[at] ?? 0) - getWidth(text));
        return columns[at]?.align === 'right' ? padding + text : text + padding;
      });
      write(indent, cells.join(GAP));
    }
  }

  return {
    isTerminal,
    title: (text) => write(0, paint({ text, style: 'bold' })),
    say: (text, indent = 0) => lines.push(' '.repeat(indent) + paint(text).trimEnd()),
    facts(rows, indent) {
      const cells = rows.map(([label, value]): Cell[] => [isTerminal ? { text: label, style: 'dim' } : label, value]);
      table([{ heading: '' }, { heading: '' }], cells, indent);
    },
    table,
    blank: () => isTerminal && lines.push(''),
    getText: () => lines.map((line) => `${line}\n`).join(''),
  };
}

function getCellText(cell: Cell): string {
  return getPrintable(typeof cell === 'object' ? cell.text : String(cell));
}

/** Returns column widths: each as wide as its widest cell. If the terminal is too narrow, the `cut` column is shortened. */
function getColumnWidths(columns: readonly Column[], rows: readonly (readonly Cell[])[], available: number): number[] {
  const widths = columns.map((_, at) =>
    rows.reduce((widest, row) => Math.max(widest, getWidth(getCellText(row[at] ?? ''))), 0),
  );
  const excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - available;
  return widths.map((width, at) => (columns[at]?.cut && excess > 0 ? Math.max(NARROWEST_CUT, width - excess) : width));
}
