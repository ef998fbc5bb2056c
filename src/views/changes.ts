import { z } from 'zod';
import { type Category, catalogueSummary } from '../model/catalogue.ts';
import { CAUTIONS, cautionCode, isFromStart } from '../model/caution.ts';
import { type Change, change } from '../model/change.ts';
import { cutText } from '../model/text.ts';
import { buildUrl, PATHS } from './links.ts';
import { tombstone } from './listing/record.ts';
import type { Site } from './site.ts';
import { type Decision, describeChanges, describeDecision, isOfOtherPayee, readDetail } from './words/decision.ts';
import { formatSecond } from './words/figures.ts';
import { escapeXml } from './xml.ts';

const CHANGES_LIMIT_DEFAULT = 100;
const CHANGES_LIMIT_MAX = 1000;

/** Recommended wait after the last page, in seconds. */
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

/** A change with its sentence. */
const describedChange = change
  .extend({
    sentence: z.string().describe("What changed and why, in our own words: nothing in it is a provider's text"),
  })
  .meta({ id: 'DescribedChange' });

/** Adds its sentence to a change. */
export function addSentence(change: Change): z.infer<typeof describedChange> {
  return { ...change, sentence: describeChanges([change]) };
}

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
    changes: z.array(describedChange),
    tombstones: z.array(tombstone).describe('The listings of this page that are delisted now'),
  })
  .meta({ id: 'AgentChanges' });
export type AgentChanges = z.infer<typeof agentChanges>;

/**
 * Kinds of change that are news, the most important first. If a listing changed in several ways, the first of these is the
 * headline.
 */
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
  /** Host of its base URL: our own fact, shown next to every title. */
  readonly host: string;
  /** Its current cautions in our own sentences, the gravest first. */
  readonly cautions: readonly string[];
}

/** One piece of news: the visible changes of one listing at one revision, or the same change of many listings. */
export interface ChangeNews {
  /** Stable within its catalogue, since it contains the revision, which is never used again. */
  readonly id: string;
  readonly revision: number;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly kind: NewsKind;
  /** The event in a few words of ours, without a full stop and without any provider's text. */
  readonly sentence: string;
  /** Number of listings in it. */
  readonly count: number;
  /** The first listings by slug; all of them if there is only one. */
  readonly listings: readonly NewsListing[];
  /** Each change of one listing in words, with its evidence, which quotes sources. Empty for news of many listings. */
  readonly decisions: readonly Decision[];
  /** Path of the listing's page, or of the page of changes. */
  readonly path: string;
}

/** Most listings with the same change at one revision that get separate news; more share one. */
const GROUPED_ABOVE = 5;

/** Most listings that are named in news about many. */
const NAMED = 10;

/** News without the current names of its listings. It never changes. */
export interface NewsDigest extends Omit<ChangeNews, 'listings' | 'path'> {
  /** Slugs of the first listings. */
  readonly slugs: readonly string[];
}

/** The newsworthy changes of one listing at one revision, each with its kind of news. */
interface ListingNews {
  readonly slug: string;
  /** The most important kind among them. */
  readonly kind: NewsKind;
  readonly changes: readonly [NewsChange, ...NewsChange[]];
}

interface NewsChange {
  readonly kind: NewsKind;
  readonly change: Change;
}

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
  const groups = Map.groupBy(listListingNews(changes), ({ kind }) => kind);
  return NEWS_KINDS.flatMap((kind) => {
    const group = groups.get(kind) ?? [];
    return group.length > GROUPED_ABOVE ? [digestMany(kind, group)] : group.map(digestOne);
  });
}

function* listListingNews(changes: readonly Change[]): Generator<ListingNews> {
  for (const [slug, own] of Map.groupBy(changes, (change) => change.slug)) {
    const isNew = own.some(({ kind }) => kind === 'listed');
    const telling = own.flatMap((change) => {
      const kind = findNewsKind(change);
      return kind === undefined ? [] : [{ kind, change }];
    });
    const wasPriced = telling.some(({ kind }) => kind === 'priced');
    const [first, ...more] = telling.filter(({ kind }) => {
      // A listing without a price was never shown, so neither holding it back nor its first price is news.
      if (kind === 'held') return wasPriced;
      return !(isNew && kind === 'priced');
    });
    if (!first) continue;
    const news = [first, ...more] as const;
    const kind = NEWS_KINDS.find((name) => news.some((one) => one.kind === name)) ?? first.kind;
    yield { slug, kind, changes: news };
  }
}

function findNewsKind(change: Change): NewsKind | undefined {
  const { kind } = change;
  if (kind === 'priced') return readDetail(kind, change)?.from?.min == null ? undefined : kind;
  if (kind === 'routed') return isOfOtherPayee(change) ? 'payee' : undefined;
  if (kind === 'cautioned') {
    const code = cautionCode.safeParse(change.detail.code).data;
    if (isFromStart({ code })) return undefined;
    return code && CAUTIONS[code].severity === 'danger' ? 'danger' : 'cautioned';
  }
  return NEWS_KINDS.find((name) => name === kind);
}

function digestOne({ slug, kind, changes }: ListingNews): NewsDigest {
  const [{ change: first }] = changes;
  const [lead = first, ...more] = changes.filter((one) => one.kind === kind).map(({ change }) => change);
  return {
    id: `${first.revision}/${first.listing_id}`,
    revision: first.revision,
    at: first.at,
    kind,
    sentence: describeChanges([lead, ...more]),
    count: 1,
    slugs: [slug],
    decisions: changes.map(({ change }) => describeDecision(change)),
  };
}

function digestMany(kind: NewsKind, group: readonly ListingNews[]): NewsDigest {
  const first = group[0]?.changes[0].change;
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

const REASON_LINES = 3;
const REASON_LENGTH = 200;

/** Lists the first lines of the reasons and the evidence of a piece of news, each cut to a length. They quote sources. */
export function listNewsReasons({ sentence, decisions }: Pick<ChangeNews, 'sentence' | 'decisions'>): string[] {
  const lines = decisions.flatMap(({ why, evidence }) => [why, ...evidence]);
  return [...new Set(lines)]
    .filter((line) => line !== '' && !sentence.includes(line))
    .slice(0, REASON_LINES)
    .map((line) => cutText(line, REASON_LENGTH));
}

/** Most entries of the feed, newest first. */
export const ATOM_ENTRIES = 50;

/** The catalogue of the news. */
export interface NewsSource {
  readonly identity: string;
  /** Time of the latest reader-visible change, ISO 8601 UTC; the time of a feed without news. */
  readonly revised_at: string;
}

/** The scope of a feed: one listing, the listings at a registered domain, or those of a category. */
export type FeedScope = { readonly slug: string } | { readonly domain: string } | { readonly category: Category };

/** Describes the feed of all listings, or of a scope: the ends of its id and title, its path, and its page. */
function describeFeed(of: FeedScope | undefined): { id: string; of: string; path: string; page: string } {
  if (of === undefined) return { id: '', of: '', path: PATHS.changesFeed, page: PATHS.changes };
  if ('slug' in of) {
    const { slug } = of;
    return { id: `/listing/${slug}`, of: ` of ${slug}`, path: PATHS.listingFeed(slug), page: PATHS.listing(slug) };
  }
  if ('domain' in of) {
    const { domain } = of;
    const [path, page] = [PATHS.providerFeed(domain), PATHS.provider(domain)];
    return { id: `/provider/${domain}`, of: ` at ${domain}`, path, page };
  }
  const { category } = of;
  const [path, page] = [PATHS.categoryFeed(category), PATHS.category(category)];
  return { id: `/category/${category}`, of: ` in ${category}`, path, page };
}

/**
 * Builds the Atom feed (RFC 4287) of changes, newest first. Titles are plain text of ours, with the slug in place of the
 * provider's title; providers' words are only in the content, escaped and marked as theirs. `of` is the scope of the news;
 * without it they are of all listings.
 */
export function buildChangesAtom(
  news: readonly ChangeNews[],
  source: NewsSource,
  { site, of }: { site: Site; of?: FeedScope | undefined },
): string {
  const feed = describeFeed(of);
  const { baseUrl, serviceTitle, contactName, contactUrl } = site;
  // A tag URI contains our host and a year in which it was ours (RFC 4151), so an entry keeps its id for ever.
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

/** Builds the content as HTML. Outside text is escaped here, and again as part of the XML. */
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
