import { closest, distance } from 'fastest-levenshtein';

/** Splits text into characters as a reader sees them. */
export const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts text to at most `limit` UTF-16 units, between characters as a reader sees them, with an ellipsis if cut. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cutAt = graphemes.segment(text).containing(limit - 1)?.index ?? 0;
  return `${text.slice(0, cutAt).trimEnd()}…`;
}

/** Longest text of each field that a provider writes, in UTF-16 units, including the ellipsis of a cut text. */
export const TEXT_LIMITS = {
  title: 120,
  tagline: 200,
  description: 4000,
  provider_name: 80,
  route_description: 500,
  reply: 280,
} as const;

/** A media type with parameters (RFC 9110, sections 5.6 and 8.3.1), or the range of all subtypes; and its greatest length. */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+)(?:[ \t]*;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[ !#-[\]-~]*"))*$/;
const MEDIA_TYPE_LENGTH = 200;

/** Returns a media type in lower case; null for any other text, and for a long one. */
export function findMediaType(text: string | null): string | null {
  return text !== null && text.length <= MEDIA_TYPE_LENGTH && MEDIA_TYPE.test(text) ? text.toLowerCase() : null;
}

/** Matches abbreviations, initials and list numbers, whose full stop does not end a sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|vs|etc|approx|incl|dr|mr|mrs|inc|ltd|[a-z](?:\.[a-z])*|\d{1,2})\.$/i;

/** A full stop, or its equivalent in other scripts, with closing quotes and brackets after it. */
const SENTENCE_END = /[.!?]+["')\]”’]*(?=\s)|[。！？]["')\]”’」]*/g;

/** Returns the first sentence of cleaned text, or the first line if no sentence ends in it. */
export function getFirstSentence(text: string): string {
  const line = text.trimStart().split('\n', 1)[0]?.trimEnd() ?? '';
  for (const match of line.matchAll(SENTENCE_END)) {
    const sentence = line.slice(0, match.index + match[0].length);
    if (!ABBREVIATION.test(sentence)) return sentence;
  }
  return line;
}

/**
 * Finds the word that a misspelled or shortened one most likely means: the nearest by letters, if at most a third of them differ;
 * else the shortest candidate that begins with it or that it begins with. Undefined if no word is near.
 */
export function findNearest(word: string, candidates: readonly string[]): string | undefined {
  const meant = word.toLowerCase();
  if (candidates.length === 0 || meant === '') return undefined;
  const nearest = closest(meant, [...candidates]);
  if (distance(meant, nearest) <= Math.max(1, Math.floor(nearest.length / 3))) return nearest;
  return candidates
    .filter((candidate) => candidate.toLowerCase().startsWith(meant) || meant.startsWith(candidate.toLowerCase()))
    .sort((a, b) => a.length - b.length)[0];
}

/** Returns a text with a capital first letter, for the start of a sentence. */
export function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Returns the start of a sentence in the form for the middle of one. */
export function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** Compares texts by their UTF-16 units, the same on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
