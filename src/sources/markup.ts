import { removeChatMarks } from './clean-string.ts';

/** Markup that is removed together with its content: comments, and elements that hold code instead of prose. */
const REMOVED_SPANS: readonly (readonly [open: RegExp, close: RegExp])[] = [
  [/<!--/g, /-->/g],
  [/<script\b[^<>]*>/gi, /<\/script\s*>/gi],
  [/<style\b[^<>]*>/gi, /<\/style\s*>/gi],
];

/** The delimiters of a CDATA section, whose content is prose, and the start of a comment that is never closed. */
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

/** Named entities seen in descriptions. They may be escaped with `&amp;`, any number of times. */
const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  bull: '•',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  copy: '©',
  reg: '®',
  trade: '™',
  middot: '·',
  times: '×',
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
};
const ENTITY = /&(?:amp;|#38;|#x26;)*(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi;

/** Rounds after which text that still contains nested markup counts as an attack. */
const MAX_ROUNDS = 8;

/**
 * Removes markup from a provider's text and keeps the words: tags of known HTML elements are removed, entities are
 * decoded, Markdown images and links are reduced to their text. A comparison such as `a < b` stays; a placeholder such
 * as `<token>` becomes `{token}`, so that nobody mistakes it for a tag. Repeats until nothing changes, because markup
 * can be nested. Every step takes time in proportion to the text.
 */
export function stripMarkup(text: string, cleanBetween: (text: string) => string): string {
  let current = cleanBetween(text);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = cleanBetween(stripOnce(decodeEntities(current)));
    if (next === current) return current;
    current = next;
  }
  return current.replace(/[<>&]/g, ' ');
}

function stripOnce(text: string): string {
  return REMOVED_SPANS.reduce(removeSpans, removeChatMarks(text))
    .replace(EMPTY_FRAME, '')
    .replace(AUTOLINK, '$1')
    .replace(DECLARATION, ' ')
    .replace(TAG, replaceTag)
    .replace(IMAGE, '$1')
    .replace(LINK, '$1')
    .replace(FENCE, '')
    .replace(HEADING, '')
    .replace(STRONG, '$1');
}

/** Removes everything from each opening to the next closing. If a closing is missing, the rest stays. */
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

/** Names of HTML, SVG and MathML elements that begin a new line or block. */
const BLOCK_ELEMENTS = new Set(
  `address article aside blockquote br center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3
  h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul`.split(/\s+/),
);

/** Names of elements within a line, or without visible content. */
const OTHER_ELEMENTS = new Set(
  `a abbr acronym applet area audio b base basefont bdi bdo big body button canvas caption circle cite code col colgroup
  data datalist defs del dfn em embed font frame frameset g head html i iframe image img input ins kbd label legend line
  link map mark marquee math menu meta meter noscript object optgroup option output param path picture polygon progress q
  rect rp rt ruby s samp script select slot small source span strike strong style sub sup svg template text textarea time
  title track tt u use var video wbr`.split(/\s+/),
);

/**
 * A tag as HTML reads it (standard, 13.2.5.8): the name ends at white space, a slash or `>`, and attributes follow
 * either of the first two: `<name …>`, `</name>`, `<name/>`, `<name/attribute=…>`. The second part is a tag that is
 * never closed, which would swallow the text after it.
 */
const TAG = /<(\/?)([a-z][^\s/<>]*)((?:[\s/][^<>]*)?)>|<([a-z][^\s/<>]*)([\s/][^<>=]*=[^<>]*)(?=<|$)/gi;

const PLAIN_NAME = /^[a-z][a-z0-9:-]*$/i;

/** Attributes that cannot be one side of an equation: event handlers, addresses, styles. */
const ATTRIBUTE =
  /[\s/"'](?:on[a-z]{3,}|action|class|data-[\w-]+|formaction|href|id|poster|src|srcdoc|style|xlink:href|xmlns)\s*=/i;

/**
 * Returns what stands in place of a tag: nothing for those of known elements, and any with attributes. A comparison
 * (`a<b and c>d`, `x<y/z`) stays, and a placeholder such as `<token>` becomes `{token}`, so that nobody mistakes it for a
 * tag.
 */
function replaceTag(
  tag: string,
  closing: string | undefined,
  name = '',
  attributes = '',
  openName?: string,
  openAttributes = '',
): string {
  if (openName !== undefined) return isUnclosedTag(openName, openAttributes) ? '' : tag;
  const hasAttribute = ATTRIBUTE.test(attributes);
  if (!PLAIN_NAME.test(name)) return hasAttribute ? '' : tag;
  const words = trimTagEnd(attributes);
  const isAfterSlash = attributes.startsWith('/') && words !== '';
  const isSure = hasAttribute || (!isAfterSlash && words.includes('='));
  const element = name.toLowerCase();
  if (isElement(element)) {
    // A one-letter element name followed by words that are not attributes is no tag: `if a<b and c>d`, `a<b/2 and c>d`.
    if (words !== '' && element.length === 1 && !isSure) return tag;
    if (isAfterSlash && !words.includes('=')) return `{${name}${words}}`;
    return BLOCK_ELEMENTS.has(element) ? '\n' : '';
  }
  if (isSure || (closing && !isAfterSlash)) return '';
  if (isAfterSlash) return tag;
  return words ? `{${name} ${words}}` : `{${name}}`;
}

/**
 * Removes the slash that closes an empty element, and white space. It loops because a regular expression would try
 * every slash.
 */
function trimTagEnd(attributes: string): string {
  let end = attributes.length;
  while (end > 0 && ' /\t\n'.includes(attributes.charAt(end - 1))) end -= 1;
  return attributes.slice(0, end).trim();
}

/** Returns whether an unclosed `<name` is a tag. One-letter and unknown names need an attribute as proof. */
function isUnclosedTag(name: string, attributes: string): boolean {
  return (name.length > 1 && isElement(name)) || ATTRIBUTE.test(attributes);
}

function isElement(name: string): boolean {
  const element = name.toLowerCase();
  return BLOCK_ELEMENTS.has(element) || OTHER_ELEMENTS.has(element);
}
