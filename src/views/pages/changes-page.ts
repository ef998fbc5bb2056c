import { type ChangeNews, NEWS_KINDS, type NewsKind } from '../changes.ts';
import { formatDay, formatMinute } from '../words/figures.ts';
import { buildNewsRow, type NewsRow } from './news-row.ts';

/** How many pieces of news the page shows: the newest. */
export const SHOWN_NEWS = 200;

/** What each kind of news is called where one can choose among them. */
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

/** The page of what changed lately. */
export interface ChangesPage {
  /** When it is as of, to the minute. */
  readonly as_of: string;
  /** The kinds that are among the news, with how many there are of each. */
  readonly kinds: readonly { readonly kind: NewsKind; readonly name: string; readonly count: number }[];
  readonly days: readonly { readonly day: string; readonly rows: readonly NewsRow[] }[];
  readonly shown: number;
  /** There are older ones that the page does not show. */
  readonly is_cut: boolean;
}

/** Builds the page from the newest news, the newest first; one more than is shown tells whether there are more. */
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
