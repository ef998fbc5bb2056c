import type { Declaration, Finding } from '../../model/declaration.ts';
import { compareRoutes } from '../../model/route.ts';
import { getTermsKey, type Terms } from '../../model/terms.ts';
import { compareTexts } from '../../model/text.ts';
import { type FeedDeclarations, type FeedFormat, type FeedOptions, getItemHash, type ItemOutcome } from '../feed.ts';
import { buildFinding } from '../finding-codes.ts';
import { getFeedItemKey, parseFeedItem, type RefusedItem, type TakenItem } from './item.ts';
import { pullFeed } from './pull.ts';

/** The Bazaar: `GET /discovery/resources` of a facilitator. */
export const BAZAAR: FeedFormat = {
  kind: 'bazaar',
  pull: pullFeed,
  getItemKey: getFeedItemKey,
  buildDeclarations: buildFeedDeclarations,
};

/** A feed's options, and those of a document whose entries are read as items. */
interface ItemsOptions extends FeedOptions {
  /** Gives the JSON pointer of the item at an index; without it, places are given from the item on. */
  getPlace?: ((index: number) => string) | undefined;
}

interface Parsed<Item> {
  index: number;
  hash: string;
  item: Item;
}

/**
 * Builds the declarations of a whole pull: the items of one origin become one listing with a route each. Several items
 * for one route are merged, and all but one of them count as `duplicate`, as does a refused item that comes again
 * unchanged. Only `outcomes` depends on the order of the items. Never throws, whatever the raw items contain.
 */
export function buildFeedDeclarations(items: readonly unknown[], options: ItemsOptions): FeedDeclarations {
  const parsed = items.map((raw, index) => ({
    index,
    hash: getItemHash(raw),
    item: parseFeedItem(raw, options, options.getPlace?.(index)),
  }));
  const outcomes: ItemOutcome[] = [];
  const findings: Finding[] = [];
  const routes: TakenItem[] = [];
  for (const group of Map.groupBy(parsed, ({ item }) => item.key).values()) {
    const [newest, ...older] = sortNewestFirst(group.filter(isTakenItem));
    const [refused, repeated] = splitRepeated(group.filter(isRefusedItem));
    if (newest) {
      routes.push(mergeRouteItems([newest.item, ...older.map(({ item }) => item)]));
      outcomes[newest.index] = { ...getIdentity(newest.item), outcome: 'taken', base_url: newest.item.base_url };
      findings.push(...newest.item.findings);
    }
    for (const { index, item } of [...older, ...repeated])
      outcomes[index] = { ...getIdentity(item), outcome: 'duplicate' };
    for (const { index, item } of refused) {
      outcomes[index] = { ...getIdentity(item), outcome: 'refused', code: item.code };
      findings.push(...item.findings);
    }
    const again = [...older, ...repeated][0];
    if (again) findings.push(buildDuplicateFinding(again.item.name, older.length + repeated.length));
  }
  return {
    declarations: [...Map.groupBy(routes, ({ base_url }) => base_url)]
      .map(([base, group]) => buildDeclaration(base, group, options))
      .sort((a, b) => compareTexts(a.base_url, b.base_url)),
    findings: findings.sort((a, b) => compareTexts(getFindingKey(a), getFindingKey(b))),
    outcomes,
  };
}

function isTakenItem(parsed: Parsed<TakenItem | RefusedItem>): parsed is Parsed<TakenItem> {
  return parsed.item.outcome === 'taken';
}

function isRefusedItem(parsed: Parsed<TakenItem | RefusedItem>): parsed is Parsed<RefusedItem> {
  return parsed.item.outcome === 'refused';
}

/** Separates items whose exact content came before. */
function splitRepeated(refused: Parsed<RefusedItem>[]): [first: Parsed<RefusedItem>[], again: Parsed<RefusedItem>[]] {
  const firsts = new Map<string, Parsed<RefusedItem>>();
  const again: Parsed<RefusedItem>[] = [];
  for (const one of refused) {
    if (firsts.has(one.hash)) again.push(one);
    else firsts.set(one.hash, one);
  }
  return [[...firsts.values()], again];
}

function getIdentity({ key, name }: TakenItem | RefusedItem): { key: string; name: string } {
  return { key, name };
}

function buildDuplicateFinding(name: string, count: number): Finding {
  return buildFinding('noted', 'duplicate', name, `The item came ${count + 1} times in one pull and counts once.`);
}

/**
 * Builds the declaration of the items of one origin. Which of their words are about the whole listing is decided later.
 */
function buildDeclaration(baseUrl: string, items: TakenItem[], { feed, pulledAt, isFile }: FeedOptions): Declaration {
  const dates = items.flatMap(({ updated_at }) => updated_at ?? []).sort();
  const names = new Set(items.flatMap(({ words }) => words.service_name ?? []));
  return {
    source: { kind: 'bazaar', name: feed, observed_at: dates.at(-1) ?? (isFile ? null : pulledAt) },
    base_url: baseUrl,
    slug: null,
    service_name: names.size === 1 ? ([...names][0] ?? null) : null,
    ...{ title: '', tagline: '', description: '', provider_name: '' },
    category: null,
    mcp_endpoint: null,
    docs_url: null,
    price: null,
    networks: [],
    routes: items
      .map(({ route, words }) => (Object.keys(words).length === 0 ? route : { ...route, item: words }))
      .sort(compareRoutes),
  };
}

function getFindingKey({ item, code, message, severity }: Finding): string {
  return [item, code, severity, message].join('\n');
}

/**
 * Sorts items for one route, the newest first. Equally new ones are sorted by content and not by their place in the
 * feed.
 */
function sortNewestFirst<Place extends { item: TakenItem; hash: string }>(places: readonly Place[]): Place[] {
  return [...places].sort((a, b) => {
    const [newer, older] = [b.item.updated_at ?? '', a.item.updated_at ?? ''];
    if (newer !== older) return newer < older ? -1 : 1;
    return compareTexts(a.hash, b.hash);
  });
}

/**
 * Merges several items for one route, sorted newest first. Texts and offers come from the newest one. An older item
 * adds offers whose network and scheme no newer item has. The offers of equally new items are united.
 */
function mergeRouteItems(items: readonly [TakenItem, ...TakenItem[]]): TakenItem {
  const [newest] = items;
  const kept: { offer: Terms; updatedAt: string | null }[] = [];
  for (const { route, updated_at } of items) {
    for (const offer of route.terms) {
      const isOutdated = kept.some((one) => isSameNetworkAndScheme(one.offer, offer) && one.updatedAt !== updated_at);
      if (!isOutdated) kept.push({ offer, updatedAt: updated_at });
    }
  }
  return { ...newest, route: { ...newest.route, terms: listDistinct(kept.map(({ offer }) => offer)) } };
}

/** Returns whether two offers are for the same way to pay: they differ only in amount or payee. */
function isSameNetworkAndScheme(a: Terms, b: Terms): boolean {
  return a.network === b.network && a.scheme === b.scheme;
}

/** Lists distinct offers in a fixed order. Of two equal ones the one for the newer protocol version stays. */
function listDistinct(offers: readonly Terms[]): Terms[] {
  const sorted = [...offers].sort((a, b) => compareTexts(getSortKey(a), getSortKey(b)));
  return sorted.filter((offer, index) => {
    const before = sorted[index - 1];
    return before === undefined || getTermsKey(before) !== getTermsKey(offer);
  });
}

/** Sorts by network, scheme, amount and payee, then the newer version and the longer time-out first. */
function getSortKey(offer: Terms): string {
  const descending = [3 - (offer.x402_version ?? 0), 1e6 - (offer.max_timeout_seconds ?? 0)];
  const [version, timeout] = descending.map((value) => String(value).padStart(8, '0'));
  const amount = String(offer.amount).padStart(16, '0');
  return [offer.network, offer.scheme, amount, offer.pay_to ?? '', version, timeout].join('|');
}

/** Feeds of facilitators that list the resources they settle payments for, by the name of the facilitator. */
export const KNOWN_FEEDS: Readonly<Record<string, string>> = {
  cdp: 'https://api.cdp.coinbase.com/platform/v2/x402/discovery/resources',
  payai: 'https://facilitator.payai.network/discovery/resources',
  thirdweb: 'https://api.thirdweb.com/v1/payments/x402/discovery/resources',
  aurracloud: 'https://x402-facilitator.aurracloud.com/discovery/resources',
  questflow: 'https://facilitator.questflow.ai/discovery/resources',
  anyspend: 'https://mainnet.anyspend.com/x402/discovery/resources',
};
