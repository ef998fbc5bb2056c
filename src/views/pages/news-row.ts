import { cutText } from '../../model/text.ts';
import type { ChangeNews, NewsKind } from '../changes.ts';

/** One piece of news as a page shows it. Titles and evidence are in the words of others. */
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
  /** How many more listings it is of than are named. */
  readonly unnamed: number;
  /** Why, and on what evidence; the first lines, each cut to a length. */
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
