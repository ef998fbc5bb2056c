import { z } from 'zod';
import { ASKED_BY_PROVIDER } from '../evidence/changes.ts';
import { caution, cautionCode } from '../model/caution.ts';
import type { Change, ChangeKind } from '../model/change.ts';
import { declarationSource } from '../model/declaration.ts';
import type { JsonObject } from '../model/json.ts';
import { NETWORKS, networkEntry, networkKey } from '../model/network.ts';
import { probeOutcome } from '../model/probe.ts';
import { describeCautionEvidence } from './caution-words.ts';
import {
  describeNetwork,
  describeNetworkChange,
  describeProof,
  describeRange,
  describeReliability,
  describeSource,
  describeTermsChange,
  recordedProof,
  recordedRange,
  recordedScore,
  recordedTermsChange,
} from './decision-details.ts';
import { formatOutcome } from './outcome-words.ts';
import { describeReason, getCautionPhrase } from './reasons.ts';
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

const evidenceOnRecord = z.object({
  sample: z
    .object({ at: z.string(), route: z.string().nullable(), outcome: probeOutcome, cause: z.string().nullable() })
    .optional(),
  failing: z.object({ since: z.string(), failures: z.int() }).optional(),
  statement: z.object({ source: z.string(), read_at: z.string() }).optional(),
});

/** Details of changes as they are on record. Made once: making a schema takes longer than using it. */
const names = z.array(z.string());
const details = {
  listed: z.object({ sources: z.array(declarationSource) }),
  delisted: z.object({ by: z.string().nullable(), words: z.string().nullish() }),
  categorised: z.object({
    from: z.string().nullable(),
    to: z.string(),
    scores: z.record(z.string(), z.number()).optional(),
  }),
  priced: z.object({ from: recordedRange, to: recordedRange }),
  described: z.object({ fields: names }),
  routed: z.object({
    ...{ added: names, removed: names, changed: names },
    terms: z.array(recordedTermsChange).default([]),
  }),
  networked: z.object({
    from: z.array(networkEntry),
    to: z.array(networkEntry),
    primary_network: networkKey.optional(),
  }),
  verified: z.object({ route: z.string(), proof: recordedProof }),
  unverified: z.object({ route: z.string(), earlier: recordedProof.nullable() }),
  cautioned: z.object({ code: cautionCode, routes: names, added: names, caution }),
  cleared: z.object({ code: cautionCode, routes: names, cleared: names }),
  corrected: z.object({ receipt_id: z.string(), route: z.string().nullable(), because: z.string() }),
  replied: z.object({ code: cautionCode, route: z.string().nullable(), text: z.string().nullable() }),
  scored: z.object({ from: recordedScore, to: recordedScore }),
};

/** Says what each kind of change was, from the details on record, and on what evidence it rests. */
const WORDS: Readonly<Record<ChangeKind, (detail: unknown) => { what: string; evidence?: string[] }>> = {
  listed: (detail) => {
    const { sources } = details.listed.parse(detail);
    return { what: 'Listed', evidence: sources.map(describeSource) };
  },
  held: () => ({ what: 'Held back: on record, but not live' }),
  delisted: (detail) => {
    const { by, words } = details.delisted.parse(detail);
    return {
      what: `Delisted by the ${by ?? 'operator'}`,
      evidence: words && words !== ASKED_BY_PROVIDER ? [`in its words: ${words}`] : [],
    };
  },
  relisted: () => ({ what: 'Put back' }),
  categorised: (detail) => {
    const { from, to, scores } = details.categorised.parse(detail);
    const counted = Object.entries(scores ?? {}).filter(([, points]) => points > 0);
    const words = counted.map(([name, points]) => `${name} ${points}`).join(', ');
    return {
      what: `Category ${to}${from ? `, before ${from}` : ''}`,
      evidence: scores ? [`points of its words: ${words || 'none for any category'}`] : [],
    };
  },
  priced: (detail) => {
    const { from, to } = details.priced.parse(detail);
    return { what: `Price ${describeRange(to)}${from ? `, before ${describeRange(from)}` : ''}` };
  },
  described: (detail) => {
    const { fields } = details.described.parse(detail);
    return { what: `New words in ${fields.join(', ').replaceAll('_', ' ')}` };
  },
  routed: (detail) => {
    const { terms, ...changes } = details.routed.parse(detail);
    const parts = Object.entries(changes).filter(([, routes]) => routes.length > 0);
    // A route whose new terms are described is not named again.
    const described = new Set(terms.map(({ route }) => route));
    const untold = parts
      .map(([how, routes]) => [how, routes.filter((route) => how !== 'changed' || !described.has(route))] as const)
      .filter(([, routes]) => routes.length > 0);
    return {
      what: `Routes: ${parts.map(([how, routes]) => `${routes.length} ${how}`).join(', ')}`,
      evidence: [...untold.map(([how, routes]) => `${how}: ${routes.join(', ')}`), ...terms.map(describeTermsChange)],
    };
  },
  networked: (detail) => {
    const { from, to, primary_network: primary } = details.networked.parse(detail);
    const shown = primary ? `shown under ${NETWORKS[primary].label}` : '';
    const what = [describeNetworkChange(from, to), shown].filter(Boolean).join(', ') || 'as before';
    return { what: `Networks: ${what}`, evidence: to.map(describeNetwork) };
  },
  verified: (detail) => {
    const { route, proof } = details.verified.parse(detail);
    return { what: `${route} is settlement-verified`, evidence: [describeProof(proof)] };
  },
  unverified: (detail) => {
    const { route, earlier } = details.unverified.parse(detail);
    return { what: `${route} is unverified again`, evidence: earlier ? [`before: ${describeProof(earlier)}`] : [] };
  },
  cautioned: (detail) => {
    const { added, caution: held } = details.cautioned.parse(detail);
    return {
      what: `${held.severity === 'danger' ? 'Danger' : 'Caution'}, ${describeSubjects(added)}`,
      evidence: [describeCautionEvidence(held), ...(held.reply ? [`its provider replies: ${held.reply.text}`] : [])],
    };
  },
  cleared: (detail) => {
    const { code, cleared, routes } = details.cleared.parse(detail);
    const still = routes.length > 0 ? [`still holds for ${listNames(routes)}`] : [];
    return { what: `Caution cleared, ${describeSubjects(cleared)} (${getCautionPhrase(code)})`, evidence: still };
  },
  corrected: (detail) => {
    const { receipt_id, route, because } = details.corrected.parse(detail);
    const of = route === null ? '' : ` of ${route}`;
    return { what: `Receipt ${receipt_id}${of} corrected`, evidence: [`in the operator's words: ${because}`] };
  },
  replied: (detail) => {
    const { code, route, text } = details.replied.parse(detail);
    return {
      what: `Reply to a caution, ${describeSubjects(route === null ? [] : [route])} (${getCautionPhrase(code)})`,
      evidence: text === null ? [] : [`in its provider's words: ${text}`],
    };
  },
  seen: () => ({ what: 'Looked at again, nothing else changed' }),
  scored: (detail) => {
    const { from, to } = details.scored.parse(detail);
    return { what: `Reliability ${describeReliability(to)}, before ${describeReliability(from)}` };
  },
};

/** Routes of one change that are named; more are counted. */
const NAMED_ROUTES = 3;

function describeSubjects(routes: readonly string[]): string {
  return routes.length === 0 ? 'the whole listing' : listNames(routes);
}

function listNames(routes: readonly string[]): string {
  const more = routes.length - NAMED_ROUTES;
  return `${routes.slice(0, NAMED_ROUTES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Puts a change into words. A detail of a shape that this code does not know is quoted as it is. */
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

/** Says what a decision rests on: of a probe the sample and the failing run it is in, of a provider its statement. */
export function describeEvidence({ evidence = {} }: JsonObject): string[] {
  const { data, error } = evidenceOnRecord.safeParse(evidence);
  if (error) return [JSON.stringify(evidence)];
  const { sample, failing, statement } = data;
  const lines: string[] = [];
  if (sample) {
    const came = formatOutcome(sample.outcome, sample.cause);
    lines.push(`probe of ${sample.route ?? 'a route since gone'}, ${formatSecond(sample.at)}: ${came}`);
  }
  if (failing) lines.push(`${failing.failures} conclusive failures since ${formatSecond(failing.since)}`);
  if (statement) lines.push(`its provider's statement ${statement.source}, read ${formatSecond(statement.read_at)}`);
  return lines;
}
