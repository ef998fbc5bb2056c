import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type MergedDeclaration, mergeDeclarations } from '../../src/evidence/declarations.ts';
import { isTagline } from '../../src/evidence/taglines.ts';
import { category } from '../../src/model/catalogue.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { buildFeedDeclarations } from '../../src/sources/bazaar/feed.ts';
import { parseFeedPage } from '../../src/sources/bazaar/pull.ts';
import { skipWithout } from '../skipped.ts';

const CORPUS = join(import.meta.dirname, '../../../shared/corpus');
const isThere = existsSync(CORPUS);

/**
 * Listings of recorded feeds, drawn at random, with the categories and the titles that a person chose who saw only the
 * feeds. Rules were made with one half in sight; the other half was set aside before.
 */
const JUDGED = z
  .array(
    z.strictObject({
      host: z.string(),
      half: z.enum(['tuning', 'set_aside']),
      categories: z.array(category).min(1),
      /** Words of each acceptable title, in any order. */
      titles: z.array(z.string()).min(1),
    }),
  )
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'judged.json'), 'utf8')));

/** Words that make no difference to a title. */
const FILLERS = new Set(['api', 'apis', 'the', 'x402']);

/** Taglines that say nothing, by a rule of its own. */
const EMPTY_LINE =
  /^[\x20-\x7e]\S*$|[:：]$|^[\d.]+ USDC|<[a-z]|^https?:\S+$|^access to (protected|safe)|it allows you|on base$/i;

function getWords(title: string): string {
  const words = title.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word !== '' && !FILLERS.has(word)))].sort().join(' ');
}

/** Merges the listings of the recorded feeds, by host. */
function mergeCorpus(): Map<string, MergedDeclaration> {
  const march = readFileSync(join(CORPUS, 'bazaar-2026-03/resources.json'));
  const august = JSON.parse(readFileSync(join(CORPUS, 'bazaar-2026-08/discovery.json'), 'utf8'));
  const pages = [march, Buffer.from(JSON.stringify(august.cdp)), Buffer.from(JSON.stringify(august.solvador))];
  const declarations = pages.flatMap((bytes, at): Declaration[] => {
    const { items } = parseFeedPage(bytes, 'The feed');
    const options = { feed: `feed ${at}`, pulledAt: '2026-08-16T00:00:00.000Z', allowPrivateNetworks: false };
    return buildFeedDeclarations(items, options).declarations;
  });
  const byHost = Map.groupBy(declarations, ({ base_url }) => new URL(base_url).host);
  return new Map(
    [...byHost].map(([host, group]) => [
      host,
      mergeDeclarations(group.map((declaration) => ({ declaration, withdrawn_at: null }))),
    ]),
  );
}

describe('judged listings', () => {
  skipWithout('corpus');

  const merged = isThere ? mergeCorpus() : new Map<string, MergedDeclaration>();
  const find = (host: string) => merged.get(host) as MergedDeclaration;

  it.each(['tuning', 'set_aside'] as const)('of the half %s get the category and the title of a person', (half) => {
    const listings = JUDGED.filter((one) => one.half === half);
    expect(listings).toHaveLength(75);
    const wrongTitles = listings.filter(
      ({ host, titles }) => !titles.map(getWords).includes(getWords(find(host).words.title)),
    );
    const wrongCategories = listings.filter(({ host, categories }) => !categories.includes(find(host).category));
    const shares = {
      titles: 1 - wrongTitles.length / listings.length,
      categories: 1 - wrongCategories.length / listings.length,
    };
    console.info(`Judged listings, ${half}: ${JSON.stringify(shares)}`);
    expect(shares.titles).toBeGreaterThanOrEqual(0.9);
    expect(shares.categories).toBeGreaterThanOrEqual(0.95);
  });

  it('have a tagline that says something, every one', () => {
    const empty = [...merged.values()].filter(({ words: { tagline, title }, declarations }) => {
      const baseUrl = declarations[0]?.base_url ?? '';
      return EMPTY_LINE.test(tagline) || !isTagline(tagline, title, baseUrl);
    });
    expect(merged.size).toBe(150);
    expect(empty.map(({ words }) => words)).toEqual([]);
  });
});
