import { REPLY_MAX_LENGTH } from '../model/caution.ts';
import { cutText } from '../model/text.ts';
import { removeInvisible } from './invisible.ts';
import { stripMarkup } from './markup.ts';

/** Longest text of each field that a provider writes, in UTF-16 units, the ellipsis of a cut text included. */
export const TEXT_LIMITS = {
  title: 120,
  tagline: 200,
  description: 4000,
  provider_name: 80,
  route_description: 500,
  reply: REPLY_MAX_LENGTH,
} as const;

export type TextField = keyof typeof TEXT_LIMITS;

/** Fields that keep their line ends; all others are one line. */
const FIELDS_WITH_LINES: ReadonlySet<TextField> = new Set(['description']);

/** Passes over one text; the second usually finds nothing more to do. */
const MAX_ROUNDS = 4;

/**
 * Cleans text that a provider wrote, on its way in: invisible characters and markup are
 * taken out, white space is collapsed (a description keeps lines and paragraphs), and what is too long is cut between
 * characters with an ellipsis. Cleaning clean text changes nothing. Anything but a string is no text.
 */
export function cleanText(raw: unknown, field: TextField): string {
  return typeof raw === 'string' ? cutText(cleanWholeText(raw, field), TEXT_LIMITS[field]) : '';
}

/** Returns whether a text has to be cut for its field; markup that is taken out does not count. */
export function isTooLong(raw: string, field: TextField): boolean {
  return raw.length > TEXT_LIMITS[field] && cleanWholeText(raw, field).length > TEXT_LIMITS[field];
}

function cleanWholeText(raw: string, field: TextField): string {
  const collapse = FIELDS_WITH_LINES.has(field) ? collapseParagraphs : collapseLine;
  // Far more than can remain is cut off first, so that a text of a megabyte costs no more than any other.
  let text = raw.slice(0, TEXT_LIMITS[field] * 8 + 1000);
  // Joining lines can complete markup that a line end had broken, so once more until nothing changes.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = collapse(stripMarkup(text, removeInvisible));
    if (next === text) break;
    text = next;
  }
  return text;
}

/** Abbreviations, initials and list numbers, whose full stop ends no sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|vs|etc|approx|incl|dr|mr|mrs|inc|ltd|[a-z](?:\.[a-z])*|\d{1,2})\.$/i;

/** A full stop, or its like in other scripts, with what closes behind it. */
const SENTENCE_END = /[.!?]+["')\]”’]*(?=\s)|[。！？]["')\]”’」]*/g;

/** Returns the first sentence of cleaned text: up to its full stop, else up to the end of the first line. */
export function getFirstSentence(text: string): string {
  const line = text.trimStart().split('\n', 1)[0]?.trimEnd() ?? '';
  for (const match of line.matchAll(SENTENCE_END)) {
    const sentence = line.slice(0, match.index + match[0].length);
    if (!ABBREVIATION.test(sentence)) return sentence;
  }
  return line;
}

function collapseLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function collapseParagraphs(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
