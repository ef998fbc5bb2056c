import { formatUsdc } from '../model/usdc.ts';
import { isInOtherLanguage } from '../search/language.ts';
import { parseRequest } from '../search/understanding.ts';
import type { ListQuery, Understood } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { findNamedRoutes } from './named-routes.ts';
import type { Snapshot } from './snapshot.ts';
import { getWordIndex } from './word-index.ts';

/** A query with the filters that its request says in words, and these by themselves. */
export interface UnderstoodQuery {
  /** What is looked for; its `q` is what remains of the request, if anything does. */
  readonly query: ListQuery;
  readonly understood: readonly Understood[];
  /** Why a catalogue in English can hardly answer; undefined where it can. */
  readonly notice: string | undefined;
}

/**
 * Takes the filters out of a request in words. A filter that is given as such counts, whatever the words say, and they are
 * taken out all the same.
 */
export function understand(given: ListQuery, published: Published, snapshot: Snapshot): UnderstoodQuery {
  const { q, ...filters } = given;
  if (q === undefined) return { query: given, understood: [], notice: undefined };
  const notice = isInOtherLanguage(q) ? IN_ENGLISH : undefined;
  const parsed = parseRequest(q, {
    isListed: (host, path) => (findNamedRoutes(published, { host, path })?.size ?? 0) > 0,
    isKnown: getWordIndex(published, snapshot).isKnown,
  });
  const understood = parsed.filters
    .filter(({ filter }) => filters[filter] === undefined)
    .map(({ words, ...said }): Understood => {
      const value = said.filter === 'max_price_usdc' ? formatUsdc(said.value) : String(said.value);
      return { filter: said.filter, value, words: [...words] };
    });
  const said = Object.fromEntries(
    understood.map(({ filter, value }) => [filter, filter === 'verified' ? value === 'true' : value]),
  );
  const words = parsed.text === '' ? {} : { q: parsed.text };
  return { query: { ...filters, ...said, ...words }, understood, notice };
}

const IN_ENGLISH = 'The catalogue is in English: names, hosts and paths are found, words of other languages are not.';
