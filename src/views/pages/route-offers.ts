import { getCurrentTerms } from '../../evidence/terms.ts';
import { NETWORKS } from '../../model/network.ts';
import type { RecordedTerms } from '../../model/terms.ts';
import { formatUsdc } from '../../model/usdc.ts';
import { formatDay } from '../times.ts';

/** One current price of a route, where it is paid, what it rests on, and what else was said or seen. */
export interface RouteOffer {
  /** USDC per request. */
  readonly price: string;
  /** Networks on which it is asked alike: `Base, Solana`. */
  readonly networks: string;
  /** `observed`: a 402 answer was seen to ask it. `declared`: a source says so. */
  readonly evidence: 'observed' | 'declared';
  /** Day of the latest dated evidence; null for a bare claim. */
  readonly seen_on: string | null;
  /** The price before this one, where a 402 was seen to ask another. */
  readonly was: { readonly price: string; readonly until: string } | null;
  /** What a source says it costs, where a 402 asks something else. */
  readonly declared: string | null;
}

/** Lists what a route asks now; offers that differ in their network alone are one. */
export function listRouteOffers(terms: readonly RecordedTerms[]): RouteOffer[] {
  const offers = getCurrentTerms(terms).map((offer) => ({
    network: NETWORKS[offer.network].label,
    price: formatUsdc(offer.amount),
    evidence: offer.evidence,
    seen_on: offer.last_seen_at === null ? null : formatDay(offer.last_seen_at),
    was: findEarlierPrice(offer, terms),
    declared: findDeclaredPrice(offer, terms),
  }));
  const alike = Map.groupBy(offers, ({ network: _network, ...offer }) => JSON.stringify(offer));
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { network: _network, ...offer } = first;
    return { ...offer, networks: [...new Set(group.map(({ network }) => network).sort())].join(', ') };
  });
}

/** The last price that a 402 was seen to ask on that network, unless it is asked still. */
function findEarlierPrice({ network, evidence }: RecordedTerms, terms: readonly RecordedTerms[]): RouteOffer['was'] {
  if (evidence !== 'observed') return null;
  const observed = terms.filter((other) => other.evidence === 'observed' && other.network === network);
  const asked = new Set(observed.filter(({ current }) => current).map(({ amount }) => amount));
  const past = observed.filter(({ current, last_seen_at }) => !current && last_seen_at !== null);
  const last = past.sort((a, b) => ((a.last_seen_at ?? '') < (b.last_seen_at ?? '') ? 1 : -1))[0];
  if (!last || asked.has(last.amount)) return null;
  return { price: formatUsdc(last.amount), until: formatDay(last.last_seen_at ?? '') };
}

function findDeclaredPrice(
  { network, amount, evidence }: RecordedTerms,
  terms: readonly RecordedTerms[],
): string | null {
  if (evidence !== 'observed') return null;
  const declared = terms.filter((other) => other.current && other.evidence === 'declared' && other.network === network);
  const [first] = declared;
  if (!first || declared.some((other) => other.amount === amount)) return null;
  return formatUsdc(first.amount);
}

/** Says what an offer rests on: `402 seen 2026-11-20`, `declared, seen 2026-11-20`, `declared, undated`. */
export function formatOfferEvidence({ evidence, seen_on }: RouteOffer): string {
  if (evidence === 'observed') return `402 seen ${seen_on ?? 'at an unknown time'}`;
  return seen_on === null ? 'declared, undated' : `declared, seen ${seen_on}`;
}

/** Says how an offer differs from what was seen or declared before; empty where it does not: `was 0.001 until 2026-10-02`. */
export function formatOfferHistory({ was, declared }: RouteOffer): string {
  return [...(was ? [`was ${was.price} until ${was.until}`] : []), ...(declared ? [`declared ${declared}`] : [])].join(
    ', ',
  );
}
