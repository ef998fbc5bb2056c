import { expect, it } from 'vitest';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { delistListing, relistListing } from '../../src/catalogue/delisting.ts';
import { sql as listingDays } from '../../src/catalogue/migrations/005-listing-days.ts';
import { listDaysFrom } from '../../src/catalogue/news.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, recordVerified } from '../builders.ts';

const DAY = (day: number) => `2026-11-${day}T12:00:00.000Z`;

/** A catalogue in which listings came, were held, verified, removed and put back, day by day. */
function makeMovedCatalogue() {
  const catalogue = makeCatalogue();
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
  declare(DAY(21), 'one');
  declare(DAY(21), 'two');
  declare(DAY(21), 'unpriced', false);
  recordVerified(catalogue, 'one', '/v1/a', DAY(22));
  declare(DAY(23), 'unpriced');
  delist(DAY(24), 'one');
  delist(DAY(24), 'two');
  writeCatalogue(catalogue, DAY(26), (writing) => relistListing(writing, 'one', { by: 'operator' }));
  return catalogue;
}

it('what came and went is counted on the day readers saw it, a verification with its listing', () => {
  expect(listDaysFrom(makeMovedCatalogue(), '')).toEqual([
    { day: '2026-11-21', listed: 2, taken_out: 0, verified: 0, unverified: 0 },
    { day: '2026-11-22', listed: 0, taken_out: 0, verified: 1, unverified: 0 },
    { day: '2026-11-23', listed: 1, taken_out: 0, verified: 0, unverified: 0 },
    { day: '2026-11-24', listed: 0, taken_out: 2, verified: 0, unverified: 1 },
    { day: '2026-11-26', listed: 1, taken_out: 0, verified: 1, unverified: 0 },
  ]);
});

it('an older catalogue is counted from its log, to the same', () => {
  const catalogue = makeMovedCatalogue();
  const counted = listDaysFrom(catalogue, '');
  catalogue.sqlite.exec('DROP TRIGGER listings_counted; DROP TABLE listing_days');
  catalogue.sqlite.exec(listingDays);
  expect(listDaysFrom(catalogue, '')).toEqual(counted);
});
