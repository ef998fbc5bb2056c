import { removeChatMarks } from './invisible.ts';
import { stripTags } from './markup-tags.ts';

/** What is taken out with its content: comments, and elements that hold program text instead of prose. */
const REMOVED_SPANS: readonly (readonly [open: RegExp, close: RegExp])[] = [
  [/<!--/g, /-->/g],
  [/<script\b[^<>]*>/gi, /<\/script\s*>/gi],
  [/<style\b[^<>]*>/gi, /<\/style\s*>/gi],
];

/** The frame of a CDATA section, whose content is prose, and the opening of a comment that is never closed. */
const EMPTY_FRAME = /<!\[CDATA\[|\]\]>|<!--/g;

/** Declarations and processing instructions. */
const DECLARATION = /<[!?][a-z[-][^<>]*>/gi;

/** `![alt](address)`, `[text](address "title")`, `<https://…>`. */
const IMAGE = /!\[([^\][]{0,500})\]\([^()\s]{0,2000}(?:\([^()\s]*\)[^()\s]*)?(?:\s+["'][^"']*["'])?\s*\)/g;
const LINK = /\[([^\][]{1,500})\]\([^()\s]{0,2000}(?:\([^()\s]*\)[^()\s]*)?(?:\s+["'][^"']*["'])?\s*\)/g;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^<>\s]+)>/gi;

const HEADING = /^[ \t]{0,3}#{1,6}[ \t]+/gm;
const FENCE = /^[ \t]{0,3}(?:```|~~~)[^\n`]*$/gm;
const STRONG = /\*\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*\*/g;

/** Named entities met in descriptions; `&amp;` may stand before any of them, any number of times. */
const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&', nbsp: ' ', ndash: '–', mdash: '—', hellip: '…', bull: '•' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', copy: '©', reg: '®', trade: '™', middot: '·', times: '×' },
  ...{
    larr: '←',
    rarr: '→',
    euro: '€',
    pound: '£',
    deg: '°',
    lsqb: '[',
    rsqb: ']',
    excl: '!',
    num: '#',
    newline: '\n',
  },
};
const ENTITY = /&(?:amp;|#38;|#x26;)*(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi;

/** Rounds after which text that still unwraps into markup is taken for an attack. */
const MAX_ROUNDS = 8;

/**
 * Takes markup out of a provider's text and leaves what it says: HTML by its known element names, entities decoded,
 * Markdown images and links reduced to their text. A comparison such as `a < b` survives; a placeholder such as
 * `<token>` becomes `{token}`, so that nobody takes it for a tag. Repeated until nothing changes, because markup can be
 * wrapped in markup. Every step takes time in proportion to the text.
 */
export function stripMarkup(text: string, cleanBetween: (text: string) => string = (same) => same): string {
  let current = cleanBetween(text);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = cleanBetween(stripOnce(decodeEntities(current)));
    if (next === current) return current;
    current = next;
  }
  return current.replace(/[<>&]/g, ' ');
}

function stripOnce(text: string): string {
  const framed = REMOVED_SPANS.reduce(removeSpans, removeChatMarks(text))
    .replace(EMPTY_FRAME, '')
    .replace(AUTOLINK, '$1')
    .replace(DECLARATION, ' ');
  return stripTags(framed)
    .replace(IMAGE, '$1')
    .replace(LINK, '$1')
    .replace(FENCE, '')
    .replace(HEADING, '')
    .replace(STRONG, '$1');
}

/** Removes everything from each opening to the next closing. Without a closing, nothing is removed from there on. */
function removeSpans(text: string, [open, close]: readonly [RegExp, RegExp]): string {
  let kept = '';
  let position = 0;
  for (;;) {
    const start = findFrom(text, open, position);
    const end = start && findFrom(text, close, start.index + start[0].length);
    if (!start || !end) return kept + text.slice(position);
    kept += `${text.slice(position, start.index)} `;
    position = end.index + end[0].length;
  }
}

function findFrom(text: string, pattern: RegExp, position: number): RegExpExecArray | null {
  const search = new RegExp(pattern);
  search.lastIndex = position;
  return search.exec(text);
}

function decodeEntities(text: string): string {
  return text.replace(ENTITY, (entity, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED_ENTITIES[name.toLowerCase()] ?? entity;
    const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return point <= 0x10ffff ? String.fromCodePoint(point) : '';
  });
}
