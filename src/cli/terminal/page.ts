import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
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
  /** A line of prose, wrapped on a terminal and indented by `indent` columns. */
  say(text: Cell, indent?: number): void;
  /** Labelled values, one on each line. */
  facts(rows: readonly (readonly [label: string, value: Cell])[], indent?: number): void;
  table(columns: readonly Column[], rows: readonly (readonly Cell[])[], indent?: number): void;
  blank(): void;
  getText(): string;
}

const DEFAULT_COLUMNS = 80;
const NARROWEST_CUT = 12;
const GAP = 2;

/** Opens a report for `output`. All text is made printable. */
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

/** Returns column widths: each as wide as its widest cell. If the terminal is too narrow, the `cut` column is shortened. */
function getColumnWidths(columns: readonly Column[], rows: readonly string[][], available: number): number[] {
  const widths = columns.map(({ heading }, i) =>
    rows.reduce((widest, row) => Math.max(widest, getWidth(row[i] ?? '')), getWidth(heading)),
  );
  const excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - available;
  const cut = columns.findIndex((column) => column.cut);
  if (excess > 0 && cut >= 0) widths[cut] = Math.max(NARROWEST_CUT, (widths[cut] ?? 0) - excess);
  return widths;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters that take two columns: East Asian wide ones and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;

/** Returns the number of terminal columns that a line takes. */
export function getWidth(line: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(line)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Pads a line with spaces to `width` columns. */
export function padLine(line: string, width: number, align: 'left' | 'right' = 'left'): string {
  const padding = ' '.repeat(Math.max(0, width - getWidth(line)));
  return align === 'right' ? padding + line : line + padding;
}

/** Cuts a line to `width` columns, ending with an ellipsis if it was longer. */
export function cutLine(line: string, width: number): string {
  if (getWidth(line) <= width) return line;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(line)) {
    const columns = WIDE.test(segment) ? 2 : 1;
    if (used + columns > width - 1) break;
    kept += segment;
    used += columns;
  }
  return `${kept.trimEnd()}…`;
}

/** Breaks prose at spaces into lines of at most `width` columns. A longer word gets a line of its own. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && getWidth(line) + 1 + getWidth(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
