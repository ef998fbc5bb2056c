/** Zero-width joiner and non-joiner. */
const JOINER = String.raw`\u200D`;
const EITHER = String.raw`(?:\u200C|\u200D)`;

/** Signs that kill the inherent vowel of Indic consonants and their like (canonical combining class 9). */
const VIRAMA = String.raw`[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u1039\u17D2\u1B44\uA9C0]`;
const INDIC_LETTER = String.raw`(?=\p{L})[\u0900-\u0DFF]`;

/** An Arabic letter, and those that do not join to the letter after them (Joining_Type R and U). */
const ARABIC_LETTER = String.raw`(?=\p{L})\p{Script=Arabic}`;
const ENDS_JOINING = String.raw`[\u0621-\u0625\u0627\u0629\u062F-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06C0\u06C3-\u06CB\u06CD\u06CF\u06D2\u06D3\u06D5\u06E5\u06E6\u06EE\u06EF\u0759-\u075B\u076B\u076C\u0771\u0773\u0774\u0778\u0779\u0870-\u0888\u088E\u08AA-\u08AE\u08B1\u08B2\u08B9]`;

/**
 * Where joiners hold something together that readers see: ZWJ between the parts of a composed emoji (UTS 51), ZWNJ
 * between Arabic letters that would join, either behind a virama (RFC 5892, appendix A), and either before one, by
 * which Bengali and Kannada write their conjuncts. Up to two marks may stand between.
 */
const HOLDING = [
  String.raw`(?<=\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier})?)${JOINER}(?=\p{Extended_Pictographic})`,
  String.raw`(?<=(?!${ENDS_JOINING})${ARABIC_LETTER}\p{Mn}{0,2})\u200C(?=\p{Mn}{0,2}${ARABIC_LETTER})`,
  String.raw`(?<=\p{L}\p{M}?${VIRAMA})${EITHER}`,
  String.raw`(?<=${INDIC_LETTER}\p{M}?)${EITHER}(?=${VIRAMA}\p{L})`,
];
const JOINERS = new RegExp(`(${HOLDING.join('|')})|${EITHER}`, 'gu');

const RUN = new RegExp(`(${EITHER})${EITHER}+`, 'gu');

/** Removes the joiners that hold nothing together, which can only hide something; of a run, the first counts. */
export function removeIdleJoiners(text: string): string {
  return text.replace(RUN, '$1').replace(JOINERS, '$1');
}
