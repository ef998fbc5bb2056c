import { z } from 'zod';
import { ASKED_BY_PROVIDER } from '../evidence/changes.ts';
import type { Change, ChangeKind } from '../model/change.ts';
import { declarationSource } from '../model/declaration.ts';
import { reliability } from '../model/listing.ts';
import { networkEntry } from '../model/network.ts';
import { probeOutcome } from '../model/outcome.ts';
import { type JsonObject, type PayeeKind, payeeKind, routeProof } from '../model/route.ts';
import { terms } from '../model/terms.ts';
import { formatPriceRange, formatUsdc } from '../model/usdc.ts';
import { formatOutcome } from './outcome-words.ts';
import { describeReason } from './reasons.ts';
import { formatSecond } from './times.ts';

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

const scored = reliability.omit({ days: true });

const evidenceOnRecord = z.object({
  sample: z
    .object({ at: z.string(), route: z.string().nullable(), outcome: probeOutcome, cause: z.string().nullable() })
    .optional(),
  failing: z.object({ since: z.string(), failures: z.int() }).optional(),
  statement: z.object({ source: z.string(), read_at: z.string() }).optional(),
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
    const { by, words } = z.object({ by: z.string().nullable(), words: z.string().nullish() }).parse(detail);
    return {
      what: `Delisted by the ${by ?? 'operator'}`,
      evidence: words && words !== ASKED_BY_PROVIDER ? [`in its words: ${words}`] : [],
    };
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
      evidence: [...parts.map(([how, routes]) => `${how}: ${routes.join(', ')}`), ...terms.map(describeTermsChange)],
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
  const why = describeReason(reason);
  try {
    const { what, evidence = [] } = WORDS[kind](detail);
    return { revision, at, kind, reason, what, why, evidence: [...evidence, ...describeEvidence(detail)] };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return { revision, at, kind, reason, what: kind, why, evidence: [JSON.stringify(detail)] };
  }
}

/** Says what a decision rests on: of a probe the sample and the failing run it stands in, of a provider its statement. */
function describeEvidence(detail: JsonObject): string[] {
  const { sample, failing, statement } = evidenceOnRecord.parse(detail.evidence ?? {});
  const lines: string[] = [];
  if (sample) {
    const came = formatOutcome(sample.outcome, sample.cause);
    lines.push(`probe of ${sample.route ?? 'a route since gone'}, ${formatSecond(sample.at)}: ${came}`);
  }
  if (failing) lines.push(`${failing.failures} conclusive failures since ${formatSecond(failing.since)}`);
  if (statement) lines.push(`its provider's statement ${statement.source}, read ${formatSecond(statement.read_at)}`);
  return lines;
}

/** Names a source and when what it says was seen to be so. */
export function describeSource({ kind, name, observed_at, observed_in }: z.infer<typeof declarationSource>): string {
  const where = observed_in ? ` in ${observed_in}` : '';
  return `${kind} ${name}, ${observed_at ? `seen ${formatSecond(observed_at)}${where}` : 'a bare claim'}`;
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

const PAYEE_WORDS: Readonly<Record<PayeeKind, string>> = {
  fixed: 'names the same payee each time',
  rotating: 'names a fresh payee each time',
};

function describeTermsChange({ route, from, to, payee }: z.infer<typeof changedTerms>): string {
  const [before, now] = [describeOffers(from), describeOffers(to)];
  const parts = [...(before === now ? [] : [`asks ${now}, before ${before}`]), ...(payee ? [PAYEE_WORDS[payee]] : [])];
  return `${route} ${parts.join('; ') || 'asks in another scheme'}`;
}

function describeNetwork({ key, last_seen_at, settlement_verified }: z.infer<typeof networkEntry>): string {
  const seen = last_seen_at === null ? 'not advertised' : `advertised, last seen ${formatSecond(last_seen_at)}`;
  return `${key}: ${seen}${settlement_verified ? ', settlement-verified' : ''}`;
}

function describeProof({ amount, network, verified_at, transaction }: z.infer<typeof routeProof>): string {
  return `${formatUsdc(amount)} USDC paid on ${network}, ${formatSecond(verified_at)}, transaction ${transaction}`;
}

function describeReliability({ band, score, samples }: z.infer<typeof scored>): string {
  return score === null ? band : `${score} of 100, ${band} (${samples} samples)`;
}
