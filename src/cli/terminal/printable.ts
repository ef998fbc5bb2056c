/**
 * Characters that a terminal obeys instead of showing (control characters), that hide or reverse text (format
 * characters), or that break a line. Provider text is cleaned on import; this is a second protection for older text.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The same without joiners, which letters and emoji need and which are harmless for a terminal. */
const UNSHOWABLE = /(?!\u200C|\u200D)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns text as one printable line: tabs and line ends become spaces, other unprintable characters their code points. */
export function getPrintable(text: string): string {
  return text.replace(/[\t\r\n\u2028\u2029]+/g, ' ').replace(UNSHOWABLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Writes JSON with escaped unprintable characters; it parses to the same value. */
export function formatJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
