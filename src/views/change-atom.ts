import type { ChangeNews } from './change-news.ts';
import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';
import { formatSecond } from './words/figures.ts';

/** Pieces of news in the feed, the newest. */
export const ATOM_ENTRIES = 50;

/** The catalogue that the news are of. */
export interface NewsSource {
  readonly identity: string;
  /** Time of the latest change that readers can see, ISO 8601 UTC: what the feed is as of while there are no news. */
  readonly revised_at: string;
}

/**
 * Builds the Atom feed (RFC 4287) of what changed, the newest first. Titles are plain text of ours, with the slug in place
 * of the provider's title; what providers wrote is in the content alone, escaped and named as theirs.
 */
export function buildChangesAtom(news: readonly ChangeNews[], source: NewsSource, site: Site): string {
  const { baseUrl, serviceTitle, contactName, contactUrl } = site;
  // An address as authority, a year in which it was ours (RFC 4151): the same entry has the same id for ever.
  const idStart = `tag:${new URL(baseUrl).hostname},2026:${encodeURIComponent(source.identity)}/changes`;
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">',
    buildText('id', idStart),
    buildText('title', `${serviceTitle}: what changed`),
    buildText('subtitle', 'APIs that came and went, were verified by a paid call, or ask another price or payee.'),
    buildText('updated', news[0]?.at ?? source.revised_at),
    `<author>${buildText('name', contactName)}${buildText('uri', contactUrl)}</author>`,
    buildLink('self', 'application/atom+xml', buildUrl(baseUrl, PATHS.changesFeed)),
    buildLink('alternate', 'text/html', buildUrl(baseUrl, PATHS.changes)),
    ...news.map((one) => buildEntry(one, idStart, baseUrl)),
    '</feed>',
  ];
  return `${lines.join('\n')}\n`;
}

function buildEntry(news: ChangeNews, idStart: string, baseUrl: string): string {
  const { id, at, kind, sentence, count, listings, path } = news;
  const title = count === 1 && listings[0] ? `${listings[0].slug}: ${sentence}` : sentence;
  return [
    '<entry>',
    buildText('id', `${idStart}/${id}`),
    buildText('title', title),
    buildText('published', at),
    buildText('updated', at),
    buildLink('alternate', 'text/html', buildUrl(baseUrl, path)),
    `<category term="${kind}"/>`,
    `<content type="html">${escapeXml(buildContent(news, baseUrl))}</content>`,
    '</entry>',
  ].join('\n');
}

/** Builds the content as HTML, in which all that comes from outside is escaped once, before the whole is for XML. */
function buildContent({ sentence, count, listings, decisions }: ChangeNews, baseUrl: string): string {
  const paragraphs = [`<p>${escapeXml(sentence)}.</p>`];
  const named = listings.map(({ slug, title, host, path, cautions }) => {
    const href = escapeXml(buildUrl(baseUrl, path));
    const held = cautions.length > 0 ? `<br>Cautions now: ${escapeXml(cautions.join(' '))}` : '';
    return `<li><a href="${href}">${escapeXml(slug)}</a>, in its provider's words <q>${escapeXml(title)}</q> (${escapeXml(host)})${held}</li>`;
  });
  const more = count - listings.length;
  paragraphs.push(`<ul>${named.join('')}${more > 0 ? `<li>and ${more.toLocaleString('en')} more</li>` : ''}</ul>`);
  if (decisions.length > 0) {
    const items = decisions.map(({ at, what, why, evidence }) => {
      const lines = [`${what}: ${why}`, ...evidence].map((line) => `<br>${escapeXml(line)}`);
      return `<li>${formatSecond(at)}${lines.join('')}</li>`;
    });
    paragraphs.push(
      `<p>On record, where route names and quotes are those of the sources:</p><ul>${items.join('')}</ul>`,
    );
  }
  return paragraphs.join('');
}

function buildText(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

function buildLink(rel: string, type: string, href: string): string {
  return `<link rel="${rel}" type="${type}" href="${escapeXml(href)}"/>`;
}

/** What XML 1.0 has no way to write, escaped or not (section 2.2). */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML and HTML alike, in elements and in double-quoted attributes. */
function escapeXml(text: string): string {
  return text.replace(NOT_XML, '\u{FFFD}').replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
}
