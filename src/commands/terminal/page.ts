import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { getPrintable } from './printable.ts';
import { cutLine, getWidth, padLine, wrapText } from './width.ts';

export type Style = Parameters<typeof styleText>[0];

/** Where output goes. Both of a process's own streams fit; a terminal says how wide it is. */
export type Output = Writable & { isTTY?: boolean; columns?: number };

/** Text of a report, or text with a style that is left out where there is no terminal. */
export type Cell = string | number | { text: string; style: Style };

/** `right`: for figures. `cut`: the column that gives way on a narrow terminal. */
interface Column {
  heading: string;
  align?: 'left' | 'right';
  cut?: boolean;
}

/** A report under way: for a person on a terminal, for a program (tab-separated, nothing cut, no headings) elsewhere. */
export interface Page {
  readonly isTerminal: boolean;
  title(text: string): void;
  /** A line of prose, wrapped on a terminal; `indent` columns stand in front of it. */
  say(text: Cell, indent?: number): void;
  /** Labelled values, one to a line. */
  facts(rows: readonly (readonly [label: string, value: Cell])[], indent?: number): void;
  table(columns: readonly Column[], rows: readonly (readonly Cell[])[], indent?: number): void;
  blank(): void;
  getText(): string;
}

const DEFAULT_COLUMNS = 80;
const NARROWEST_CUT = 12;
const GAP = 2;

/** Opens a report that is to be written to `output`. Everything written on it is made printable first. */
export function openPage(output: Output): Page {
  const isTerminal = output.isTTY === true;
  const width = output.columns ?? DEFAULT_COLUMNS;
  const lines: string[] = [];
  const paint = (style: Style, text: string) => styleText(style, text, { stream: output, validateStream: true });
  const finish = (cell: Cell, text: string) => (typeof cell === 'object' ? paint(cell.style, text) : text);

  function say(cell: Cell, indent = 0): void {
    const text = getCellText(cell);
    const parts = isTerminal ? wrapText(text, width - indent) : [text];
    for (const part of parts) lines.push(' '.repeat(isTerminal ? indent : 0) + finish(cell, part));
  }

  function facts(rows: readonly (readonly [string, Cell])[], indent = 0): void {
    const labelWidth = Math.max(0, ...rows.map(([label]) => getWidth(label)));
    for (const [label, value] of rows) {
      const text = getCellText(value);
      if (!isTerminal) {
        lines.push(`${label}\t${text}`);
        continue;
      }
      const start = indent + labelWidth + GAP;
      const parts = wrapText(text, Math.max(NARROWEST_CUT, width - start));
      parts.forEach((part, index) => {
        const lead =
          index === 0 ? ' '.repeat(indent) + paint('dim', padLine(label, labelWidth + GAP)) : ' '.repeat(start);
        lines.push(lead + finish(value, part));
      });
    }
  }

  function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], indent = 0): void {
    if (!isTerminal) {
      for (const row of rows) lines.push(row.map(getCellText).join('\t'));
      return;
    }
    const texts = rows.map((row) => row.map(getCellText));
    const widths = getColumnWidths(columns, texts, width - indent);
    const join = (cells: readonly string[]) => (' '.repeat(indent) + cells.join(' '.repeat(GAP))).trimEnd();
    const fit = (text: string, i: number) => {
      const line = padLine(cutLine(text, widths[i] ?? 0), widths[i] ?? 0, columns[i]?.align);
      return i === columns.length - 1 ? line.trimEnd() : line;
    };
    if (columns.some(({ heading }) => heading !== '')) {
      lines.push(join(columns.map(({ heading }, i) => paint('dim', fit(heading, i)))));
    }
    for (const row of rows)
      lines.push(join(columns.map((_, i) => finish(row[i] ?? '', fit(getCellText(row[i] ?? ''), i)))));
  }

  return {
    isTerminal,
    title: (text) => lines.push(paint('bold', getPrintable(text))),
    say,
    facts,
    table,
    blank: () => isTerminal && lines.push(''),
    getText: () => lines.map((line) => `${line}\n`).join(''),
  };
}

function getCellText(cell: Cell): string {
  return getPrintable(typeof cell === 'object' ? cell.text : String(cell));
}

/** Every column as wide as its widest cell; where that is too much for the terminal, the one that may be cut gives way. */
function getColumnWidths(columns: readonly Column[], rows: readonly string[][], available: number): number[] {
  const widths = columns.map(({ heading }, i) =>
    rows.reduce((widest, row) => Math.max(widest, getWidth(row[i] ?? '')), getWidth(heading)),
  );
  const excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - available;
  const cut = columns.findIndex((column) => column.cut);
  if (excess > 0 && cut >= 0) widths[cut] = Math.max(NARROWEST_CUT, (widths[cut] ?? 0) - excess);
  return widths;
}
