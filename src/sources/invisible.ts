import { removeIdleJoiners } from './joiners.ts';

/**
 * Characters that a reader cannot see but a program reads: controls, direction marks, zero-width and other ignorable
 * characters (tag characters included), lone surrogates, private use, non-characters, interlinear annotation. The
 * emoji presentation selector stays where it follows a pictograph. Joiners are looked at on their own.
 */
const INVISIBLE =
  /(?<!\p{Extended_Pictographic})\uFE0F|[\p{Cc}\p{Cs}\p{Co}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB]|(?!\uFE0F|\u200C|\u200D)\p{Default_Ignorable_Code_Point}/gu;

/** What hides text or turns it around on purpose: direction overrides and isolates, zero-width and tag characters. */
const HIDING = /[\u200B\u2060-\u2064\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]|(?<!^)\uFEFF/u;

/** Line ends of every kind: CR LF, NEL, line and paragraph separators, form feed and vertical tab. */
const LINE_END = /\r\n?|[\u0085\u2028\u2029\f\v]/g;

/** Stacks of combining marks beyond any orthography, which draw over neighbouring lines. */
const MARK_STACK = /(\p{M}{4})\p{M}+/gu;

/** The blank Braille cell looks like a space and is none. */
const BLANK = /\u2800/g;

/** Removes what cannot be seen, keeps line feeds and tabs, and composes what is left (NFC). */
export function removeInvisible(text: string): string {
  const lines = text.replace(LINE_END, '\n').replace(BLANK, ' ');
  const visible = lines.replace(INVISIBLE, (character) => (character === '\n' || character === '\t' ? character : ''));
  return removeIdleJoiners(visible.normalize('NFC').replace(MARK_STACK, '$1')).normalize('NFC');
}

/**
 * What language models take for a change of speaker or for the end of a text: `<|im_start|>` and its like in several
 * families, of which one writes wide bars.
 */
const CHAT_MARK =
  /<[|\uFF5C][^<>|\uFF5C]{1,40}[|\uFF5C]>|\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_(?:turn|image|audio)>|<\/?s>/gi;

/** Rounds after which text that still unwraps into marks is taken for an attack. */
const MARK_ROUNDS = 8;

/** Removes the marks of language models, also those that appear once others inside them are removed. */
export function removeChatMarks(text: string): string {
  let current = text;
  for (let round = 0; round < MARK_ROUNDS; round++) {
    const next = current.replace(CHAT_MARK, ' ');
    if (next === current) return current;
    current = next;
  }
  return current.replace(/[<>[\]]/g, ' ');
}

/** Cleans a string that stays as it is otherwise: a name or value of a schema or an example. */
export function cleanString(text: string): string {
  const visible = removeInvisible(text);
  const cleaned = removeChatMarks(visible);
  return cleaned === visible ? visible : removeInvisible(cleaned).trim();
}

/** Returns whether text holds characters that hide or turn text; a byte order mark at the start is none. */
export function hasHiddenText(text: string): boolean {
  return HIDING.test(text);
}
