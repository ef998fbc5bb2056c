import { cutText } from '../model/text.ts';

/**
 * Characters that a person cannot see but a program reads: controls, direction marks, zero-width and other ignorable
 * characters (tag characters included), lone surrogates, private use, non-characters, interlinear annotation. The emoji
 * presentation selector stays after a pictograph. Joiners have rules of their own below.
 */
const INVISIBLE =
  /(?<!\p{Extended_Pictographic})\uFE0F|[\p{Cc}\p{Cs}\p{Co}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB]|(?!\uFE0F|\u200C|\u200D)\p{Default_Ignorable_Code_Point}/gu;

/**
 * Characters that hide text or reverse its direction on purpose: direction overrides and isolates, zero-width and tag
 * characters.
 */
const HIDING_CHARACTERS = /[\u200B\u2060-\u2064\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]|(?<!^)\uFEFF/u;

/** Line ends of every kind: CR LF, NEL, line and paragraph separators, form feed and vertical tab. */
const LINE_END = /\r\n?|[\u0085\u2028\u2029\f\v]/g;

/** A stack of more combining marks than any script uses, which draws over neighbouring lines. */
const MARK_STACK = /(\p{M}{4})\p{M}+/gu;

/** The blank Braille cell, which looks like a space but is not one. */
const BLANK_BRAILLE = /\u2800/g;

/** Removes invisible characters except line feeds and tabs, and composes the rest (NFC). */
export function removeInvisible(text: string): string {
  const lines = text.replace(LINE_END, '\n').replace(BLANK_BRAILLE, ' ');
  const visible = lines.replace(INVISIBLE, (character) => (character === '\n' || character === '\t' ? character : ''));
  return removeUnneededJoiners(visible.normalize('NFC').replace(MARK_STACK, '$1')).normalize('NFC');
}

/**
 * Marks that language models read as a change of speaker or the end of a text: `<|im_start|>` and the like of several
 * model families, one of which writes wide bars.
 */
const CHAT_MARK =
  /<[|\uFF5C][^<>|\uFF5C]{1,40}[|\uFF5C]>|\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_(?:turn|image|audio)>|<\/?s>/gi;

/** Rounds after which text that still contains nested marks counts as an attack. */
const MARK_ROUNDS = 8;

/** Removes the marks of language models, including those that appear only when inner ones are removed. */
export function removeChatMarks(text: string): string {
  let current = text;
  for (let round = 0; round < MARK_ROUNDS; round++) {
    const next = current.replace(CHAT_MARK, ' ');
    if (next === current) return current;
    current = next;
  }
  return current.replace(/[<>[\]]/g, ' ');
}

/** Removes invisible characters and chat marks from a name or value of a schema or an example, and changes nothing else. */
export function cleanString(text: string): string {
  const visible = removeInvisible(text);
  const cleaned = removeChatMarks(visible);
  return cleaned === visible ? visible : removeInvisible(cleaned).trim();
}

/**
 * Returns whether text holds characters that hide text or reverse its direction. A byte order mark at the start does
 * not count.
 */
export function hasHiddenText(text: string): boolean {
  return HIDING_CHARACTERS.test(text);
}

/** Zero-width joiner and non-joiner. */
const JOINER = String.raw`\u200D`;
const ANY_JOINER = String.raw`(?:\u200C|\u200D)`;

/** Viramas, which remove the inherent vowel of Indic and similar consonants (canonical combining class 9). */
const VIRAMA = String.raw`[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u1039\u17D2\u1B44\uA9C0]`;
const INDIC_LETTER = String.raw`(?=\p{L})[\u0900-\u0DFF]`;

/** Arabic letters, and those that do not join to the next letter (Joining_Type R and U). */
const ARABIC_LETTER = String.raw`(?=\p{L})\p{Script=Arabic}`;
const ENDS_JOINING = String.raw`[\u0621-\u0625\u0627\u0629\u062F-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06C0\u06C3-\u06CB\u06CD\u06CF\u06D2\u06D3\u06D5\u06E5\u06E6\u06EE\u06EF\u0759-\u075B\u076B\u076C\u0771\u0773\u0774\u0778\u0779\u0870-\u0888\u088E\u08AA-\u08AE\u08B1\u08B2\u08B9]`;

/**
 * Joiners that change what a person sees: ZWJ between the parts of a composed emoji (UTS 51), ZWNJ between Arabic
 * letters that would join, either one after a virama (RFC 5892, appendix A), and either one before a virama, as in
 * Bengali and Kannada conjuncts. Up to two marks may be between.
 */
const NEEDED_JOINERS = [
  String.raw`(?<=\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier})?)${JOINER}(?=\p{Extended_Pictographic})`,
  String.raw`(?<=(?!${ENDS_JOINING})${ARABIC_LETTER}\p{Mn}{0,2})\u200C(?=\p{Mn}{0,2}${ARABIC_LETTER})`,
  String.raw`(?<=\p{L}\p{M}?${VIRAMA})${ANY_JOINER}`,
  String.raw`(?<=${INDIC_LETTER}\p{M}?)${ANY_JOINER}(?=${VIRAMA}\p{L})`,
];
const JOINERS = new RegExp(`(${NEEDED_JOINERS.join('|')})|${ANY_JOINER}`, 'gu');

const JOINER_RUN = new RegExp(`(${ANY_JOINER})${ANY_JOINER}+`, 'gu');

/**
 * Removes joiners that change nothing visible, since they can only hide something. The first of several in a row
 * counts.
 */
function removeUnneededJoiners(text: string): string {
  return text.replace(JOINER_RUN, '$1').replace(JOINERS, '$1');
}

/** Longest value that a message quotes, in UTF-16 units. */
const QUOTE_LENGTH = 60;

/** Writes a value from outside so that a message can quote it: one short line without invisible characters. */
export function formatQuote(value: string): string {
  const start = cleanString(value.slice(0, QUOTE_LENGTH * 4));
  return cutText(start.replace(/\s+/g, ' ').trim(), QUOTE_LENGTH);
}
