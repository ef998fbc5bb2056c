import { getTermsKey, type Terms } from '../../model/terms.ts';
import type { TakenItem } from './item.ts';

/** Sorts items for one route, the newest first; among equally new ones by content, never by their place in the feed. */
export function sortNewestFirst<Place extends { item: TakenItem; hash: string }>(places: readonly Place[]): Place[] {
  return [...places].sort((a, b) => {
    const [newer, older] = [b.item.updated_at ?? '', a.item.updated_at ?? ''];
    if (newer !== older) return newer < older ? -1 : 1;
    return compareKeys(a.hash, b.hash);
  });
}

/**
 * Merges several items for one route, given newest first: the newest one's words and offers, and of each older one the
 * offers for a way to pay that no newer one mentions. Equally new ones count alike, so their offers are united.
 */
export function mergeItems(items: readonly [TakenItem, ...TakenItem[]]): TakenItem {
  const [newest] = items;
  const kept: { offer: Terms; updatedAt: string | null }[] = [];
  for (const { route, updated_at } of items) {
    for (const offer of route.terms) {
      const isOutdated = kept.some((one) => isSameWay(one.offer, offer) && one.updatedAt !== updated_at);
      if (!isOutdated) kept.push({ offer, updatedAt: updated_at });
    }
  }
  return { ...newest, route: { ...newest.route, terms: listDistinct(kept.map(({ offer }) => offer)) } };
}

/** Two offers are for one way to pay when they differ in amount or payee at most. */
function isSameWay(a: Terms, b: Terms): boolean {
  return a.network === b.network && a.scheme === b.scheme;
}

/** Lists offers once each, in an order of their own; of two equal ones the one for the newer protocol version. */
function listDistinct(offers: readonly Terms[]): Terms[] {
  const sorted = [...offers].sort((a, b) => compareKeys(getSortKey(a), getSortKey(b)));
  return sorted.filter((offer, index) => {
    const before = sorted[index - 1];
    return before === undefined || getTermsKey(before) !== getTermsKey(offer);
  });
}

/** Network, scheme, amount, payee; then the newer version and the longer time-out first. */
function getSortKey(offer: Terms): string {
  const descending = [3 - (offer.x402_version ?? 0), 1e6 - (offer.max_timeout_seconds ?? 0)];
  const [version, timeout] = descending.map((value) => String(value).padStart(8, '0'));
  const amount = String(offer.amount).padStart(16, '0');
  return [offer.network, offer.scheme, amount, offer.pay_to ?? '', version, timeout].join('|');
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
