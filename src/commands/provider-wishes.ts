import type { Catalogue } from '../catalogue/database.ts';
import { keepAddressOut, letAddressIn } from '../catalogue/delisting.ts';
import { findDelisting } from '../catalogue/delistings.ts';
import { findListing, listBaseUrlsBelow } from '../catalogue/listings.ts';
import type { Writing } from '../catalogue/write.ts';
import { ASKED_BY_PROVIDER } from '../evidence/changes.ts';
import type { Finding } from '../model/finding.ts';
import type { JsonObject } from '../model/route.ts';
import type { ProviderWish } from '../sources/provider-file/statement.ts';
import { formatQuote } from '../sources/quote.ts';
import { buildImportFinding } from './finding-words.ts';
import type { ImportOutcome } from './import-report.ts';

/** Says whether the wish to be in or out stands on record as it is; what is declared besides is another matter. */
export function isGranted(catalogue: Catalogue, wish: ProviderWish): boolean {
  const delisting = findDelisting(catalogue, wish.base_url, 'provider');
  return wish.wish === 'in' ? delisting === undefined : delisting?.reason === getReason(wish);
}

/** Grants the wish to be in or out. Gives whether readers see a change. */
export function grantWish(
  writing: Writing,
  wish: ProviderWish,
  { source, evidence }: { source: string; evidence: JsonObject },
): boolean {
  if (wish.wish === 'in') return letAddressIn(writing, wish.base_url, { evidence });
  return keepAddressOut(writing, wish.base_url, { reason: getReason(wish), source, evidence });
}

function getReason({ reason }: Extract<ProviderWish, { wish: 'out' }>): string {
  return reason ?? ASKED_BY_PROVIDER;
}

/** Says whether the statement still declares something of this listing, or at least does not take it back. */
export function isStillDeclared(wish: ProviderWish): boolean {
  return wish.wish === 'out' || wish.is_broken || wish.declaration !== null;
}

/** Finds what is to be said of a wish that has no effect that can be seen. */
export function findWishFinding(catalogue: Catalogue, wish: ProviderWish): Finding | undefined {
  const { base_url } = wish;
  const isKnown = findListing(catalogue, { base_url }) !== undefined;
  if (wish.wish === 'out') {
    if (isKnown) return undefined;
    const message = `Nothing is listed at ${base_url}, and nothing will be while its provider wants it so.`;
    return buildImportFinding('noted', 'provider_kept_out', base_url, message);
  }
  const other = (['operator', 'rule'] as const).find((by) => findDelisting(catalogue, base_url, by));
  if (other) {
    const message = `The ${other} took the listing at ${base_url} out, which its provider's wish does not undo.`;
    return buildImportFinding('noted', 'provider_not_lifted', base_url, message);
  }
  if (isKnown || isStillDeclared(wish)) return undefined;
  const message = `There is no listing at ${base_url} to put back, and the statement says nothing to make one of.`;
  return buildImportFinding('refused', 'provider_nothing_to_list', base_url, message);
}

/** So many addresses a finding names. */
const NAMED = 5;

/**
 * Finds what a wish to be out leaves in: one for a bare origin is of the listing at that origin alone, and whoever means
 * the whole host is told which listings of it stand below a path and are not named.
 */
export function findUntouched(catalogue: Catalogue, wishes: readonly ProviderWish[]): Finding | undefined {
  const named = new Set(wishes.map(({ base_url }) => base_url));
  const out = wishes.find(({ wish, base_url }) => wish === 'out' && new URL(base_url).origin === base_url);
  if (!out) return undefined;
  const others = listBaseUrlsBelow(catalogue, out.base_url).filter((base_url) => !named.has(base_url));
  if (others.length === 0) return undefined;
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : '';
  const list = `${others.slice(0, NAMED).map(formatQuote).join(', ')}${more}`;
  const message = `An entry without base_url is of the origin alone. Still listed below it, and taken out by their base_url: ${list}.`;
  return buildImportFinding('noted', 'provider_others_stay', out.base_url, message);
}

/** Builds what became of a listing by a wish alone; undefined where there is none. */
export function findWishOutcome(
  catalogue: Catalogue,
  wish: ProviderWish,
  hasChanged: boolean,
): ImportOutcome | undefined {
  const listing = findListing(catalogue, { base_url: wish.base_url });
  if (!listing) return undefined;
  const { state, slug, id, title, base_url } = listing;
  const outcome = state === 'live' ? (hasChanged ? 'changed' : 'unchanged') : state;
  return { outcome, slug, id, title, base_url, file: null };
}
