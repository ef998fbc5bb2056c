import { z } from 'zod';
import { type Category, catalogueSummary } from '../model/catalogue.ts';
import { CAUTIONS, type CautionCode, cautionCode } from '../model/caution.ts';
import { type Change, type ChangeKind, change } from '../model/change.ts';
import { buildUrl, PATHS } from './links.ts';
import { tombstone } from './listing/record.ts';
import type { Site } from './site.ts';
import {
  type Decision,
  describeDecision,
  describeReason,
  getCautionPhrase,
  isOtherPayee,
  recordedTermsChange,
} from './words/decision.ts';
import { formatSecond } from './words/figures.ts';
import { escapeXml } from './xml.ts';

export const CHANGES_LIMIT_DEFAULT = 100;
export const CHANGES_LIMIT_MAX = 1000;

/** Recommended wait of a reader who has read all, in seconds. */
export const POLL_AFTER_SECONDS = 60;

/** Position from which a reader goes on: a revision, a cursor, which names its history, or a date or time. */
const SINCE = 'a revision, resume_cursor of an earlier answer, or a date such as 2026-11-20';
const changesSince = z.union(
  [
    z.int().nonnegative(SINCE),
    z.iso.date(SINCE),
    z.iso.datetime({ offset: true, error: SINCE }),
    z.string().regex(/^(?!\d{4}-\d{2}-\d{2}$)\d{1,15}(-[0-9a-z-]{1,80})?$/, SINCE),
  ],
  SINCE,
);

/** Query of the feed of changes. */
export const changesQuery = z.strictObject({
  since: changesSince
    .optional()
    .describe(
      'Revision that the reader has (0: none), or better the cursor of an earlier answer: what became visible after it is ' +
        'listed, oldest first. Or a date or time, from which on is listed. A revision alone cannot tell that the history was replaced by another one',
    ),
  limit: z.int().min(1).max(CHANGES_LIMIT_MAX).default(CHANGES_LIMIT_DEFAULT).describe('Changes a page'),
  cursor: z
    .string()
    .max(100)
    .optional()
    .describe('next_cursor of the page before, or resume_cursor of the last page read; it carries its since'),
  history: z
    .enum(['compact', 'all'])
    .default('compact')
    .describe('compact: of what lies far back only what it came to; all: every change ever made'),
});
export type ChangesQuery = z.infer<typeof changesQuery>;

/** The answer of `GET /agent/changes`. */
export const agentChanges = z
  .object({
    catalogue: catalogueSummary,
    revision: z.int().nonnegative().describe('Catalogue revision of this answer'),
    since: z.int().nonnegative().describe('The revision after which is listed'),
    compacted_up_to: z
      .int()
      .positive()
      .optional()
      .describe(
        'Up to this revision superseded changes are left out: of each listing the latest change of its state, of each ' +
          'route its latest verification, and the latest of each other kind are here. Its routes and words are in ' +
          '/agent/listings/{slug}',
      ),
    next_cursor: z.string().optional().describe('Absent on the last page'),
    resume_cursor: z
      .string()
      .optional()
      .describe(
        'On the last page: the cursor to come back with for what happens later, as cursor or since. The answer is 410 ' +
          '(history_replaced) once the catalogue was put back to an earlier state: start again with since=0',
      ),
    poll_after_seconds: z.int().positive().optional().describe('On the last page: asking sooner seldom tells more'),
    changes: z.array(change),
    tombstones: z.array(tombstone).describe('The listings of this page that are delisted now'),
  })
  .meta({ id: 'AgentChanges' });
export type AgentChanges = z.infer<typeof agentChanges>;

/** Kinds of change that are news, the most important first. The first leads where a listing changed in several ways. */
export const NEWS_KINDS = [
  'delisted',
  'held',
  'listed',
  'relisted',
  'danger',
  'verified',
  'unverified',
  'payee',
  'priced',
  'cautioned',
  'cleared',
  'corrected',
] as const;
export type NewsKind = (typeof NEWS_KINDS)[number];

/**
 * A listing in the news. The title is its provider's text; the path leads to its page, to its tombstone, or to the page
 * of changes.
 */
export interface NewsListing {
  readonly slug: string;
  readonly title: string;
  readonly path: string;
  /** Host of its base address: our fact, beside every title. */
  readonly host: string;
  /** Its present cautions in our own sentences, the gravest first. */
  readonly cautions: readonly string[];
}

/** One piece of news: the visible changes of one listing at one revision, or the same change of many listings. */
export interface ChangeNews {
  /** Stable within its catalogue: made of the revision, which is never used again. */
  readonly id: string;
  readonly revision: number;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly kind: NewsKind;
  /** The event in a few words of ours, without a full stop: nothing in it is a provider's text. */
  readonly sentence: string;
  /** Number of listings in it. */
  readonly count: number;
  /** The first listings by slug; all where there is only one. */
  readonly listings: readonly NewsListing[];
  /** Each change of one listing in words, with its evidence, which quotes sources. Empty for news of many listings. */
  readonly decisions: readonly Decision[];
  /** Path of the listing's page, or of the page of changes. */
  readonly path: string;
}

/** Most listings with the same change at one revision that get a piece of news each; more than that share one. */
const TOLD_APART = 5;

/** Most listings that news of many listings name. */
const NAMED = 10;

/** A piece of news without the present names of its listings. It never changes. */
export interface NewsDigest extends Omit<ChangeNews, 'listings' | 'path'> {
  /** Slugs of the first listings. */
  readonly slugs: readonly string[];
}

/** Changes of one listing at one revision that are news. */
interface ListingNews {
  readonly slug: string;
  readonly listing_id: string;
  readonly kinds: readonly NewsKind[];
  readonly changes: readonly Change[];
}

const range = z.object({ min: z.int(), max: z.int() });
const priced = z.object({ from: range, to: z.unknown() });
const routed = z.object({ terms: z.array(recordedTermsChange).default([]) });
const cautioned = z.object({ code: cautionCode });

/** Builds a piece of news; `getListing` returns the present listing with a slug. */
export function buildChangeNews(
  { slugs, ...digest }: NewsDigest,
  getListing: (slug: string) => NewsListing,
): ChangeNews {
  const listings = slugs.map(getListing);
  const [only] = listings;
  return { ...digest, listings, path: digest.count === 1 && only ? only.path : PATHS.changes };
}

/** Digests the changes of one revision into news, the most important first. */
export function digestChanges(changes: readonly Change[]): NewsDigest[] {
  const groups = Map.groupBy(listListingNews(changes), ({ kinds }) => kinds[0]);
  return NEWS_KINDS.flatMap((kind) => {
    const group = groups.get(kind) ?? [];
    return group.length > TOLD_APART ? [digestMany(kind, group)] : group.map(digestOne);
  });
}

function* listListingNews(changes: readonly Change[]): Generator<ListingNews> {
  for (const [slug, own] of Map.groupBy(changes, (change) => change.slug)) {
    const isNew = own.some(({ kind }) => kind === 'listed');
    const telling = own.flatMap((change) => listNewsKinds(change).map((kind) => ({ kind, change })));
    const wasPriced = telling.some(({ kind }) => kind === 'priced');
    const news = telling.filter(({ kind }) => {
      // A listing that never had a price was never shown, so holding it back is no news; neither is its first price.
      if (kind === 'held') return wasPriced;
      return !(isNew && kind === 'priced');
    });
    const [first] = news;
    if (!first) continue;
    yield {
      slug,
      listing_id: first.change.listing_id,
      kinds: NEWS_KINDS.filter((name) => news.some(({ kind }) => kind === name)),
      changes: [...new Set(news.map(({ change }) => change))],
    };
  }
}

function listNewsKinds({ kind, detail }: Change): NewsKind[] {
  if (kind === 'priced') return priced.safeParse(detail).success ? ['priced'] : [];
  if (kind === 'routed') {
    return routed.safeParse(detail).data?.terms.some(isOtherPayee) ? ['payee'] : [];
  }
  if (kind === 'cautioned') {
    const { data } = cautioned.safeParse(detail);
    // Terms that are only declared are no news.
    if (data?.code === 'never_seen') return [];
    return [data && CAUTIONS[data.code].severity === 'danger' ? 'danger' : 'cautioned'];
  }
  const known = NEWS_KINDS.find((name) => name === kind);
  return known ? [known] : [];
}

function digestOne({ slug, listing_id, kinds, changes }: ListingNews): NewsDigest {
  const [first] = changes;
  const [kind = 'listed'] = kinds;
  return {
    id: `${first?.revision}/${listing_id}`,
    revision: first?.revision ?? 0,
    at: first?.at ?? '',
    kind,
    sentence: describeNews(kind, changes),
    count: 1,
    slugs: [slug],
    decisions: changes.map(describeDecision),
  };
}

function digestMany(kind: NewsKind, group: readonly ListingNews[]): NewsDigest {
  const first = group[0]?.changes[0];
  const slugs = group.map(({ slug }) => slug).toSorted();
  return {
    id: `${first?.revision}/${kind}`,
    revision: first?.revision ?? 0,
    at: first?.at ?? '',
    kind,
    sentence: `${group.length.toLocaleString('en')} listings: ${BULK_WORDS[kind]}`,
    count: group.length,
    slugs: slugs.slice(0, NAMED),
    decisions: [],
  };
}

const BULK_WORDS: Readonly<Record<NewsKind, string>> = {
  delisted: 'removed',
  held: 'held back: no price',
  listed: 'new',
  relisted: 'put back',
  danger: 'cautions of danger',
  verified: 'settlement-verified',
  unverified: 'routes unverified again',
  payee: 'another payee',
  priced: 'price changed',
  cautioned: 'cautions',
  cleared: 'cautions cleared',
  corrected: 'receipts corrected',
};

/** Describes the leading kind of news in our own words, without route names, addresses and reasons in free text. */
function describeNews(kind: NewsKind, changes: readonly Change[]): string {
  const of = (wanted: ChangeKind) => changes.filter((change) => change.kind === wanted);
  switch (kind) {
    case 'listed':
      return 'New listing';
    case 'held':
      return 'Held back: no price is known any more';
    case 'delisted': {
      const by = of('delisted')[0]?.detail.by;
      return `Delisted by ${by === 'provider' ? 'its provider' : by === 'rule' ? 'a rule' : 'the operator'}`;
    }
    case 'relisted':
      return `Back: ${describeReason(of('relisted')[0]?.reason ?? '')}`;
    case 'verified':
      return `Settlement-verified: ${countRoutes(of('verified').length)} paid for and delivered`;
    case 'unverified':
      return `Unverified again: ${countRoutes(of('unverified').length)}`;
    case 'danger':
    case 'cautioned':
      return `${kind === 'danger' ? 'Danger' : 'Caution'}: ${getCodes(of('cautioned'), kind).map(getCautionPhrase).join('; ')}`;
    case 'cleared':
      return `Caution cleared: ${getCodes(of('cleared')).map(getCautionPhrase).join('; ')}`;
    case 'corrected':
      return 'The operator corrected the record of a paid call';
    case 'payee': {
      const terms = of('routed').flatMap(({ detail }) => routed.safeParse(detail).data?.terms ?? []);
      return `Another payee on ${countRoutes(terms.filter(isOtherPayee).length)}`;
    }
    case 'priced': {
      const [change] = of('priced');
      return change ? describeDecision(change).what : '';
    }
  }
}

/** Returns the codes in changes of cautions; with a kind, only the codes of its severity. */
function getCodes(changes: readonly Change[], kind?: 'danger' | 'cautioned'): CautionCode[] {
  const codes = changes.flatMap(({ detail }) => cautioned.safeParse(detail).data?.code ?? []);
  const severity = kind === 'danger' ? 'danger' : 'notice';
  return [...new Set(codes)].filter((code) => kind === undefined || CAUTIONS[code].severity === severity);
}

function countRoutes(count: number): string {
  return `${count} ${count === 1 ? 'route' : 'routes'}`;
}

/** Most pieces of news in the feed, the newest first. */
export const ATOM_ENTRIES = 50;

/** The catalogue that the news are of. */
export interface NewsSource {
  readonly identity: string;
  /** Time of the latest change that readers can see, ISO 8601 UTC: the time of a feed without news. */
  readonly revised_at: string;
}

/** Scope of a feed: all listings, one listing, those of one provider, or one category. */
interface NewsFeed {
  /** End of its id. */
  readonly id: string;
  /** End of its title, in our own words. */
  readonly of: string;
  readonly path: string;
  /** The page whose feed it is. */
  readonly page: string;
}

const WHOLE_FEED: NewsFeed = { id: '', of: '', path: PATHS.changesFeed, page: PATHS.changes };

/** Returns the feed of one listing. */
export function getListingFeed(slug: string): NewsFeed {
  return { id: `/listing/${slug}`, of: ` of ${slug}`, path: PATHS.listingFeed(slug), page: PATHS.listing(slug) };
}

/** Returns the feed of all listings at a registered domain. */
export function getProviderFeed(domain: string): NewsFeed {
  return {
    id: `/provider/${domain}`,
    of: ` at ${domain}`,
    path: PATHS.providerFeed(domain),
    page: PATHS.provider(domain),
  };
}

/** Returns the feed of a category. */
export function getCategoryFeed(category: Category): NewsFeed {
  const path = PATHS.categoryFeed(category);
  return { id: `/category/${category}`, of: ` in ${category}`, path, page: PATHS.category(category) };
}

/**
 * Builds the Atom feed (RFC 4287) of changes, the newest first. Titles are plain text of ours, with the slug in place
 * of the provider's title; providers' words are only in the content, escaped and marked as theirs.
 */
export function buildChangesAtom(
  news: readonly ChangeNews[],
  source: NewsSource,
  { site, feed = WHOLE_FEED }: { site: Site; feed?: NewsFeed },
): string {
  const { baseUrl, serviceTitle, contactName, contactUrl } = site;
  // A tag URI names our host and a year in which it was ours (RFC 4151), so an entry keeps its id for ever.
  const idStart = `tag:${new URL(baseUrl).hostname},2026:${encodeURIComponent(source.identity)}/changes`;
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">',
    buildText('id', `${idStart}${feed.id}`),
    buildText('title', `${serviceTitle}: what changed${feed.of}`),
    buildText('subtitle', 'APIs that came and went, were verified by a paid call, or ask another price or payee.'),
    buildText('updated', news[0]?.at ?? source.revised_at),
    `<author>${buildText('name', contactName)}${buildText('uri', contactUrl)}</author>`,
    buildLink('self', 'application/atom+xml', buildUrl(baseUrl, feed.path)),
    buildLink('alternate', 'text/html', buildUrl(baseUrl, feed.page)),
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

/** Builds the content as HTML. Text from outside is escaped once here, and once more with the whole for XML. */
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
