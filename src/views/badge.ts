import { buildUrl, PATHS } from './links.ts';
import { type AgentItem, formatVerifiedRatio, listItemStandings } from './listing/item.ts';
import type { Tombstone } from './listing/record.ts';
import type { Site } from './site.ts';
import { formatDay } from './words/figures.ts';
import { escapeXml } from './xml.ts';

/** Text and tone of a badge. */
interface BadgeMessage {
  readonly text: string;
  readonly tone: 'good' | 'plain' | 'bad';
}

/** Colours of a badge, light and dark. The content security policy of the answer admits only this style. */
export const BADGE_STYLE =
  '.p{fill:#fff;stroke:#8b928d}.n{fill:#1b1e1c}.good{fill:#0d5a4a}.plain{fill:#545b57}.bad{fill:#9b1c1c}.m{fill:#fff}' +
  '@media(prefers-color-scheme:dark){.p{fill:#191d1b;stroke:#6c746f}.n{fill:#e8eae5}.good{fill:#7ed4b8}.plain{fill:#a6aea9}.bad{fill:#f2a59b}.m{fill:#121514}}';

const HEIGHT = 20;
const PADDING = 7;

/**
 * Builds the badge of a live listing as SVG: its host, the number of verified routes with the day of the proof, and its cautions.
 * It has no text of a provider: the host is the one that was asked and paid, so a badge on another site still names its own
 * listing.
 */
export function buildBadge(item: AgentItem, site: Site): string {
  return drawBadge(item.host, describeListing(item), site);
}

/** Builds the badge of a removed listing as SVG. */
export function buildGoneBadge({ host, delisted_at }: Tombstone, site: Site): string {
  return drawBadge(host, { text: `removed from the catalogue ${formatDay(delisted_at)}`, tone: 'plain' }, site);
}

/** Returns the message of a badge: the gravest standing of the listing; for a danger, followed by its proof. */
function describeListing(item: AgentItem): BadgeMessage {
  const [first] = listItemStandings(item);
  if (first.tone === 'danger') {
    const ratio = item.verified_route_count === 0 ? 'no route verified' : formatVerifiedRatio(item);
    return { text: `danger: ${first.text}; ${ratio}`, tone: 'bad' };
  }
  return { text: first.text, tone: first.tone === 'plain' ? 'plain' : 'good' };
}

/**
 * Longest host that is drawn whole, in characters. A longer one loses its start, since its end is the part that somebody
 * registered.
 */
const HOST_LENGTH = 50;

function drawBadge(host: string, { text, tone }: BadgeMessage, { serviceTitle }: Site): string {
  const name = host.length > HOST_LENGTH ? `...${host.slice(-HOST_LENGTH)}` : host;
  const [left, right] = [getWidth(name), getWidth(text)];
  const start = left + 2 * PADDING;
  const width = start + right + 2 * PADDING;
  const write = (x: number, length: number, words: string, kind: string) =>
    `<text class="${kind}" x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escapeXml(words)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-labelledby="t">`,
    `<title id="t">${escapeXml(`${serviceTitle}: ${host}, ${text}`)}</title>`,
    `<style>${BADGE_STYLE}</style>`,
    `<rect class="p" x=".5" y=".5" width="${width - 1}" height="${HEIGHT - 1}" rx="3"/>`,
    `<path class="${tone}" d="M${start} 0h${width - start - 3}a3 3 0 0 1 3 3v${HEIGHT - 6}a3 3 0 0 1-3 3H${start}z"/>`,
    '<g font-family="Verdana,DejaVu Sans,Arial,sans-serif" font-size="11">',
    write(PADDING, left, name, 'n'),
    write(start + PADDING, right, text, 'm'),
    '</g></svg>',
  ].join('');
}

/** Estimates the width of a text of 11 pixels; whatever the font, the text is fitted to it. */
function getWidth(text: string): number {
  let width = 0;
  for (const letter of text) width += /[ijlftr.,:;' -]/.test(letter) ? 4.6 : /[mwMW]/.test(letter) ? 9.8 : 6.9;
  return Math.ceil(width);
}

/** Lines to copy: a badge that links to the page of its listing. */
export interface BadgeLines {
  /** Path of the badge. */
  readonly path: string;
  /** Text for readers who do not see the badge. */
  readonly alt: string;
  readonly markdown: string;
  readonly html: string;
}

/** Builds the lines with which a provider shows the badge of a listing. */
export function buildBadgeLines(slug: string, { baseUrl, serviceTitle }: Site): BadgeLines {
  const [image, page] = [buildUrl(baseUrl, PATHS.badge(slug)), buildUrl(baseUrl, PATHS.listing(slug))];
  const alt = `What ${serviceTitle} verified here`;
  return {
    path: PATHS.badge(slug),
    alt,
    markdown: `[![${alt.replace(/[[\]\\]/g, '\\$&')}](${image})](${page})`,
    html: `<a href="${escapeXml(page)}"><img src="${escapeXml(image)}" alt="${escapeXml(alt)}" height="${HEIGHT}"></a>`,
  };
}
