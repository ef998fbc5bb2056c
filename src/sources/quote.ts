import { cutText } from '../model/text.ts';
import { cleanString } from './invisible.ts';

/** Longest value that a message quotes, in UTF-16 units. */
const QUOTE_LENGTH = 60;

/** Writes an outside value as a message may quote it: one short line, with nothing in it that cannot be seen. */
export function formatQuote(value: string): string {
  const start = cleanString(value.slice(0, QUOTE_LENGTH * 4));
  return cutText(start.replace(/\s+/g, ' ').trim(), QUOTE_LENGTH);
}
