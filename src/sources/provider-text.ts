import type { Note } from './finding-codes.ts';
import { hasHiddenText } from './invisible.ts';
import { cleanText, isTooLong, TEXT_LIMITS, type TextField } from './text.ts';

/** Reads a provider's text into a field, and notes where something was hidden in it or it had to be cut. */
export function readText(raw: unknown, field: TextField, note: Note): string {
  if (typeof raw !== 'string') return '';
  const name = field.replace('_', ' ');
  if (hasHiddenText(raw)) note('hidden_text', `The ${name} held invisible or direction-changing characters.`);
  if (isTooLong(raw, field)) note('text_shortened', `The ${name} was cut at ${TEXT_LIMITS[field]} characters.`);
  return cleanText(raw, field);
}

const MIME_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,60}\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,60})(?:\s*;\s*[a-z0-9-]+=[^\s;]{1,60})*$/i;

/** Reads a media type; null where there is none, or where it is not one, which is noted. */
export function readMimeType(raw: unknown, note: Note): string | null {
  if (raw === undefined || raw === null || raw === '') return null;
  if (typeof raw === 'string' && MIME_TYPE.test(raw)) return raw.toLowerCase();
  note('bad_mime_type');
  return null;
}
