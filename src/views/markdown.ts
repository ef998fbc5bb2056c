/** Punctuation that Markdown, or GitHub's additions to it, may take for markup anywhere in a line. */
const MARKUP = /[\\`*_[\]<>#|~&$@]/g;

/** Characters that make a heading, a list or a rule, only at the start of a line. */
const LINE_START = /^(?:[-+=]|\d{1,9}(?=[.)]))/;

/**
 * Escapes outside text so that Markdown shows it unchanged: in one line, without markup, and without links from bare addresses.
 */
export function escapeMarkdown(text: string): string {
  return text
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .trim()
    .replace(MARKUP, '\\$&')
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\bwww\./gi, (prefix) => `${prefix.slice(0, -1)}\\.`)
    .replace(LINE_START, (start) => (/^\d/.test(start) ? `${start}\\` : `\\${start}`));
}

/** Quotes outside text: every line escaped, inside one block quote. */
export function quoteMarkdown(text: string): string {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map(escapeMarkdown);
  return lines.map((line) => (line === '' ? '>' : `> ${line}`)).join('\n');
}

/** Writes any text as one code span, even if it contains backticks. */
export function buildCodeSpan(text: string): string {
  const line = text.toWellFormed().replace(/\s+/g, ' ').trim();
  const fence = '`'.repeat(getLongestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return line === '' ? '' : `${fence}${pad}${line}${pad}${fence}`;
}

/** Writes code as a fenced block that none of its lines can close. */
export function buildCodeBlock(language: string, code: string): string {
  const fence = '`'.repeat(Math.max(3, getLongestRun(code) + 1));
  return `${fence}${language}\n${code.trimEnd()}\n${fence}`;
}

function getLongestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}
