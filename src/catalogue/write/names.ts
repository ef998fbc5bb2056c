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
  type NameHolder,
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
  readonly known: 0 | 1;
  /** Time since which the listing has the name, ISO 8601 UTC. */
  readonly since: string;
}

/** The standing of a listing by its evidence, and its payees. */
interface Holder {
  readonly evidence: Standing;
  readonly payees: readonly string[];
}

/**
 * The names of some listings, and all other listings with one of these names. The functions below change it in memory;
 * `saveNames` writes the changes.
 */
export interface NameIndex {
  /** The rows as they were read. */
  readonly stored: readonly NameRow[];
  /** The current rows, by name and then by listing id, and by listing id and then by name. */
  readonly byName: Map<string, Map<string, NameRow>>;
  readonly byListing: Map<string, readonly NameRow[]>;
  /** The listings that have a standing for a name, by id. */
  readonly holders: Map<string, Holder>;
}

/** Reads the names that listings have or will get, and the other listings that have them. */
export async function readNames(
  catalogue: Catalogue,
  listings: readonly { id: string; names: ListingNames }[],
): Promise<NameIndex> {
  const held = await listHeldNames(
    catalogue,
    listings.map(({ id }) => id),
  );
  const wanted = listings.flatMap(({ names }) => names.names);
  const stored = await readRows(catalogue, [...new Set([...held, ...wanted])]);
  const index: NameIndex = {
    stored,
    byName: new Map(),
    byListing: new Map(),
    holders: await readHolders(catalogue, stored),
  };
  for (const [id, rows] of Map.groupBy(stored, ({ identity }) => identity.id)) setRows(index, id, rows);
  return index;
}

/**
 * Finds the listing that one with these names imitates (`isImitation`): of several, the one with the highest standing, then the
 * one that had the name first. `evidence` is the standing by the listing's evidence.
 */
export function findNamesake(
  index: NameIndex,
  id: string,
  names: ListingNames,
  evidence: Standing,
  payees: readonly string[],
): Namesake | null {
  const found = names.names.flatMap((name) => {
    const own = index.byName.get(name)?.get(id);
    if (!own) return [];
    const { since } = own;
    const standing = getJudgedStanding(names, name, evidence);
    const others = listRows(index, name).map((row) => getNameHolder(index, row));
    const imitated = others.filter((other) => isImitation({ domain: names.domain, standing, since, payees }, other));
    return imitated.map((other) => ({ other, since }));
  });
  const [first] = found.sort((a, b) => compareHolders(a.other, b.other));
  if (!first) return null;
  const { slug, identity } = first.other;
  return { slug, host: new URL(identity.base_url).host, since: first.since };
}

/**
 * Replaces the names of a listing at a time (ISO 8601 UTC). Returns the names that it lost and had a standing for: the other
 * listings with these names must be published again.
 */
export function replaceNames(
  index: NameIndex,
  identity: ListingIdentity,
  { names, domain }: ListingNames,
  at: string,
): string[] {
  const before = index.byListing.get(identity.id) ?? [];
  const kept = before.filter(({ name }) => names.includes(name));
  const lost = before.filter(({ name }) => !names.includes(name));
  const added = names
    .filter((name) => !before.some((row) => row.name === name))
    .map((name): NameRow => ({ name, identity, domain, known: 0, since: at }));
  setRows(index, identity.id, [...kept, ...added]);
  return lost.filter(({ known }) => known === 1).map(({ name }) => name);
}

/**
 * Records the standing of a listing for its names by its document. Returns the names for which it changed, or all names with a
 * standing if its payees changed: other listings with these names must be published again.
 */
export function setStanding(index: NameIndex, listing: Listing, names: ListingNames): string[] {
  const { id } = listing;
  const was = getHeld(index, id);
  const evidence = getEvidenceStanding(listing);
  const rows = (index.byListing.get(id) ?? []).map((row): NameRow => {
    const isKnown = isLive(listing) && getStanding(names, row.name, evidence) !== STANDING.none;
    return { ...row, known: isKnown ? 1 : 0 };
  });
  setRows(index, id, rows);
  index.holders.set(id, { evidence, payees: listPayees(listing) });
  const is = getHeld(index, id);
  return [...is.keys()].filter((name) => !isSameToOthers(was.get(name), is.get(name)));
}

/** Lists the listings at other domains that have one of the names, by slug. */
export function listNamesakes(
  index: NameIndex,
  { id, base_url }: ListingIdentity,
  names: readonly string[],
): ListingIdentity[] {
  const domain = getDomain(base_url);
  const others = names
    .flatMap((name) => listRows(index, name))
    .filter((row) => row.identity.id !== id && row.domain !== domain)
    .map(({ identity }) => identity);
  const byId = new Map(others.map((identity) => [identity.id, identity]));
  return [...byId.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

/** Writes the changes since the names were read. */
export async function saveNames(catalogue: Catalogue, { stored, byName }: NameIndex): Promise<void> {
  const { query } = catalogue;
  for (const { name, identity, known } of stored) {
    const now = byName.get(name)?.get(identity.id);
    if (!now) {
      await query.deleteFrom('listing_names').where('listing_id', '=', identity.id).where('name', '=', name).execute();
    } else if (now.known !== known) {
      await query
        .updateTable('listing_names')
        .set({ known: now.known })
        .where('listing_id', '=', identity.id)
        .where('name', '=', name)
        .execute();
    }
  }
  const before = new Set(stored.map(getKey));
  const rows = [...byName.values()].flatMap((listings) => [...listings.values()]);
  const added = rows
    .filter((row) => !before.has(getKey(row)))
    .map(({ identity, ...row }) => ({ ...row, listing_id: identity.id }));
  await insertRows(catalogue, 'listing_names', added);
}

/** Replaces the rows of a listing in both maps. */
function setRows({ byName, byListing }: NameIndex, id: string, rows: readonly NameRow[]): void {
  for (const { name } of byListing.get(id) ?? []) byName.get(name)?.delete(id);
  byListing.set(id, rows);
  for (const row of rows) {
    const listings = byName.get(row.name) ?? new Map<string, NameRow>();
    byName.set(row.name, listings.set(id, row));
  }
}

function listRows({ byName }: NameIndex, name: string): NameRow[] {
  return [...(byName.get(name)?.values() ?? [])];
}

/** Returns the names of a listing, each with the listing as its holder. */
function getHeld(index: NameIndex, id: string): Map<string, NameHolder> {
  return new Map((index.byListing.get(id) ?? []).map((row) => [row.name, getNameHolder(index, row)]));
}

/** Returns a listing as the holder of a name, with its standing for it: by its evidence, else by its domain. */
function getNameHolder({ holders }: NameIndex, row: NameRow): NameHolder & Pick<NameRow, 'identity'> {
  const { identity, domain, known, since } = row;
  const { evidence, payees } = holders.get(identity.id) ?? { evidence: STANDING.none, payees: [] };
  const backed = evidence === STANDING.none ? STANDING.domain : evidence;
  return { slug: identity.slug, identity, domain, standing: known === 1 ? backed : STANDING.none, since, payees };
}

/**
 * Returns true if other listings with the name are judged the same by both holders, which depends on their standing and payees.
 */
function isSameToOthers(was: NameHolder | undefined, is: NameHolder | undefined): boolean {
  if (was?.standing !== is?.standing) return false;
  return is?.standing === STANDING.none || isDeepStrictEqual(was?.payees, is?.payees);
}

/** Lists the recorded names of listings. */
async function listHeldNames({ query }: Catalogue, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await query.selectFrom('listing_names').select('name').where('listing_id', 'in', ids).execute();
  return rows.map(({ name }) => name);
}

/** Reads all listings that have one of the names. */
async function readRows({ query }: Catalogue, names: readonly string[]): Promise<NameRow[]> {
  if (names.length === 0) return [];
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
