import { expect, it } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing, relistListing } from '../../src/catalogue/write/decisions.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, recordVerified } from '../builders.ts';
import { recordDeclaration } from '../written.ts';

const DAY = (day: number) => `2026-11-${day}T12:00:00.000Z`;

/** A catalogue in which listings came, were held, verified, removed and put back, day by day. */
async function makeMovedCatalogue() {
  const catalogue = await makeCatalogue();
  const declare = (at: string, slug: string, priced = true) =>
    writeCatalogue(catalogue, at, (writing) =>
      recordDeclaration(
        writing,
        makeDeclaration({
          ...{ slug, base_url: `https://${slug}.example-provider.com` },
          routes: [makeRoute({ path: '/v1/a', terms: priced ? [makeTerms()] : [] })],
        }),
      ),
    );
  const delist = (at: string, slug: string) =>
    writeCatalogue(catalogue, at, (writing) => delistListing(writing, slug, { by: 'operator', reason: 'test' }));
  await declare(DAY(21), 'one');
  await declare(DAY(21), 'two');
  await declare(DAY(21), 'unpriced', false);
  await recordVerified(catalogue, 'one', '/v1/a', DAY(22));
  await declare(DAY(23), 'unpriced');
  await delist(DAY(24), 'one');
  await delist(DAY(24), 'two');
  await writeCatalogue(catalogue, DAY(26), (writing) => relistListing(writing, 'one', { by: 'operator' }));
  return catalogue;
}

it('what came and went is counted on the day readers saw it, a verification with its listing', async () => {
  const { query } = await makeMovedCatalogue();
  expect(await query.selectFrom('listing_days').selectAll().orderBy('day').execute()).toEqual([
    { day: '2026-11-21', listed: 2, taken_out: 0, verified: 0, unverified: 0 },
    { day: '2026-11-22', listed: 0, taken_out: 0, verified: 1, unverified: 0 },
    { day: '2026-11-23', listed: 1, taken_out: 0, verified: 0, unverified: 0 },
    { day: '2026-11-24', listed: 0, taken_out: 2, verified: 0, unverified: 1 },
    { day: '2026-11-26', listed: 1, taken_out: 0, verified: 1, unverified: 0 },
  ]);
});
