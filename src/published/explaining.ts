import { LISTING_SCORING, ROUTE_SCORING } from '../search/bm25f.ts';
import type { Planned } from '../search/plan.ts';
import { findWord, type Scores } from '../search/ranking.ts';
import type { Why } from '../views/listing/item.ts';
import type { ListSort } from '../views/listing/query.ts';
import { type Columns, isMarked, isVerified } from './columns.ts';
import type { Published } from './file.ts';
import { readDocuments } from './indexing.ts';
import { isDangerous } from './route-facts.ts';

/** The plan, the scores and the order by which results were ranked. */
interface Ranked extends Pick<Planned, 'plan' | 'words'> {
  readonly columns: Columns;
  readonly scores: Scores;
  readonly sort: ListSort;
  /** The match below which a result comes last in another order than relevance. */
  readonly leastMatch: number;
}

/** A result by its place, the position of its route, and how much of the request it answers. */
interface Result {
  readonly place: number;
  readonly position: number;
  readonly match: number;
}

/** Returns why a result stands where it does. What it has of each word is read from its entry in the search index alone. */
export function explainRank(published: Published, ranked: Ranked, result: Result): Why {
  const { columns, scores, sort, leastMatch } = ranked;
  const { place, position, match } = result;
  const number = columns.numbers[place] as number;
  const [own, ...routes] = readDocuments(published, number);
  const route = routes[position];
  const words = ranked.plan.map((group, at) => ({ word: ranked.words[at] ?? '', ...findWord(group, own, route) }));
  const found = words.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  const quote = (some: typeof found) => some.map(({ word }) => `“${word}”`).join(', ');
  const others = quote(found.filter(({ isItself }) => !isItself));
  const aside = quote(
    found.filter(({ masks }) => !LISTING_SCORING.isTelling(masks[0]) && !ROUTE_SCORING.isTelling(masks[1])),
  );
  const reliability = -(columns.keys.reliability[place] as number);
  const isByRelevance = sort === 'relevance';
  const reasons: readonly (readonly [isSo: boolean, text: string])[] = [
    [
      isByRelevance && position >= 0 && isDangerous(columns.routes, place, position),
      'Something grave speaks against the route, so it counts half.',
    ],
    [isByRelevance && isMarked(columns, place), 'It is marked, so it comes after others that fit as well.'],
    [
      !isByRelevance && sort !== 'name' && match < leastMatch,
      'It answers little of the request, so it comes after all that answer more.',
    ],
    [
      scores.weigh(number)?.position !== position,
      'Its route that answers most does not pass the filters, so another one counts.',
    ],
    [others !== '', `Only another word was found for ${others}, which counts less.`],
    [
      aside !== '',
      `${aside} is only in its category, its provider or the fields of its route, where words count less.`,
    ],
    [
      LISTING_SCORING.isLong(own?.length ?? 0) && found.some(({ masks: [inOwn] }) => inOwn !== 0),
      'Its own text is long, so each word there counts less.',
    ],
    [
      ROUTE_SCORING.isLong(route?.length ?? 0) && found.some(({ masks: [, inRoute] }) => inRoute !== 0),
      'The text of its route is long, so each word there counts less.',
    ],
    [
      isByRelevance && !isVerified(columns, place),
      'It has no route verified by a payment, which would count a little.',
    ],
    [isByRelevance && reliability < 0, 'It has no reliability score, which would count a little.'],
    [
      isByRelevance && reliability >= 0 && reliability < 100,
      `Its reliability is ${Math.round(reliability)} of 100, and a better one would count a little.`,
    ],
  ];
  return {
    matched: found.map(({ word, isItself }) => (isItself ? word : `${word}, by another word for it`)),
    missing: [...new Set(words.flatMap(({ word, value }) => (value > 0 ? [] : word)))],
    lowered: reasons.filter(([isSo]) => isSo).map(([, text]) => text),
  };
}
