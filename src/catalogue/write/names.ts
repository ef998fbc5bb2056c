import { isDeepStrictEqual } from 'node:util';
import type { Namesake } from '../../evidence/cautions.ts';
import { getDomain } from '../../evidence/domains.ts';
import { listPayees } from '../../evidence/listing.ts';
import {
  compareHolders,
  getEvidenceStanding,
  getJudgedStanding,
  getStanding,
  isImitation,
  type ListingNames,
  STANDING,
  type Standing,
} from '../../evidence/names.ts';
import { isLive, type Listing } from '../../model/listing.ts';
import { type Catalogue, insertRows } from '../database.ts';
import { type ListingIdentity, parseListing } from '../read/listings.ts';

/** A name of a listing. */
interface NameRow {
  readonly name: string;
  readonly identity: ListingIdentity;
  readonly domain: string;
  /** 1: the listing has a standing for the name. */
  known: 0 | 1;
  readonly since: string;
}

/** The standing that evidence gives a listing, and its payees. */
interface Holder {
  readonly evidence: Standing;
  readonly payees: readonly string[];
}

/** The names of some listings, with all other listings that have one of them, held in memory until `save`. */
export interface NameBook {
  /**
   * Finds the listing that one with these names imitates (`isImitation`): of several the one of the highest standing, then
   * the one that had the name first. `evidence` is the standing that evidence gives it.
   */
  findNamesake(listingId: string, names: ListingNames, evidence: Standing, payees: readonly string[]): Namesake | null;
  /**
   * Replaces the names of a listing. Returns those that it lost and had a standing for: the other listings with these
   * names have to be published again.
   */
  replaceNames(identity: ListingIdentity, names: ListingNames, at: string): string[];
  /**
   * Records what standing a listing has for its names by its document. Returns the names for which this changed, and if its
   * payees changed, all that it has a standing for: other listings with these have to be published again.
   */
  setStanding(listing: Listing, names: ListingNames): string[];
  /** Lists the listings at other domains that have one of the names, by slug. */
  listNamesakes(identity: ListingIdentity, names: readonly string[]): ListingIdentity[];
  /** Writes what changed. */
  save(): Promise<void>;
}

/** Reads the names that listings have or are about to get, and who else has them. */
export async function openNameBook(
  catalogue: Catalogue,
  listings: readonly { id: string; names: ListingNames }[],
): Promise<NameBook> {
  const { query } = catalogue;
  const ids = listings.map(({ id }) => id);
  const own =
    ids.length === 0
      ? []
      : await query.selectFrom('listing_names').select('name').where('listing_id', 'in', ids).execute();
  const names = [...new Set([...own.map(({ name }) => name), ...listings.flatMap((one) => one.names.names)])];
  const rows = names.length === 0 ? [] : await readRows(catalogue, names);
  const holders = await readHolders(catalogue, rows);
  const stored = new Map(rows.map((row) => [getKey(row), row.known]));
  const byName = new Map<string, NameRow[]>(Map.groupBy(rows, ({ name }) => name));
  const byListing = new Map<string, NameRow[]>(Map.groupBy(rows, ({ identity }) => identity.id));
  const getHolder = (row: NameRow) => {
    const { evidence, payees } = holders.get(row.identity.id) ?? { evidence: STANDING.none, payees: [] };
    const known = evidence === STANDING.none ? STANDING.domain : evidence;
    return { ...row, slug: row.identity.slug, payees, standing: row.known === 1 ? known : STANDING.none };
  };
  return {
    findNamesake(listingId, listingNames, evidence, payees) {
      const { domain } = listingNames;
      const found = listingNames.names.flatMap((name) => {
        const since = byListing.get(listingId)?.find((row) => row.name === name)?.since;
        if (since === undefined) return [];
        const standing = getJudgedStanding(listingNames, name, evidence);
        const others = (byName.get(name) ?? []).map(getHolder);
        const imitated = others.filter((other) => isImitation({ domain, standing, since, payees }, other));
        return imitated.map((other) => ({ other, since }));
      });
      const [first] = found.sort((a, b) => compareHolders(a.other, b.other));
      if (!first) return null;
      const { slug, identity } = first.other;
      return { slug, host: new URL(identity.base_url).host, since: first.since };
    },
    replaceNames(identity, { names: wanted, domain }, at) {
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
      for (const row of added) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);
      return gone.filter(({ known }) => known === 1).map(({ name }) => name);
    },
    setStanding(listing, listingNames) {
      const held = byListing.get(listing.id) ?? [];
      const before = held.map(getHolder);
      const evidence = getEvidenceStanding(listing);
      holders.set(listing.id, { evidence, payees: listPayees(listing) });
      for (const row of held) {
        row.known = isLive(listing) && getStanding(listingNames, row.name, evidence) !== STANDING.none ? 1 : 0;
      }
      return held.flatMap((row, index) => {
        const [was, is] = [before[index], getHolder(row)];
        const isSame = was?.standing === is.standing && (!row.known || isDeepStrictEqual(was.payees, is.payees));
        return isSame ? [] : row.name;
      });
    },
    listNamesakes({ id, base_url }, wanted) {
      const domain = getDomain(base_url);
      const found = wanted
        .flatMap((name) => byName.get(name) ?? [])
        .filter(({ identity, domain: other }) => identity.id !== id && other !== domain)
        .map(({ identity }) => identity);
      const byId = new Map(found.map((identity) => [identity.id, identity]));
      return [...byId.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1));
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
    .select(['listing_names.name', 'listing_names.known', 'listing_names.since'])
    .select(['listings.id', 'listings.slug', 'listings.base_url'])
    .execute();
  return rows.map(({ id, slug, base_url, ...row }) => ({
    ...row,
    identity: { id, slug, base_url },
    domain: getDomain(base_url),
  }));
}

/** Reads the evidence and the payees of the listings that have a standing for a name. */
async function readHolders({ query }: Catalogue, rows: readonly NameRow[]): Promise<Map<string, Holder>> {
  const ids = [...new Set(rows.filter(({ known }) => known === 1).map(({ identity }) => identity.id))];
  const holders = new Map<string, Holder>();
  for (const id of ids) {
    const found = await query.selectFrom('listings').select('document').where('id', '=', id).executeTakeFirst();
    const listing = found && parseListing(found.document);
    if (listing) holders.set(id, { evidence: getEvidenceStanding(listing), payees: listPayees(listing) });
  }
  return holders;
}

function getKey({ name, identity }: Pick<NameRow, 'name' | 'identity'>): string {
  return JSON.stringify([name, identity.id]);
}
