import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { getUsdcNumber } from '../../src/model/usdc.ts';
import { parseRequest } from '../../src/search/understanding.ts';
import { getStem, listWords } from '../../src/search/words.ts';
import { readManifests } from '../../src/sources/manifest.ts';
import { NOW } from '../builders.ts';

const FOLDER = resolve(import.meta.dirname, '../data/finding');
const SEED = resolve(import.meta.dirname, '../../data/listings');

type Filters = Record<string, string | number | boolean>;

function readList<T>(name: string): T[] {
  const file = join(FOLDER, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

/** Stems of all that the seed says, and the listings that requests are searched in, if there are any. */
const stems = new Set<string>();

beforeAll(async () => {
  const texts = readList<unknown>('listings.json').map((listing) => JSON.stringify(listing));
  for await (const { declaration } of readManifests([SEED], { allowPrivateNetworks: false, now: NOW })) {
    const { title = '', tagline = '', description = '', routes = [] } = declaration ?? {};
    texts.push(title, tagline, description, ...routes.flatMap((route) => [route.path, route.description]));
  }
  for (const word of texts.flatMap(listWords)) stems.add(getStem(word));
});

/** Reads the filters of a request as the list takes them, where the catalogue has the words of the seed, or every word. */
function readFilters(request: string, isKnown = (word: string) => stems.has(getStem(word))): Filters {
  const { filters } = parseRequest(request, { isListed: () => false, isKnown });
  return Object.fromEntries(
    filters.map((said) => [said.filter, said.filter === 'max_price_usdc' ? getUsdcNumber(said.value) : said.value]),
  );
}

describe('phrasings of people who did not know the grammar', () => {
  const phrasings = readList<{ request: string; filters: Filters }>('filters.json');

  it('are mostly read as they are meant, and none as something else', () => {
    const isRight = ({ request, filters }: (typeof phrasings)[number]) => {
      const read = readFilters(request);
      for (const [filter, value] of Object.entries(read))
        expect([request, filter, value]).toEqual([request, filter, filters[filter]]);
      return Object.keys(read).length === Object.keys(filters).length;
    };
    expect(phrasings.length).toBe(60);
    expect(phrasings.filter(isRight).length / phrasings.length).toBeGreaterThanOrEqual(0.85);
  });

  it.each([
    ['of the seed', undefined],
    ['with every word', () => true],
  ])('that mean no filter are read as one at most once, in a catalogue %s', (_, isKnown) => {
    const harmless = readList<{ request: string }>('harmless.json');
    expect(harmless.length).toBe(200);
    const wrong = harmless.filter(({ request }) => Object.keys(readFilters(request, isKnown)).length > 0);
    expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(1);
  });
});
