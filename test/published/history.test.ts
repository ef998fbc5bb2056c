import { describe, expect, it } from 'vitest';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { listHistory } from '../../src/published/page-data.ts';
import { MAX_PRICE_STEPS } from '../../src/views/listing/history.ts';
import { makeReadCatalogue } from './catalogues.ts';

/** A listing whose log has so many changes, priced and refreshed in turn, each with its number. */
async function makeLogged(count: number) {
  const { reading, catalogue } = await makeReadCatalogue({ slug: 'logged' });
  const { id } = (await findListing(catalogue, { slug: 'logged' })) ?? { id: '' };
  for (let number = 0; number < count; number += 1) {
    await writeCatalogue(
      catalogue,
      new Date(Date.parse('2026-11-21T00:00:00Z') + number).toISOString(),
      ({ recordChanges }) =>
        recordChanges([
          { listing_id: id, kind: number % 2 === 0 ? 'priced' : 'described', reason: 'test', detail: { number } },
        ]),
    );
  }
  return reading.readAtOnce(() => listHistory(reading, 'logged'));
}

describe('what changed of a listing', () => {
  it.each([40, 99, 100, 140])(
    'is its latest price changes, in their order, whether %i changes are few or many',
    async (count) => {
      const all = Array.from({ length: Math.ceil(count / 2) }, (_, at) => 2 * at);
      const { priced } = await makeLogged(count);
      const numbers = priced.flatMap(({ detail }) => (typeof detail.number === 'number' ? [detail.number] : []));
      expect(numbers).toEqual(all.slice(-Math.min(numbers.length, MAX_PRICE_STEPS + 1)));
      expect(numbers.at(-1)).toBe(all.at(-1));
      expect(numbers.length).toBeGreaterThanOrEqual(Math.min(all.length, MAX_PRICE_STEPS));
    },
  );
});
