import { isDeepStrictEqual } from 'node:util';
import type { Namesake } from '../../evidence/cautions.ts';
import { isWellKnown, listPayees } from '../../evidence/listing.ts';
import { getListingNames, type ListingNames } from '../../evidence/names.ts';
import { isLive, type Listing } from '../../model/listing.ts';
import { type Catalogue, insertRows } from '../database.ts';
import { type ListingIdentity, parseListing } from '../read/listings.ts';

/** A name of a listing. */
interface NameRow {
  readonly name: string;
  readonly identity: ListingIdentity;
  /** Registrable domain of its host. */
  readonly domain: string;
  /** 1: it is the better known of the listings with this name. */
  known: 0 | 1;
  readonly since: string;
}

/** A listing as its names are recorded. */
interface NamedListing extends ListingIdentity {
  readonly title: string;
  readonly provider_name: string;
}

/** The names of some listings, with all other listings that have one of them, held in memory until `save`. */
export interface NameBook {
  /**
   * Finds a better known listing at another domain that has one of the names. Null without one, or if it is paid at all of
   * `payees` too, and so has the same owner.
   */
  findNamesake(listingId: string, names: ListingNames, payees: readonly string[]): Namesake | null;
  /**
   * Replaces the names of a listing. Returns those that it lost and was the best known for: the other listings with these
   * names have to be published again.
   */
  replaceNames(listing: NamedListing, at: string): string[];
  /**
   * Says of a listing that changed for which of its names it is the better known one. Returns the names for which this
   * changed, and if its payees changed, all names that it is known for: other listings with these have to be published again.
   */
  setFame(listing: Listing, before: Listing | undefined): string[];
  /** Lists the other listings that have one of the names, and are not the better known one, by slug. */
  listNamesakes(listingId: string, names: readonly string[]): ListingIdentity[];
  /** Writes what changed. */
  save(): Promise<void>;
}

/** Reads the names that listings have or are about to get, and who else has them. */
export async function openNameBook(catalogue: Catalogue, listings: readonly NamedListing[]): Promise<NameBook> {
  const { query } = catalogue;
  const ids = listings.map(({ id }) => id);
  const own =
    ids.length === 0
      ? []
      : await query.selectFrom('listing_names').select('name').where('listing_id', 'in', ids).execute();
  const names = [
    ...new Set([...own.map(({ name }) => name), ...listings.flatMap((one) => getListingNames(one).names)]),
  ];
  const rows = names.length === 0 ? [] : await readRows(catalogue, names);
  const payees = await readPayees(catalogue, rows);
  const stored = new Map(rows.map((row) => [getKey(row), row.known]));
  const byName = new Map<string, NameRow[]>(Map.groupBy(rows, ({ name }) => name));
  const byListing = new Map<string, NameRow[]>(Map.groupBy(rows, ({ identity }) => identity.id));
  return {
    findNamesake(listingId, { names: wanted, domain }, asked) {
      for (const name of wanted) {
        const since = byListing.get(listingId)?.find((row) => row.name === name)?.since ?? '';
        for (const row of byName.get(name) ?? []) {
          if (row.known === 0 || row.identity.id === listingId || row.domain === domain) continue;
          const known = payees.get(row.identity.id) ?? [];
          const isSameAccount = asked.length > 0 && asked.every((payee) => known.includes(payee));
          const { slug, base_url } = row.identity;
          const both = [row.since, since].sort().at(-1) ?? since;
          if (!isSameAccount) return { slug, host: new URL(base_url).host, since: both };
        }
      }
      return null;
    },
    replaceNames({ title, provider_name, ...identity }, at) {
      const { names: wanted, domain } = getListingNames({ title, provider_name, base_url: identity.base_url });
      const before = byListing.get(identity.id) ?? [];
      const [kept, gone] = [
        before.filter(({ name }) => wanted.includes(name)),
        before.filter(({ name }) => !wanted.includes(name)),
      ];
      const added = wanted
        .filter((name) => !before.some((row) => row.name === name))
        .map((name): NameRow => ({ name, identity, domain, known: 0, since: at }));
      byListing.set(identity.id, [...kept, ...added]);
      for (const row of gone)
        byName.set(
          row.name,
          (byName.get(row.name) ?? []).filter((one) => one !== row),
        );
      for (const row of added) byName.set(row.name, sortRows([...(byName.get(row.name) ?? []), row]));
      return gone.filter(({ known }) => known === 1).map(({ name }) => name);
    },
    setFame(listing, before) {
      const { own: ownNames } = getListingNames(listing);
      const isFamous = isLive(listing) && isWellKnown(listing);
      const isPaidAsBefore = before !== undefined && isDeepStrictEqual(listPayees(before), listPayees(listing));
      payees.set(listing.id, listPayees(listing));
      return (byListing.get(listing.id) ?? []).flatMap((row) => {
        const known = isFamous || (isLive(listing) && ownNames.includes(row.name)) ? 1 : 0;
        if (known === row.known) return known === 1 && !isPaidAsBefore ? row.name : [];
        row.known = known;
        return row.name;
      });
    },
    listNamesakes(listingId, wanted) {
      const found = wanted
        .flatMap((name) => byName.get(name) ?? [])
        .filter(({ identity, known }) => identity.id !== listingId && known === 0)
        .map(({ identity }) => identity);
      return [...new Map(found.map((identity) => [identity.id, identity])).values()];
    },
    async save() {
      const now = [...byName.values()].flat();
      const keys = new Set(now.map(getKey));
      for (const row of rows.filter((one) => !keys.has(getKey(one)))) {
        await query
          .deleteFrom('listing_names')
          .where('listing_id', '=', row.identity.id)
          .where('name', '=', row.name)
          .execute();
      }
      for (const { name, identity, known } of now) {
        const before = stored.get(getKey({ name, identity }));
        if (before === undefined || before === known) continue;
        const changed = query.updateTable('listing_names').set({ known });
        await changed.where('listing_id', '=', identity.id).where('name', '=', name).execute();
      }
      const added = now.filter((row) => !stored.has(getKey(row)));
      await insertRows(
        catalogue,
        'listing_names',
        added.map(({ name, identity, domain, known, since }) => ({
          name,
          listing_id: identity.id,
          domain,
          known,
          since,
        })),
      );
    },
  };
}

async function readRows({ query }: Catalogue, names: readonly string[]): Promise<NameRow[]> {
  const rows = await query
    .selectFrom('listing_names')
    .innerJoin('listings', 'listings.id', 'listing_names.listing_id')
    .where('listing_names.name', 'in', names)
    .select(['listing_names.name', 'listing_names.domain', 'listing_names.known', 'listing_names.since'])
    .select(['listings.id', 'listings.slug', 'listings.base_url'])
    .orderBy('listings.slug')
    .execute();
  return rows.map(({ id, slug, base_url, ...row }) => ({ ...row, identity: { id, slug, base_url } }));
}

/** Reads who is paid by the better known listings whose names others have, too. */
async function readPayees({ query }: Catalogue, rows: readonly NameRow[]): Promise<Map<string, string[]>> {
  const ids = [...new Set(rows.filter(({ known }) => known === 1).map(({ identity }) => identity.id))];
  const payees = new Map<string, string[]>();
  for (const id of ids) {
    const found = await query.selectFrom('listings').select('document').where('id', '=', id).executeTakeFirst();
    const listing = found && parseListing(found.document);
    payees.set(id, listing ? listPayees(listing) : []);
  }
  return payees;
}

function sortRows(rows: readonly NameRow[]): NameRow[] {
  return rows.toSorted((a, b) => (a.identity.slug < b.identity.slug ? -1 : 1));
}

function getKey({ name, identity }: Pick<NameRow, 'name' | 'identity'>): string {
  return JSON.stringify([name, identity.id]);
}
