/** A text of somebody else's, as much of it as is shown at once and what is folded away, each by paragraph. */
export interface ProviderWords {
  readonly shown: readonly string[];
  /** Empty where all of it is shown. */
  readonly folded: readonly string[];
}

/** Characters that are shown at once, and how many more there must be for folding to be worth it. */
const SHOWN_LENGTH = 700;
const SLACK = 200;

/**
 * Splits a text into paragraphs and folds away what is long, so that what was checked comes before what was written. A cut
 * is between paragraphs, or words, or anywhere in a text that has neither; nothing is lost by it.
 */
export function splitProviderText(text: string): ProviderWords {
  const paragraphs = text.split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== '');
  if (paragraphs.join('').length <= SHOWN_LENGTH + SLACK) return { shown: paragraphs, folded: [] };
  const shown: string[] = [];
  let room = SHOWN_LENGTH;
  for (const [at, paragraph] of paragraphs.entries()) {
    if (paragraph.length <= room) {
      shown.push(paragraph);
      room -= paragraph.length;
      continue;
    }
    // The first is cut where it is too long by itself; after it, one begins whole or not at all.
    if (at > 0) return { shown, folded: paragraphs.slice(at) };
    const [head, tail] = cutAtSpace(paragraph, room);
    return { shown: [head], folded: [tail, ...paragraphs.slice(1)] };
  }
  return { shown, folded: [] };
}

/** Cuts at the last space or line end before a length, never within a character. */
function cutAtSpace(text: string, length: number): [head: string, tail: string] {
  const space = text.slice(0, length).search(/\s\S*$/);
  const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff;
  const at = space > 0 ? space : isLow(text.charCodeAt(length)) ? length - 1 : length;
  return [text.slice(0, at), text.slice(at).trimStart()];
}
