/**
 * Characters that a terminal obeys instead of showing (control characters), that hide or reverse text (format
 * characters), or that break a line; without joiners, which letters and emoji need and which are harmless for a terminal. Provider
 * text is cleaned on import; this is a second protection for older text.
 */
const UNSHOWABLE = /(?!\u200C|\u200D)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns text as one printable line: tabs and line ends become spaces, other unprintable characters their code points. */
export function getPrintable(text: string): string {
  return text.replace(/[\t\r\n\u2028\u2029]+/g, ' ').replace(UNSHOWABLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
