import { z } from 'zod';
import type { declarationSource } from '../model/declaration.ts';
import { reliability } from '../model/listing.ts';
import type { NetworkEntry } from '../model/network.ts';
import { type PayeeKind, payeeKind, routeProof } from '../model/route.ts';
import { terms } from '../model/terms.ts';
import { formatPriceRange, formatUsdc } from '../model/usdc.ts';
import { formatSecond } from './times.ts';

/** A proof as decisions carry it; older ones know less of it. */
export const recordedProof = routeProof.omit({ request: true, pay_to: true });

/** A score as decisions carry it; older ones do not say that they were made by the first version of the method. */
export const recordedScore = reliability.omit({ days: true }).extend({ method: z.int().positive().default(1) });

const offer = terms.pick({ network: true, amount: true, pay_to: true });
/** How the terms of one route changed. */
export const recordedTermsChange = z.object({
  route: z.string(),
  from: z.array(offer),
  to: z.array(offer),
  payee: payeeKind.nullish(),
});

/** Says whether a route asks to be paid to others than before. A payee that is named for the first time replaces none. */
export function isOtherPayee({ from, to }: z.infer<typeof recordedTermsChange>): boolean {
  const before = from.map(({ pay_to }) => pay_to).filter((payee) => payee !== null);
  return before.length > 0 && to.some(({ pay_to }) => pay_to !== null && !before.includes(pay_to));
}

/** A price range; null before there was any. */
export const recordedRange = z.object({ min: z.int().nullable(), max: z.int().nullable() }).nullable();

/** Names a source and when what it says was seen to be so. */
export function describeSource({ kind, name, observed_at, observed_in }: z.infer<typeof declarationSource>): string {
  const where = observed_in ? ` in ${observed_in}` : '';
  return `${kind} ${name}, ${observed_at ? `seen ${formatSecond(observed_at)}${where}` : 'a bare claim'}`;
}

/** Writes a price range in USDC. */
export function describeRange(price: z.infer<typeof recordedRange>): string {
  if (!price || price.min === null || price.max === null) return 'not known';
  return `${formatPriceRange(price.min, price.max)} USDC`;
}

function describeOffers(offers: readonly z.infer<typeof offer>[]): string {
  const words = offers.map(({ network, amount, pay_to }) => {
    return `${formatUsdc(amount)} USDC on ${network}${pay_to ? ` to ${pay_to}` : ''}`;
  });
  return words.join(' or ') || 'nothing known';
}

const PAYEE_WORDS: Readonly<Record<PayeeKind, string>> = {
  fixed: 'names the same payee each time',
  rotating: 'names a fresh payee each time',
};

/** Says what a route asks now, and asked before. */
export function describeTermsChange({ route, from, to, payee }: z.infer<typeof recordedTermsChange>): string {
  const [before, now] = [describeOffers(from), describeOffers(to)];
  const parts = [...(before === now ? [] : [`asks ${now}, before ${before}`]), ...(payee ? [PAYEE_WORDS[payee]] : [])];
  return `${route} ${parts.join('; ') || 'asks in another scheme'}`;
}

/** Says which networks are advertised, or verified, that were not before, and which no longer. */
export function describeNetworkChange(from: readonly NetworkEntry[], to: readonly NetworkEntry[]): string {
  const changes = to.flatMap(({ key, label, advertised, settlement_verified }) => {
    const before = from.find((entry) => entry.key === key);
    return [
      ...(advertised === (before?.advertised ?? false) ? [] : [`${label} ${advertised ? '' : 'no longer '}advertised`]),
      ...(settlement_verified === (before?.settlement_verified ?? false)
        ? []
        : [`${label} ${settlement_verified ? '' : 'no longer '}settlement-verified`]),
    ];
  });
  const gone = from.filter(({ key }) => !to.some((entry) => entry.key === key));
  return [...changes, ...gone.map(({ label }) => `${label} gone`)].join(', ');
}

/** Says what is known of a network. */
export function describeNetwork({ key, last_seen_at, settlement_verified }: NetworkEntry): string {
  const seen = last_seen_at === null ? 'not advertised' : `advertised, last seen ${formatSecond(last_seen_at)}`;
  return `${key}: ${seen}${settlement_verified ? ', settlement-verified' : ''}`;
}

/** Says what was paid, where, when and in which transaction. */
export function describeProof(proof: z.infer<typeof recordedProof>): string {
  const { amount, network, public_chain, verified_at, transaction } = proof;
  const chain = public_chain ? network : `a local test chain for ${network}`;
  return `${formatUsdc(amount)} USDC paid on ${chain}, ${formatSecond(verified_at)}, transaction ${transaction}`;
}

/** Writes a score with what it rests on. */
export function describeReliability({ band, score, samples }: z.infer<typeof recordedScore>): string {
  return score === null ? band : `${score} of 100, ${band} (${samples} samples)`;
}
