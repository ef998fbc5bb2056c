import type { Catalogue } from '../../src/catalogue/database.ts';

const DIGITS = '56789abcdef01234';

/**
 * Puts each live listing of a synthetic catalogue in so many times in all (16 at most), under other names: what readers read of it, not
 * the evidence behind it, which would take a day to write. For measuring reading at sizes that are long in the making.
 */
export function multiplyListings({ sqlite }: Catalogue, times: number): void {
  const copies = sqlite.prepare(`
    INSERT INTO listings (id, slug, base_url, state, verified, revision, document)
    SELECT json_extract(copy, '$.id'), json_extract(copy, '$.slug'), json_extract(copy, '$.base_url'), state, verified,
      revision, copy
    FROM (
      SELECT state, verified, revision, json_set(document,
        '$.id', substr(id, 1, 14) || @digit || substr(id, 16), '$.slug', slug || '-' || @prefix,
        '$.base_url', replace(base_url, 'https://', 'https://' || @prefix || '.')) AS copy
      FROM listings WHERE number <= @last
    )`);
  const entries = sqlite.prepare(`
    INSERT INTO search_entries (listing, terms)
    SELECT listings.number, terms FROM search_entries
    JOIN listings AS origin ON origin.number = search_entries.listing
    JOIN listings ON listings.slug = origin.slug || '-' || @prefix`);
  const last = sqlite.prepare('SELECT max(number) FROM listings').pluck().get();
  sqlite.transaction(() => {
    for (let copy = 1; copy < times; copy += 1) {
      const prefix = `copy-${copy}`;
      // The digit of an id that is always 5 in those of real listings (UUID, version 5).
      copies.run({ prefix, digit: DIGITS[copy], last });
      entries.run({ prefix });
    }
  })();
}
