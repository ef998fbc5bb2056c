/**
 * What a terminal would obey instead of show (controls of both sets), what hides or turns text (format characters), and
 * what breaks a line. Provider text is cleaned when it comes in; this is the second guard, for text that came before.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The same without the joiners, by which letters and emoji hold together and no terminal is led astray. */
const UNSHOWABLE = /(?!\u200C|\u200D)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns text as one printable line: tabs and line ends become spaces, every other unprintable character its number. */
export function getPrintable(text: string): string {
  return text.replace(/[\t\r\n\u2028\u2029]+/g, ' ').replace(UNSHOWABLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Writes JSON in which whatever a terminal would obey is escaped; it parses to the same value. */
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
