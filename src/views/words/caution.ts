import {
  CAUTION_CODES,
  CAUTIONS,
  type Caution,
  type CautionCode,
  type CautionSeverity,
  getCautionPhrase,
  isFromStart,
} from '../../model/caution.ts';
import type { CautionSummary } from '../../model/listing.ts';
import { nameChain } from '../../model/network.ts';
import { UNRECOGNISED } from '../../model/payment.ts';
import { formatRoute, listCounted, type Route } from '../../model/route.ts';
import { formatUsdc } from '../../model/usdc.ts';
import { formatDay, formatSecond } from './figures.ts';
import { formatOutcome } from './outcome.ts';

/** Describes a caution with its start: `We paid for a call, and nothing was delivered (since 2026-11-20).` */
export function describeCaution({
  code,
  since,
  evidence,
}: Pick<Caution, 'code' | 'since'> & Partial<Pick<Caution, 'evidence'>>): string {
  const sentence = evidence?.said_by_others ? SAID_BY_OTHERS : CAUTIONS[code].sentence.slice(0, -1);
  const day = since === null ? '' : formatDay(since);
  if (isFromStart({ code })) return `${sentence} (${day === '' ? 'declared without a date' : `declared ${day}`}).`;
  return day === '' ? `${sentence}.` : `${sentence} (since ${day}).`;
}

/** Text for a route that only others name. */
const SAID_BY_OTHERS = 'The route is said by others and was never seen: no 402 of it came here';

/** Describes a caution of a listing with its routes: `GET /tides: We paid for a call, …`. */
export function describeCautionSummary(summary: Pick<CautionSummary, 'code' | 'since' | 'route' | 'routes'>): string {
  const { route, routes } = summary;
  const subject = route ?? (routes > 1 ? `${routes} routes` : null);
  return `${subject === null ? '' : `${subject}: `}${describeCaution(summary)}`;
}

/** Writes the evidence for a caution in one line. Addresses in it are a seller's. */
export function describeCautionEvidence({ code, since, evidence }: Caution): string {
  const { network, amount, amount_before, pay_to, receipt_id, public_chain, reason } = evidence;
  const on = network ? ` on ${network}` : '';
  switch (code) {
    case 'undelivered':
    case 'unrecognised': {
      const chain = network ? ` on ${nameChain({ network, public_chain: public_chain !== false }, network)}` : '';
      const why = reason ? `; ${UNRECOGNISED[reason]}` : '';
      return `${formatUsdc(amount ?? 0)} USDC paid${chain}, receipt ${receipt_id}${why}; since ${formatTime(since)}`;
    }
    case 'payee_differs':
    case 'payee_announced': {
      const before = `${evidence.pay_to_before}${evidence.network_before ? ` on ${evidence.network_before}` : ''}`;
      return `asks to pay ${pay_to}${on} since ${formatTime(since)}, before ${before}`;
    }
    case 'price_above_record':
      return `asks ${formatUsdc(amount ?? 0)} USDC${on} since ${formatTime(since)}, before ${formatUsdc(amount_before ?? 0)}`;
    case 'reads_differently':
      return `every valid 402 since ${formatTime(since)} can be read in two ways`;
    case 'imitates_name':
      return `${evidence.known_listing} at ${evidence.known_host} goes by the same name`;
    case 'withdrawn':
      return `withdrawn ${formatTime(since)}`;
    case 'probes_failing': {
      const saw = evidence.outcome ? `, the latest: ${formatOutcome(evidence.outcome, null)}` : '';
      const last = evidence.valid_at ? `last valid 402 ${formatTime(evidence.valid_at)}` : 'no valid 402 on record';
      return `${evidence.failures ?? 0} failures in a row since ${formatTime(since)}${saw}; ${last}`;
    }
    case 'prices_differ':
      return `${formatUsdc(amount ?? 0)} USDC by ${evidence.source}, ${formatUsdc(evidence.amount_other ?? 0)} by ${evidence.source_other}`;
    case 'never_seen':
      return since === null ? 'declared without a date' : `last declared ${formatTime(since)}`;
    case 'payee_rotates':
      return since === null ? 'seen in challenges' : `seen in challenges since ${formatTime(since)}`;
  }
}

function formatTime(time: string | null): string {
  return time === null ? 'an unknown time' : formatSecond(time);
}

/** A caution of one code on pages and in Markdown, with all routes of the listing that have it. */
export interface CautionView {
  readonly code: CautionCode;
  readonly severity: CautionSeverity;
  /** Its meaning in a few words: `paid, nothing delivered`. */
  readonly label: string;
  /** The same with its start, and the number of routes that have it. */
  readonly short: string;
  /** Its meaning in a sentence, with its start. */
  readonly sentence: string;
  /** Its evidence. Addresses in it are a seller's. */
  readonly evidence: string;
  /** First routes that have it: `GET /v1/x`. Empty if it is about the whole listing. */
  readonly routes: readonly string[];
  /** Number of routes beyond these. */
  readonly unnamed: number;
  /** Id of the receipt that is its evidence. */
  readonly receipt_id: string | null;
  /** Replies of its provider, each once. */
  readonly replies: readonly string[];
}

/** Most routes of one caution that are named, and most replies that are shown. */
const NAMED_ROUTES = 5;
const SHOWN_REPLIES = 3;

/** The cautions of a listing, about itself and about each of its routes. */
interface Cautioned {
  readonly listing_cautions: readonly Caution[];
  readonly routes: readonly Pick<Route, 'method' | 'path' | 'cautions' | 'set_aside'>[];
}

/** Lists the cautions of a listing and its routes, one view for each code, the gravest first. */
export function listCautionViews({ listing_cautions, routes }: Cautioned): CautionView[] {
  const held = [
    ...listing_cautions.map((caution) => ({ route: undefined, caution })),
    ...listCounted(routes).flatMap((route) => route.cautions.map((caution) => ({ route, caution }))),
  ];
  const byCode = Map.groupBy(held, ({ caution }) => caution.code);
  const total = listCounted(routes).length;
  return CAUTION_CODES.flatMap((code) => {
    const [first, ...others] = (byCode.get(code) ?? []).toSorted((a, b) =>
      (a.caution.since ?? '') < (b.caution.since ?? '') ? -1 : 1,
    );
    if (!first) return [];
    const all = [first, ...others];
    const concerned = all.flatMap(({ route }) => route ?? []);
    const replies = new Set(all.flatMap(({ caution }) => caution.reply?.text ?? []));
    return {
      ...buildCautionView(first.caution),
      short: `${formatCautionLabel(code, first.caution.since, first.caution.evidence)}${formatExtent(concerned.length, total)}`,
      routes: concerned.slice(0, NAMED_ROUTES).map(formatRoute),
      unnamed: Math.max(0, concerned.length - NAMED_ROUTES),
      replies: [...replies].slice(0, SHOWN_REPLIES),
    };
  });
}

/** Writes the number of routes with a caution: `, 1 of 2 routes`; empty if the listing has only one, or no route is named. */
function formatExtent(concerned: number, total: number): string {
  if (concerned === 0 || total === 1) return '';
  return `, ${concerned < total ? `${concerned} of ` : ''}${total} routes`;
}

function buildCautionView(caution: Caution): Omit<CautionView, 'short' | 'routes' | 'unnamed' | 'replies'> {
  const { code, severity, evidence } = caution;
  return {
    code,
    severity,
    label: CAUTIONS[code].label,
    sentence: describeCaution(caution),
    evidence: describeCautionEvidence(caution),
    receipt_id: evidence.receipt_id ?? null,
  };
}

/** Writes a caution in a few words, with its start: `paid, nothing delivered, since 2026-11-20`. */
export function formatCautionLabel(code: CautionCode, since: string | null, evidence?: Caution['evidence']): string {
  const label = evidence?.said_by_others ? 'said by others, never seen' : CAUTIONS[code].label;
  if (since === null) return label;
  return `${label}, ${isFromStart({ code }) ? 'declared' : 'since'} ${formatDay(since)}`;
}

/** Writes a caution in one line of our own words: severity, meaning, number of routes and start. */
export function formatCautionLine({ code, severity, since, routes }: CautionSummary): string {
  const facts = [
    ...(routes > 0 ? [`${routes} ${routes === 1 ? 'route' : 'routes'}`] : []),
    ...(since === null ? [] : [`since ${formatDay(since)}`]),
  ];
  return `${severity}: ${getCautionPhrase(code)}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`;
}
