import type { Declaration } from '../../model/declaration.ts';
import type { Finding } from '../../model/finding.ts';
import { buildFinding, type FindingCode } from '../finding-codes.ts';
import { cleanText, getFirstSentence } from '../text.ts';
import { type FeedItemOptions, parseFeedItem, type RefusedItem, type TakenItem } from './item.ts';
import { getItemHash } from './item-key.ts';
import { mergeItems, sortNewestFirst } from './merge.ts';
import { chooseDescription, chooseMostCommon } from './wording.ts';

export interface FeedOptions extends FeedItemOptions {
  /** The feed's name on record, as `getSourceName` gives it. */
  feed: string;
}

/** What became of one item. */
export type ItemOutcome =
  | { key: string; name: string; outcome: 'taken'; base_url: string }
  | { key: string; name: string; outcome: 'duplicate' }
  | { key: string; name: string; outcome: 'refused'; code: FindingCode };

export interface FeedDeclarations {
  /** One for each origin, by base address. */
  declarations: Declaration[];
  /** By item and code. Exactly one `refused` finding for each refused item. */
  findings: Finding[];
  /** One for each item, in the order given. */
  outcomes: ItemOutcome[];
}

interface Parsed<Item> {
  index: number;
  hash: string;
  item: Item;
}

/**
 * Builds the declarations of a whole pull: items of one origin become one listing with a route each. Several items for
 * one route are merged, and every item but one of them is a `duplicate`; so is a refused item that comes again
 * unchanged. The result does not depend on the items' order; `outcomes` follows it. Takes raw items and never throws
 * for what they hold.
 */
export function buildFeedDeclarations(items: readonly unknown[], options: FeedOptions): FeedDeclarations {
  const parsed = items.map((raw, index) => ({ index, hash: getItemHash(raw), item: parseFeedItem(raw, options) }));
  const outcomes: ItemOutcome[] = [];
  const findings: Finding[] = [];
  const byOrigin = new Map<string, TakenItem[]>();
  for (const group of groupBy(parsed, ({ item }) => item.key).values()) {
    const [newest, ...older] = sortNewestFirst(group.filter(isTaken));
    const [refused, repeated] = splitRepeated(group.filter(isRefused));
    if (newest) {
      addTo(byOrigin, newest.item.base_url, mergeItems([newest.item, ...older.map(({ item }) => item)]));
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
    declarations: [...byOrigin]
      .map(([base, group]) => buildDeclaration(base, group, options))
      .sort((a, b) => compareTexts(a.base_url, b.base_url)),
    findings: findings.sort((a, b) => compareTexts(getFindingKey(a), getFindingKey(b))),
    outcomes,
  };
}

function isTaken(parsed: Parsed<TakenItem | RefusedItem>): parsed is Parsed<TakenItem> {
  return parsed.item.outcome === 'taken';
}

function isRefused(parsed: Parsed<TakenItem | RefusedItem>): parsed is Parsed<RefusedItem> {
  return parsed.item.outcome === 'refused';
}

/** Splits off the items that came before with the very same content. */
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

function buildDeclaration(baseUrl: string, items: TakenItem[], { feed, pulledAt }: FeedOptions): Declaration {
  const serviceName = chooseMostCommon(items.map(({ service }) => service.name));
  const name = serviceName || new URL(baseUrl).host;
  const description = chooseDescription(items);
  const dates = items.flatMap(({ updated_at }) => updated_at ?? []).sort();
  return {
    source: { kind: 'bazaar', name: feed, observed_at: dates.at(-1) ?? pulledAt },
    base_url: baseUrl,
    slug: null,
    service_name: serviceName || null,
    title: cleanText(name, 'title'),
    tagline: cleanText(getFirstSentence(description), 'tagline'),
    description,
    provider_name: cleanText(name, 'provider_name'),
    category: null,
    mcp_endpoint: null,
    docs_url: chooseMostCommon(items.map(({ service }) => service.docs_url ?? '')) || null,
    price: null,
    networks: [],
    routes: items
      .map(({ route }) => route)
      .sort((a, b) => compareTexts(a.path, b.path) || compareTexts(a.method, b.method)),
  };
}

function groupBy<Value>(values: Value[], getKey: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) addTo(groups, getKey(value), value);
  return groups;
}

function addTo<Value>(groups: Map<string, Value[]>, key: string, value: Value): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}

function getFindingKey({ item, code, message, severity }: Finding): string {
  return [item, code, severity, message].join('\n');
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
