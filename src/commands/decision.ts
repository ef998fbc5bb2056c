import { z } from 'zod';
import { DELISTING_METHOD } from '../evidence/delisting.ts';
import type { Change, ChangeKind } from '../model/change.ts';
import { declarationSource } from '../model/declaration.ts';
import { reliability } from '../model/listing.ts';
import { networkEntry } from '../model/network.ts';
import { type JsonObject, payeeKind, routeProof } from '../model/route.ts';
import { terms } from '../model/terms.ts';
import { formatPriceRange, formatUsdc } from '../model/usdc.ts';
import { formatTime } from './terminal/listing-words.ts';

/** A change in words: what readers saw change, why, and the dated evidence for it. */
export interface Decision {
  revision: number;
  at: string;
  kind: ChangeKind;
  reason: string;
  what: string;
  why: string;
  evidence: string[];
}

/** What the stable reason codes mean. A delisting carries the words of whoever decided instead. */
const REASONS: Readonly<Record<string, string>> = {
  declared_by_provider: 'its provider says so',
  declared_by_manifest: 'a manifest says so',
  declared_by_openapi: "its provider's OpenAPI document says so",
  declared_by_bazaar: 'a Bazaar feed says so',
  absent_from_feed: 'a complete pull of the feed that brought it no longer held it',
  inferred_from_text: 'no source names one, so it was inferred from the words of its texts',
  declared: 'a source names it',
  derived_again: 'it was derived again from what is on record',
  no_price: 'no price is known',
  receipt: 'a call was paid for, settled on the chain and delivered',
  terms_changed: 'payee, asset or network are others than those of the paid call',
  delisted_by_operator: 'the operator took it out',
  delisted_by_provider: 'the provider took it out',
  delisted_by_rule: 'a rule took it out',
  no_valid_402: `no valid 402 for ${DELISTING_METHOD.days_without_valid_402} days, and at least ${DELISTING_METHOD.conclusive_failures} conclusive failures`,
  probed: 'a probe saw it so',
  relisted_by_operator: 'the operator put it back',
  relisted_by_provider: 'the provider put it back',
  relisted_by_rule: 'it answers as it should again',
};

const scored = reliability.omit({ days: true });

const probeEvidence = z.object({
  sample: z
    .object({ at: z.string(), route: z.string().nullable(), outcome: z.string(), cause: z.string().nullable() })
    .optional(),
  failing: z.object({ since: z.string(), failures: z.int() }).optional(),
});

const offer = terms.pick({ network: true, amount: true, pay_to: true });
const changedTerms = z.object({
  route: z.string(),
  from: z.array(offer),
  to: z.array(offer),
  payee: payeeKind.nullish(),
});

const range = z.object({ min: z.int().nullable(), max: z.int().nullable() }).nullable();

/** Says what each kind of change was, from the details on record, and on what evidence it rests. */
const WORDS: Readonly<Record<ChangeKind, (detail: unknown) => { what: string; evidence?: string[] }>> = {
  listed: (detail) => {
    const { sources } = z.object({ sources: z.array(declarationSource) }).parse(detail);
    return { what: 'Listed', evidence: sources.map(describeSource) };
  },
  held: () => ({ what: 'Held back: on record, but not live' }),
  delisted: (detail) => {
    const { by } = z.object({ by: z.string().nullable() }).parse(detail);
    return { what: `Delisted by the ${by ?? 'operator'}` };
  },
  relisted: () => ({ what: 'Put back' }),
  categorised: (detail) => {
    const { from, to, scores } = z
      .object({ from: z.string().nullable(), to: z.string(), scores: z.record(z.string(), z.number()).optional() })
      .parse(detail);
    const counted = Object.entries(scores ?? {}).filter(([, points]) => points > 0);
    const words = counted.map(([name, points]) => `${name} ${points}`).join(', ');
    return {
      what: `Category ${to}${from ? `, before ${from}` : ''}`,
      evidence: scores ? [`points of its words: ${words || 'none for any category'}`] : [],
    };
  },
  priced: (detail) => {
    const { from, to } = z.object({ from: range, to: range }).parse(detail);
    return { what: `Price ${describeRange(to)}${from ? `, before ${describeRange(from)}` : ''}` };
  },
  described: (detail) => {
    const { fields } = z.object({ fields: z.array(z.string()) }).parse(detail);
    return { what: `New words in ${fields.join(', ').replaceAll('_', ' ')}` };
  },
  routed: (detail) => {
    const names = z.array(z.string());
    const { terms, ...changes } = z
      .object({ added: names, removed: names, changed: names, terms: z.array(changedTerms).default([]) })
      .parse(detail);
    const parts = Object.entries(changes).filter(([, routes]) => routes.length > 0);
    return {
      what: `Routes: ${parts.map(([how, routes]) => `${routes.length} ${how}`).join(', ')}`,
      evidence: [
        ...parts.map(([how, routes]) => `${how}: ${routes.join(', ')}`),
        ...terms.map(({ route, from, to, payee }) => {
          const rotates = payee === 'rotating' ? '; its payee is a fresh one each time' : '';
          return `${route} asks ${describeOffers(to)}, before ${describeOffers(from)}${rotates}`;
        }),
      ],
    };
  },
  networked: (detail) => {
    const { to } = z.object({ to: z.array(networkEntry) }).parse(detail);
    return { what: 'Networks', evidence: to.map(describeNetwork) };
  },
  verified: (detail) => {
    const { route, proof } = z.object({ route: z.string(), proof: routeProof }).parse(detail);
    return { what: `${route} is settlement-verified`, evidence: [describeProof(proof)] };
  },
  unverified: (detail) => {
    const { route, earlier } = z.object({ route: z.string(), earlier: routeProof.nullable() }).parse(detail);
    return { what: `${route} is unverified again`, evidence: earlier ? [`before: ${describeProof(earlier)}`] : [] };
  },
  seen: () => ({ what: 'Seen again as it stands' }),
  scored: (detail) => {
    const { from, to } = z.object({ from: scored, to: scored }).parse(detail);
    return { what: `Reliability ${describeReliability(to)}, before ${describeReliability(from)}` };
  },
};

/** Puts a change into words. A detail of a shape that this code does not know is quoted as it stands. */
export function describeDecision({ revision, at, kind, reason, detail }: Change): Decision {
  const why = REASONS[reason] ?? reason;
  try {
    const { what, evidence = [] } = WORDS[kind](detail);
    return { revision, at, kind, reason, what, why, evidence: [...evidence, ...describeEvidence(detail)] };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return { revision, at, kind, reason, what: kind, why, evidence: [JSON.stringify(detail)] };
  }
}

/** Says what a decision rests on that a probe set off: the sample, and the failing run it stands in. */
function describeEvidence(detail: JsonObject): string[] {
  const { sample, failing } = probeEvidence.parse(detail.evidence ?? {});
  const lines: string[] = [];
  if (sample) {
    const cause = sample.cause ? ` (${sample.cause})` : '';
    lines.push(`probe of ${sample.route ?? 'a route since gone'}, ${formatTime(sample.at)}: ${sample.outcome}${cause}`);
  }
  if (failing) lines.push(`${failing.failures} conclusive failures since ${formatTime(failing.since)}`);
  return lines;
}

/** Names a source and when what it says was seen to be so. */
export function describeSource({ kind, name, observed_at, observed_in }: z.infer<typeof declarationSource>): string {
  const where = observed_in ? ` in ${observed_in}` : '';
  return `${kind} ${name}, ${observed_at ? `seen ${formatTime(observed_at)}${where}` : 'a bare claim'}`;
}

function describeRange(price: z.infer<typeof range>): string {
  if (!price || price.min === null || price.max === null) return 'not known';
  return `${formatPriceRange(price.min, price.max)} USDC`;
}

function describeOffers(offers: readonly z.infer<typeof offer>[]): string {
  const words = offers.map(({ network, amount, pay_to }) => {
    return `${formatUsdc(amount)} USDC on ${network}${pay_to ? ` to ${pay_to}` : ''}`;
  });
  return words.join(' or ') || 'nothing known';
}

function describeNetwork({ key, advertised, last_seen_at, settlement_verified }: z.infer<typeof networkEntry>): string {
  const seen = advertised ? `advertised, last seen ${formatTime(last_seen_at)}` : 'not advertised';
  return `${key}: ${seen}${settlement_verified ? ', settlement-verified' : ''}`;
}

function describeProof({ amount, network, verified_at, transaction }: z.infer<typeof routeProof>): string {
  return `${formatUsdc(amount)} USDC paid on ${network}, ${formatTime(verified_at)}, transaction ${transaction}`;
}

function describeReliability({ band, score, samples }: z.infer<typeof scored>): string {
  return score === null ? band : `${score} of 100, ${band} (${samples} samples)`;
}
