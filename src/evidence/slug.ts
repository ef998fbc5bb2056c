import { SLUG_MAX_LENGTH } from '../model/listing.ts';

/** Host parts that say nothing of who is behind them. */
const EMPTY_PREFIX = /^(www|api|apis)\./;

/** Characters of the id that are put behind a slug that is taken. */
const ID_CHARACTERS = 8;

/**
 * Makes the slug of a new listing from its service name, else from its host. Where that
 * slug `isTaken`, the first characters of the id follow it, so that import order decides nothing but who came first.
 */
export function buildSlug(
  source: { slug: string | null; service_name: string | null; base_url: string; id: string },
  isTaken: (slug: string) => boolean,
): string {
  const host = new URL(source.base_url).hostname.replace(EMPTY_PREFIX, '');
  const wanted = source.slug ?? (toSlug(source.service_name ?? '') || toSlug(host) || 'listing');
  if (!isTaken(wanted)) return wanted;
  const suffix = source.id.replaceAll('-', '');
  for (let length = ID_CHARACTERS; length < suffix.length; length += 4) {
    const slug = `${cutSlug(wanted, SLUG_MAX_LENGTH - length - 1)}-${suffix.slice(0, length)}`;
    if (!isTaken(slug)) return slug;
  }
  return `${cutSlug(wanted, SLUG_MAX_LENGTH - suffix.length - 1)}-${suffix}`;
}

/** Writes any text as a slug: letters and digits of ASCII, joined by hyphens; empty when none is left. */
export function toSlug(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return cutSlug(plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, ''), SLUG_MAX_LENGTH);
}

function cutSlug(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-+$/, '');
}
