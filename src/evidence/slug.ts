import { SLUG_MAX_LENGTH } from '../model/listing.ts';

/** Host labels that say nothing about the provider. */
const GENERIC_PREFIX = /^(www|api|apis)\./;

/** Characters of the id that are appended to a slug that is taken. */
const ID_CHARACTERS = 8;

/**
 * Builds the slug of a new listing: the one its source asks for, else from its service name, else from its host. If
 * that slug is taken, the first characters of the id are appended, so that the import order decides only who gets the
 * short slug.
 */
export function buildSlug(
  source: { slug: string | null; service_name: string | null; base_url: string; id: string },
  isTaken: (slug: string) => boolean,
): string {
  const host = new URL(source.base_url).hostname.replace(GENERIC_PREFIX, '');
  const wanted = source.slug ?? (toSlug(source.service_name ?? '') || toSlug(host) || 'listing');
  if (!isTaken(wanted)) return wanted;
  const suffix = source.id.replaceAll('-', '');
  for (let length = ID_CHARACTERS; length < suffix.length; length += 4) {
    const slug = `${cutSlug(wanted, SLUG_MAX_LENGTH - length - 1)}-${suffix.slice(0, length)}`;
    if (!isTaken(slug)) return slug;
  }
  return `${cutSlug(wanted, SLUG_MAX_LENGTH - suffix.length - 1)}-${suffix}`;
}

/** Writes any text as a slug: ASCII letters and digits, joined by hyphens; empty if none are left. */
export function toSlug(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return cutSlug(plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, ''), SLUG_MAX_LENGTH);
}

function cutSlug(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-+$/, '');
}
