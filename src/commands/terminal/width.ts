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

/** Cuts a line to `width` columns, with an ellipsis where cut. */
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

/** Breaks prose into lines of at most `width` columns, at spaces; a word that is longer stands on a line of its own. */
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
