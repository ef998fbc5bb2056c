import type { Listing } from '../model/listing.ts';
import type { Catalogue } from './database.ts';

/** Puts a listing's words into the search index in place of what was there; one that is not live leaves it. */
export function indexListing({ sqlite, statements }: Catalogue, listing: Listing): void {
  const remove = 'DELETE FROM listing_search WHERE rowid = (SELECT number FROM listings WHERE id = ?)';
  const insert = `INSERT INTO listing_search (rowid, listing_id, title, tagline, description, provider, category, routes)
    VALUES ((SELECT number FROM listings WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)`;
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? sqlite.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  prepare(remove).run(listing.id);
  if (listing.state !== 'live') return;
  prepare(insert).run(listing.id, listing.id, ...getSearchFields(listing));
}

/** Gives what the index holds of a live listing: title, tagline, description, provider, category and routes. */
export function getSearchFields(listing: Listing): string[] {
  return [
    splitIdentifiers(`${listing.title} ${listing.slug}`),
    splitIdentifiers(listing.tagline),
    listing.description,
    splitIdentifiers(listing.provider_name),
    listing.category,
    listing.routes.map(({ path, description }) => splitIdentifiers(`${path} ${description}`)).join('\n'),
  ];
}

/** Puts spaces where an identifier changes case or has punctuation, so that each of its words can be found. */
export function splitIdentifiers(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[/_\-.:{}?=&]+/g, ' ');
}
