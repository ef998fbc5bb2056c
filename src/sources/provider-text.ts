import { cutText, findMediaType, TEXT_LIMITS } from '../model/text.ts';
import { hasHiddenText, removeInvisible } from './clean-string.ts';
import type { Note } from './findings.ts';
import { stripMarkup } from './markup.ts';

export type TextField = keyof typeof TEXT_LIMITS;

/** Fields that keep their line ends; all others are one line. */
const FIELDS_WITH_LINES: ReadonlySet<TextField> = new Set(['description']);

/** Most passes over one text; the second one usually changes nothing. */
const MAX_ROUNDS = 4;

/**
 * Cleans text that a provider wrote: invisible characters and markup are removed, white space is collapsed (a
 * description keeps lines and paragraphs), and a text that is too long is cut between characters and ends with an
 * ellipsis. Cleaning a clean text changes nothing. Anything but a string becomes empty.
 */
export function cleanText(raw: unknown, field: TextField): string {
  return typeof raw === 'string' ? cutText(cleanWholeText(raw, field), TEXT_LIMITS[field]) : '';
}

/** Returns whether a text is too long for its field after markup is removed. */
export function isTooLong(raw: string, field: TextField): boolean {
  return raw.length > TEXT_LIMITS[field] && cleanWholeText(raw, field).length > TEXT_LIMITS[field];
}

function cleanWholeText(raw: string, field: TextField): string {
  const collapse = FIELDS_WITH_LINES.has(field) ? collapseParagraphs : collapseLine;
  // The text is cut roughly first, so that a text of a megabyte takes no more time than any other.
  let text = raw.slice(0, TEXT_LIMITS[field] * 8 + 1000);
  // Joining lines can complete markup that a line end interrupted, so this repeats until nothing changes.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = collapse(stripMarkup(text, removeInvisible));
    if (next === text) break;
    text = next;
  }
  return text;
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

/** Cleans a provider's text for a field, and notes hidden characters and cuts. */
export function readText(raw: unknown, field: TextField, note: Note): string {
  if (typeof raw !== 'string') return '';
  const name = field.replace('_', ' ');
  if (hasHiddenText(raw)) note('hidden_text', `The ${name} held invisible or direction-changing characters.`);
  if (isTooLong(raw, field)) note('text_shortened', `The ${name} was cut at ${TEXT_LIMITS[field]} characters.`);
  return cleanText(raw, field);
}

/** Reads a media type; null if it is missing or invalid. An invalid one is noted. */
export function readMimeType(raw: unknown, note: Note): string | null {
  if (raw === undefined || raw === null || raw === '') return null;
  const found = typeof raw === 'string' ? findMediaType(raw) : null;
  if (found === null) note('bad_mime_type');
  return found;
}
