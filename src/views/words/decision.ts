import { z } from 'zod';
import { ASKED_BY_PROVIDER } from '../../evidence/changes.ts';
import { DELISTING_METHOD } from '../../evidence/delisting.ts';
import { RELIABILITY_METHOD } from '../../evidence/reliability.ts';
import { CAUTION_CODES, type CautionCode, caution, cautionCode, getCautionPhrase } from '../../model/caution.ts';
import type { Change, ChangeKind } from '../../model/change.ts';
import type { JsonObject } from '../../model/json.ts';
import { reliability } from '../../model/listing.ts';
import { NETWORKS, type NetworkEntry, nameChain, networkEntry, networkKey } from '../../model/network.ts';
import { probeOutcome } from '../../model/probe.ts';
import { type PayeeKind, payeeKind, routeProof } from '../../model/route.ts';
import { declarationSource, SOURCES } from '../../model/source.ts';
import { isCeiling, terms } from '../../model/terms.ts';
import { formatPaid, formatPrice, formatPriceRange, priceCeilings } from '../../model/usdc.ts';
import { describeCautionEvidence } from './caution.ts';
import { formatCount, formatSecond } from './figures.ts';
import { formatOutcome } from './outcome.ts';

/**
 * Meanings of the stable reason codes. Each is true for every change with that code, since no code is used for two outcomes. A
 * delisting by the operator has the operator's words instead.
 */
export const REASONS = {
  ...Object.fromEntries(Object.entries(SOURCES).map(([kind, { says }]) => [`declared_by_${kind}`, says])),
  absent_from_feed: 'a complete pull of the feed that brought it no longer held it',
  absent_from_document: 'the document of its provider that declared it no longer holds it',
  statement_withdrawn: 'the statement of its provider no longer says so',
  inferred_from_text: 'no source names one, so it was inferred from the description',
  declared: 'a source names it',
  derived_again: 'it was derived again from what is on record',
  namesake: 'another listing that goes by the same name, or did, has changed',
  no_price: 'no price is known',
  paid_and_delivered: 'we paid for a call, it settled on the chain, and it was delivered',
  paid_not_delivered: 'we paid for a call, it settled on the chain, and nothing was delivered',
  paid_not_recognised: 'we paid for a call, it settled on the chain, and the answer was not recognised as the product',
  route_removed: 'no source names the route any more',
  terms_changed: 'payee, asset or network are no longer those of the paid call',
  corrected_by_operator: 'the operator corrected the record of a paid call',
  replied: 'its provider replied to a caution',
  reply_withdrawn: 'its provider withdrew its reply to a caution',
  delisted_by_operator: 'the operator removed it',
  delisted_by_provider: 'the provider removed it',
  delisted_by_rule: 'a rule removed it',
  provider_asked: 'its provider asked for it',
  no_valid_402: `no valid 402 for ${DELISTING_METHOD.days_without_valid_402} days, and at least ${DELISTING_METHOD.conclusive_failures} conclusive failures`,
  probed: 'a probe saw it so',
  probe_failed: 'probes got no valid 402',
  sampled: `the samples of the last ${RELIABILITY_METHOD.window_days} days give that`,
  relisted_by_operator: 'the operator decided so',
  relisted_by_provider: 'its provider decided so',
  relisted_by_rule: 'it gives valid 402 answers again',
} as const;

/** Writes the meaning of a reason code. Any other text is the decider's own words and is returned unchanged. */
export function describeReason(reason: string): string {
  if (Object.hasOwn(REASONS, reason)) return REASONS[reason as keyof typeof REASONS];
  return isCautionCode(reason) ? getCautionPhrase(reason) : reason;
}

/** Returns true if a reason is one of our codes, and not the decider's own words. */
function isReason(reason: string): boolean {
  return Object.hasOwn(REASONS, reason) || isCautionCode(reason);
}

function isCautionCode(code: string): code is CautionCode {
  return CAUTION_CODES.some((known) => known === code);
}

/** The fields that every recorded proof has. */
const recordedProof = routeProof.omit({ request: true, pay_to: true });

/** A recorded score. One without a version was made by the first version of the method. */
const recordedScore = reliability.omit({ days: true }).extend({ method: z.int().positive().default(1) });

const offer = terms.pick({ network: true, amount: true, pay_to: true }).extend({ scheme: z.string().default('exact') });
/** Change of the terms of one route. */
const recordedTermsChange = z.object({
  route: z.string(),
  from: z.array(offer),
  to: z.array(offer),
  payee: payeeKind.nullish(),
});

/** Returns true if a route names another payee than before. The first payee that is named replaces none. */
function isOtherPayee({ from, to }: z.infer<typeof recordedTermsChange>): boolean {
  const before = from.map(({ pay_to }) => pay_to).filter((payee) => payee !== null);
  return before.length > 0 && to.some(({ pay_to }) => pay_to !== null && !before.includes(pay_to));
}

/** A price range in atomic USDC; null before the first price. */
const recordedRange = z
  .object({ min: z.int().nullable(), max: z.int().nullable(), ceilings: priceCeilings.optional() })
  .nullable();
export type PriceRange = z.infer<typeof recordedRange>;

/** Names a source, and the time at which its claims were seen. */
export function describeSource({ kind, name, observed_at, observed_in }: z.infer<typeof declarationSource>): string {
  const where = observed_in ? ` in ${observed_in}` : '';
  return `${kind} ${name}, ${observed_at ? `seen ${formatSecond(observed_at)}${where}` : 'a bare claim'}`;
}

/** Writes a price range in USDC. */
function describeRange(price: PriceRange): string {
  if (!price || price.min === null || price.max === null) return 'not known';
  return `${formatPriceRange(price.min, price.max, price.ceilings)} USDC`;
}

function describeOffers(offers: readonly z.infer<typeof offer>[]): string {
  const words = offers.map(({ network, amount, pay_to, scheme }) => {
    return `${formatPrice(amount, isCeiling({ scheme }))} USDC on ${network}${pay_to ? ` to ${pay_to}` : ''}`;
  });
  return words.join(' or ') || 'nothing known';
}

const PAYEE_WORDS: Readonly<Record<PayeeKind, string>> = {
  fixed: 'names the same payee each time',
  rotating: 'names a fresh payee each time',
};

/** Writes the current and the earlier terms of a route. */
function describeTermsChange({ route, from, to, payee }: z.infer<typeof recordedTermsChange>): string {
  const [before, now] = [describeOffers(from), describeOffers(to)];
  const parts = [...(before === now ? [] : [`asks ${now}, before ${before}`]), ...(payee ? [PAYEE_WORDS[payee]] : [])];
  return `${route} ${parts.join('; ') || 'asks in another scheme'}`;
}

/** Names the networks that became advertised or verified, and those that no longer are. */
function describeNetworkChange(from: readonly NetworkEntry[], to: readonly NetworkEntry[]): string {
  const changes = to.flatMap(({ key, label, advertised, declared, settlement_verified }) => {
    const before = from.find((entry) => entry.key === key);
    return [
      ...(advertised || declared === before?.declared ? [] : [`${label} ${declared ? '' : 'no longer '}declared`]),
      ...(advertised === (before?.advertised ?? false) ? [] : [`${label} ${advertised ? '' : 'no longer '}advertised`]),
      ...(settlement_verified === (before?.settlement_verified ?? false)
        ? []
        : [`${label} ${settlement_verified ? '' : 'no longer '}settlement-verified`]),
    ];
  });
  const gone = from.filter(({ key }) => !to.some((entry) => entry.key === key));
  return [...changes, ...gone.map(({ label }) => `${label} gone`)].join(', ');
}

/** Describes the state of a network. */
function describeNetwork({ key, last_seen_at, declared, settlement_verified }: NetworkEntry): string {
  const unseen = declared ? 'declared, not seen' : 'not advertised';
  const seen = last_seen_at === null ? unseen : `advertised, last seen ${formatSecond(last_seen_at)}`;
  return `${key}: ${seen}${settlement_verified ? ', settlement-verified' : ''}`;
}

/** Describes a payment: amount, chain, time and transaction. */
function describeProof(proof: z.infer<typeof recordedProof>): string {
  const { network, verified_at, transaction } = proof;
  return `${formatPaid(proof)} USDC paid on ${nameChain(proof, network)}, ${formatSecond(verified_at)}, transaction ${transaction}`;
}

/** Writes a score with its number of samples. */
function describeReliability({ band, score, samples }: z.infer<typeof recordedScore>): string {
  return score === null ? band : `${score} of 100, ${band} (${samples} samples)`;
}

/** A change in words, with its reason and the dated evidence for it. `what` has no provider's text. */
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

/** The recorded details of changes. The schemas are built once, because building one takes longer than using it. */
const names = z.array(z.string());
const nothing = z.looseObject({});
const details = {
  listed: z.object({ sources: z.array(declarationSource) }),
  held: nothing,
  delisted: z.object({ by: z.string().nullable(), words: z.string().nullish() }),
  relisted: nothing,
  categorised: z.object({
    from: z.string().nullable(),
    to: z.string(),
    scores: z.record(z.string(), z.number()).optional(),
  }),
  priced: z.object({ from: recordedRange, to: recordedRange }),
  described: z.object({ fields: names }),
  routed: z.object({
    added: names,
    removed: names,
    changed: names,
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
  seen: nothing,
} satisfies Readonly<Record<ChangeKind, z.ZodType>>;

/** The detail of a kind of change. */
type Detail<Kind extends ChangeKind> = z.infer<(typeof details)[Kind]>;

/** Parses the detail of a change of one kind; undefined if this code does not know its form. */
export function readDetail<Kind extends ChangeKind>(
  kind: Kind,
  { detail }: Pick<Change, 'detail'>,
): Detail<Kind> | undefined {
  const schema: z.ZodType = details[kind];
  return schema.safeParse(detail).data as Detail<Kind> | undefined;
}

/** Returns true if by a change some route names another payee than before. */
export function isOfOtherPayee(change: Change): boolean {
  return change.kind === 'routed' && (readDetail('routed', change)?.terms.some(isOtherPayee) ?? false);
}

/** Words for changes of one kind. */
interface Words<Kind extends ChangeKind> {
  /** Describes one change, or several of one listing at one revision. Routes are counted, not named. */
  readonly what: (all: readonly Detail<Kind>[], last: Detail<Kind>) => string;
  /** Lists the evidence of a change, including names of routes, sources and quotes. */
  readonly evidence?: (detail: Detail<Kind>) => string[];
}

const WORDS: { readonly [Kind in ChangeKind]: Words<Kind> } = {
  listed: { what: () => 'New listing', evidence: ({ sources }) => sources.map(describeSource) },
  held: { what: () => 'Held back' },
  delisted: {
    what: (_, { by }) =>
      `Delisted by ${by === 'provider' ? 'its provider' : by === 'rule' ? 'a rule' : 'the operator'}`,
    evidence: ({ words }) => (words && words !== ASKED_BY_PROVIDER ? [`in its words: ${words}`] : []),
  },
  relisted: { what: () => 'Put back' },
  categorised: {
    what: (_, { from, to }) => `Category ${to}${from ? `, before ${from}` : ''}`,
    evidence: ({ scores }) => {
      const counted = Object.entries(scores ?? {}).filter(([, points]) => points > 0);
      const words = counted.map(([name, points]) => `${name} ${points}`).join(', ');
      return scores ? [`points of its words: ${words || 'none for any category'}`] : [];
    },
  },
  priced: {
    what: (_, { from, to }) => `Price ${describeRange(to)}${from ? `, before ${describeRange(from)}` : ''}`,
  },
  described: { what: (_, { fields }) => `New words in ${fields.join(', ').replaceAll('_', ' ')}` },
  routed: {
    what: (all) => {
      const counts = (['added', 'removed', 'changed'] as const).map((how) => {
        return { how: how as string, count: all.reduce((total, detail) => total + detail[how].length, 0) };
      });
      const others = all.flatMap(({ terms }) => terms).filter(isOtherPayee);
      const counted = [...counts, { how: 'with another payee', count: others.length }].filter(({ count }) => count > 0);
      return `Routes: ${counted.map(({ how, count }) => `${count} ${how}`).join(', ')}`;
    },
    evidence: ({ terms, ...changes }) => {
      // Routes whose new terms are described are not named again.
      const described = new Set(terms.map(({ route }) => route));
      const undescribed = Object.entries(changes)
        .map(([how, routes]) => [how, routes.filter((route) => how !== 'changed' || !described.has(route))] as const)
        .filter(([, routes]) => routes.length > 0);
      return [...undescribed.map(([how, routes]) => `${how}: ${routes.join(', ')}`), ...terms.map(describeTermsChange)];
    },
  },
  networked: {
    what: (_, { from, to, primary_network: primary }) => {
      const shown = primary ? `shown under ${NETWORKS[primary].label}` : '';
      return `Networks: ${[describeNetworkChange(from, to), shown].filter(Boolean).join(', ') || 'as before'}`;
    },
    evidence: ({ to }) => to.map(describeNetwork),
  },
  verified: {
    what: (all) => `${countRoutesThatAre(all)} settlement-verified`,
    evidence: ({ route, proof }) => [`${route}: ${describeProof(proof)}`],
  },
  unverified: {
    what: (all) => `${countRoutesThatAre(all)} unverified again`,
    evidence: ({ route, earlier }) => [earlier ? `${route}, before: ${describeProof(earlier)}` : route],
  },
  cautioned: {
    what: (all) => {
      const isDanger = all.some(({ caution: { severity } }) => severity === 'danger');
      return `${isDanger ? 'Danger' : 'Caution'} on ${countSubjects(all.map(({ added }) => added))}`;
    },
    evidence: ({ added, caution: held }) => [
      `${nameSubjects(added)}: ${describeCautionEvidence(held)}`,
      ...(held.reply ? [`its provider replies: ${held.reply.text}`] : []),
    ],
  },
  cleared: {
    what: (all) => {
      const codes = [...new Set(all.map(({ code }) => getCautionPhrase(code)))].join('; ');
      return `Caution cleared on ${countSubjects(all.map(({ cleared }) => cleared))} (${codes})`;
    },
    evidence: ({ cleared, routes }) => [
      nameSubjects(cleared),
      ...(routes.length > 0 ? [`still holds for ${listNames(routes)}`] : []),
    ],
  },
  corrected: {
    what: () => 'Receipt corrected',
    evidence: ({ receipt_id, route, because }) => [
      `receipt ${receipt_id}${route === null ? '' : ` of ${route}`}`,
      `in the operator's words: ${because}`,
    ],
  },
  replied: {
    what: (_, { code }) => `Reply to a caution (${getCautionPhrase(code)})`,
    evidence: ({ route, text }) => [
      nameSubjects(route === null ? [] : [route]),
      ...(text === null ? [] : [`in its provider's words: ${text}`]),
    ],
  },
  seen: { what: () => 'Looked at again, nothing else changed' },
  scored: {
    what: (_, { from, to }) => `Reliability ${describeReliability(to)}, before ${describeReliability(from)}`,
  },
};

/** Most routes of one change that are named; further ones are counted. */
const NAMED_ROUTES = 3;

const WHOLE_LISTING = 'the whole listing';

function nameSubjects(routes: readonly string[]): string {
  return routes.length === 0 ? WHOLE_LISTING : listNames(routes);
}

/** Counts the subjects of cautions: routes, or the listing as a whole if a caution names none. */
function countSubjects(named: readonly (readonly string[])[]): string {
  return named.some((routes) => routes.length === 0) ? WHOLE_LISTING : countRoutes(named.flat());
}

function countRoutes(routes: readonly string[]): string {
  return formatCount(new Set(routes).size, 'route');
}

/** Writes `1 route is`, `2 routes are`. */
function countRoutesThatAre(changes: readonly { readonly route: string }[]): string {
  const { size } = new Set(changes.map(({ route }) => route));
  return `${formatCount(size, 'route')} ${size === 1 ? 'is' : 'are'}`;
}

function listNames(routes: readonly string[]): string {
  const more = routes.length - NAMED_ROUTES;
  return `${routes.slice(0, NAMED_ROUTES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Describes a change in words. A detail in a form that this code does not know is quoted unchanged. */
export function describeDecision(change: Change): Decision {
  const { revision, at, kind, reason, detail } = change;
  const read = readDetail(kind, change);
  const { evidence } = WORDS[kind] as Words<ChangeKind>;
  return {
    revision,
    at,
    kind,
    reason,
    what: describeWhat(kind, [change]),
    why: describeReason(reason),
    evidence:
      read === undefined ? [JSON.stringify(detail)] : [...(evidence?.(read) ?? []), ...describeEvidence(detail)],
  };
}

function describeWhat(kind: ChangeKind, changes: readonly Change[]): string {
  const read = changes.map((change) => readDetail(kind, change)).filter((detail) => detail !== undefined);
  const last = read.at(-1);
  return last === undefined ? kind : (WORDS[kind] as Words<ChangeKind>).what(read, last);
}

/**
 * Writes the sentence of a change, or of several changes of one kind of one listing at one revision, without a full stop: the
 * event and its reason. It has no text of a provider or an operator; reasons in free text are left out.
 */
export function describeChanges(changes: readonly [Change, ...Change[]]): string {
  const [{ kind }] = changes;
  const what = describeWhat(kind, changes);
  const reasons = new Set(changes.map(({ reason }) => reason).filter((reason) => isReason(reason)));
  // The sentence already says who removed it.
  const whys = [...reasons].filter((reason) => !reason.startsWith('delisted_by_')).map(describeReason);
  return whys.length === 0 ? what : `${what}: ${whys.join('; ')}`;
}

/** Lists the routes that a change names one by one. Their names are the provider's. */
export function listChangedRoutes(change: Change): string[] {
  const { kind } = change;
  switch (kind) {
    case 'verified':
    case 'unverified':
    case 'corrected':
    case 'replied':
      return [readDetail(kind, change)?.route ?? []].flat();
    case 'cautioned':
      return readDetail(kind, change)?.added ?? [];
    case 'cleared':
      return readDetail(kind, change)?.cleared ?? [];
    case 'routed':
      return readDetail(kind, change)?.terms.map(({ route }) => route) ?? [];
    default:
      return [];
  }
}

/** Lists the evidence for a decision: a probe's sample and its run of failures, or a provider's statement. */
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
