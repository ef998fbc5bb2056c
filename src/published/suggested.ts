import { isInOtherLanguage } from '../search/language.ts';
import { readSearchText, readSuggestions } from '../search/suggestions.ts';
import type { ListQuery, Suggestion } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { listLiveOnOrigin } from './listings.ts';

/** What a request in words says of itself, beside what it looks for. */
export interface RequestNotes {
  /** Filters that its words name and that are not given; none is applied. */
  readonly suggested: readonly Suggestion[];
  /** Why a catalogue in English can hardly answer it; undefined where it can. */
  readonly notice: string | undefined;
}

/** Reads the request of a query. `searched` is the query without one that is a price alone, which has no words to search with. */
export function readRequestNotes(given: ListQuery, published: Published): RequestNotes & { searched: ListQuery } {
  const { q, ...filters } = given;
  if (q === undefined) return { searched: given, suggested: [], notice: undefined };
  const isListed = (host: string) =>
    ['https', 'http'].some((scheme) => listLiveOnOrigin(published, `${scheme}://${host}`, 1).length > 0);
  return {
    searched: readSearchText(q).text === '' ? filters : given,
    suggested: readSuggestions(q, isListed).filter(({ parameter }) => given[parameter] === undefined),
    notice: isInOtherLanguage(q) ? IN_ENGLISH : undefined,
  };
}

const IN_ENGLISH = 'The catalogue is in English: names, hosts and paths are found, words of other languages are not.';

/** Adds the price limit that the words of a query name: for clients that have no parameter for it. A price of 0 lets nothing through. */
export function addPriceLimit(query: ListQuery): ListQuery {
  const price = readSuggestions(query.q ?? '', () => false).find(
    ({ parameter, value }) => parameter === 'max_price_usdc' && value !== '0',
  );
  return price ? { max_price_usdc: price.value, ...query } : query;
}
