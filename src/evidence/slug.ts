import { SLUG_MAX_LENGTH } from '../model/listing.ts';

/** Host labels that say nothing about the provider. */
const GENERIC_PREFIX = /^(www|api|apis)\./;

/** Characters of the id that are appended to a slug that is taken. */
const ID_CHARACTERS = 8;

/**
 * Lists the slugs that a new listing may have, the best first: the one its source asks for, else from its service name,
 * else from its host; then the same with the first characters of the id appended, so that the import order decides only
 * which listing gets the short slug. The last one has all of the id, so no other listing can have it.
 */
export function listPossibleSlugs(source: {
  slug: string | null;
  service_name: string | null;
  base_url: string;
  id: string;
}): string[] {
  const host = new URL(source.base_url).hostname.replace(GENERIC_PREFIX, '');
  const wanted = source.slug ?? (toSlug(source.service_name ?? '') || toSlug(host) || 'listing');
  const id = source.id.replaceAll('-', '');
  const slugs = [wanted];
  for (let length = ID_CHARACTERS; length <= id.length; length += 4) {
    slugs.push(`${cutSlug(wanted, SLUG_MAX_LENGTH - length - 1)}-${id.slice(0, length)}`);
  }
  return slugs;
}

/** Writes any text as a slug: ASCII letters and digits, joined by hyphens; empty if none are left. */
export function toSlug(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return cutSlug(plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, ''), SLUG_MAX_LENGTH);
}

function cutSlug(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-+$/, '');
}
