/** Element names of HTML, SVG and MathML that stand for a line or a block of their own. */
const BLOCK_ELEMENTS = new Set(
  `address article aside blockquote br center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3
  h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul`.split(/\s+/),
);

/** Element names that stand inside a line, or that show nothing. */
const OTHER_ELEMENTS = new Set(
  `a abbr acronym applet area audio b base basefont bdi bdo big body button canvas caption circle cite code col colgroup
  data datalist defs del dfn em embed font frame frameset g head html i iframe image img input ins kbd label legend line
  link map mark marquee math menu meta meter noscript object optgroup option output param path picture polygon progress q
  rect rp rt ruby s samp script select slot small source span strike strong style sub sup svg template text textarea time
  title track tt u use var video wbr`.split(/\s+/),
);

/**
 * A tag as HTML reads it (standard, 13.2.5.8): the name goes up to white space, a slash or `>`, and attributes follow
 * either of the first two: `<name …>`, `</name>`, `<name/>`, `<name/attribute=…>`. Or one that nothing closes, which
 * would reach into what follows.
 */
const TAG = /<(\/?)([a-z][^\s/<>]*)((?:[\s/][^<>]*)?)>|<([a-z][^\s/<>]*)([\s/][^<>=]*=[^<>]*)(?=<|$)/gi;

const PLAIN_NAME = /^[a-z][a-z0-9:-]*$/i;

/** Attributes that nobody means as one side of an equation: event handlers, addresses, looks. */
const ATTRIBUTE =
  /[\s/"'](?:on[a-z]{3,}|action|class|data-[\w-]+|formaction|href|id|poster|src|srcdoc|style|xlink:href|xmlns)\s*=/i;

/**
 * Takes tags out of text: those of known elements, and any that carries attributes. A comparison (`a<b and c>d`,
 * `x<y/z`) stays, and a placeholder such as `<token>` becomes `{token}`, so that nobody takes it for a tag.
 */
export function stripTags(text: string): string {
  return text.replace(TAG, replaceTag);
}

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
    // `if a<b and c>d`, `a<b/2 and c>d`: a one-letter element with words behind it that are no attributes.
    if (words !== '' && element.length === 1 && !isSure) return tag;
    if (isAfterSlash && !words.includes('=')) return `{${name}${words}}`;
    return BLOCK_ELEMENTS.has(element) ? '\n' : '';
  }
  if (isSure || (closing && !isAfterSlash)) return '';
  if (isAfterSlash) return tag;
  return words ? `{${name} ${words}}` : `{${name}}`;
}

/** Takes off the slash that closes an empty element, and white space; by hand, since a pattern would try every slash. */
function trimTagEnd(attributes: string): string {
  let end = attributes.length;
  while (end > 0 && ' /\t\n'.includes(attributes.charAt(end - 1))) end -= 1;
  return attributes.slice(0, end).trim();
}

/** Of what is not closed, one-letter names and unknown ones take an attribute beyond doubt. */
function isUnclosedTag(name: string, attributes: string): boolean {
  return (name.length > 1 && isElement(name)) || ATTRIBUTE.test(attributes);
}

function isElement(name: string): boolean {
  const element = name.toLowerCase();
  return BLOCK_ELEMENTS.has(element) || OTHER_ELEMENTS.has(element);
}
