const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts text to at most `limit` UTF-16 units, between characters as a reader sees them, with an ellipsis where cut. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cutAt = graphemes.segment(text).containing(limit - 1)?.index ?? 0;
  return `${text.slice(0, cutAt).trimEnd()}…`;
}
