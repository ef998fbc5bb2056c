import type { Suggestion } from '../model/suggestion.ts';
import { isInOtherLanguage } from '../search/language.ts';
import { readSearchText, readSuggestions } from '../search/suggestions.ts';
import type { ListQuery } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { listLiveOnOrigin } from './listings.ts';

/** Notes on a request in words, besides the search itself. */
export interface RequestNotes {
  /** Filters that its words suggest and that are not set; none is applied. */
  readonly suggested: readonly Suggestion[];
  /** The reason why a catalogue in English can hardly answer it; undefined if it can. */
  readonly notice: string | undefined;
}

/**
 * Returns the notes on a query's request. `searched` is the query to search with: it has no words if the request only names a
 * price, an order or "verified".
 */
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

/**
 * Adds the price limit that the words of a query name, for clients without a parameter for it. A limit of 0 lets nothing through.
 */
export function addPriceLimit(query: ListQuery): ListQuery {
  const price = readSuggestions(query.q ?? '', () => false).find(
    ({ parameter, value }) => parameter === 'max_price_usdc' && value !== '0',
  );
  return price ? { max_price_usdc: price.value, ...query } : query;
}
