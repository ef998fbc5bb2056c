import { cutText } from '../../model/text.ts';
import { type ChangeNews, NEWS_KINDS, type NewsKind } from '../changes.ts';
import { formatDay, formatMinute } from '../words/figures.ts';

/** Most news on the page; the newest are shown. */
export const SHOWN_NEWS = 200;

/** Names of the kinds of news in the filter. */
const KIND_NAMES: Readonly<Record<NewsKind, string>> = {
  delisted: 'Removed',
  held: 'Held back',
  listed: 'New',
  relisted: 'Put back',
  danger: 'Danger',
  verified: 'Verified',
  unverified: 'Unverified again',
  payee: 'Payee changed',
  priced: 'Price changed',
  cautioned: 'Cautions',
  cleared: 'Cautions cleared',
  corrected: 'Corrected',
};

/** The page of recent changes. */
export interface ChangesPage {
  /** Time of the shown catalogue, to the minute. */
  readonly as_of: string;
  /** Kinds of the shown news, each with its number. */
  readonly kinds: readonly { readonly kind: NewsKind; readonly name: string; readonly count: number }[];
  readonly days: readonly { readonly day: string; readonly rows: readonly NewsRow[] }[];
  readonly shown: number;
  /** True if the page leaves out older ones. */
  readonly is_cut: boolean;
}

/** Builds the page from the newest news, newest first. One more than the page shows means that there are more. */
export function buildChangesPage(news: readonly ChangeNews[], asOf: string): ChangesPage {
  const shown = news.slice(0, SHOWN_NEWS);
  const byDay = Map.groupBy(shown, ({ at }) => formatDay(at));
  return {
    as_of: formatMinute(asOf),
    kinds: NEWS_KINDS.map((kind) => ({
      ...{ kind, name: KIND_NAMES[kind] },
      count: shown.filter((piece) => piece.kind === kind).length,
    })).filter(({ count }) => count > 0),
    days: [...byDay].map(([day, members]) => ({ day, rows: members.map(buildNewsRow) })),
    shown: shown.length,
    is_cut: news.length > shown.length,
  };
}

/** One piece of news on a page. Titles and evidence are outside text. */
export interface NewsRow {
  readonly kind: NewsKind;
  /** ISO 8601 UTC, and the time of day: `12:05`. */
  readonly at: string;
  readonly time: string;
  readonly revision: number;
  readonly sentence: string;
  readonly listings: readonly {
    readonly title: string;
    readonly host: string;
    readonly path: string;
    readonly slug: string;
  }[];
  /** Number of listings beyond the named ones. */
  readonly unnamed: number;
  /** Reason and evidence: the first lines, each cut to a length. */
  readonly evidence: readonly string[];
}

const TITLE_LENGTH = 80;
const EVIDENCE_LINES = 3;
const EVIDENCE_LENGTH = 200;

/** Builds the row of one piece of news. */
export function buildNewsRow({ kind, at, revision, sentence, count, listings, decisions }: ChangeNews): NewsRow {
  const lines = decisions.flatMap(({ why, evidence }) => [why, ...evidence]);
  return {
    ...{ kind, at, revision, sentence },
    time: at.slice(11, 16),
    listings: listings.map(({ title, host, path, slug }) => ({
      title: cutText(title, TITLE_LENGTH),
      host,
      path,
      slug,
    })),
    unnamed: count - listings.length,
    evidence: [...new Set(lines)]
      .filter((line) => line !== '' && !sentence.includes(line))
      .slice(0, EVIDENCE_LINES)
      .map((line) => cutText(line, EVIDENCE_LENGTH)),
  };
}
