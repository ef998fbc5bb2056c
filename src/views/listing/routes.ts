import { takesNothing } from '../../evidence/input-parts.ts';
import { toSlug } from '../../evidence/slug.ts';
import { getCurrentTerms } from '../../evidence/terms.ts';
import { findChangedOffer, findProvedPrice, isProofOld } from '../../evidence/verification.ts';
import type { CautionSeverity } from '../../model/caution.ts';
import { NETWORKS } from '../../model/network.ts';
import type { PaidAnswer } from '../../model/payment.ts';
import { formatRoute, type RouteProof } from '../../model/route.ts';
import { isCeiling, type RecordedTerms } from '../../model/terms.ts';
import { lowerFirst, upperFirst } from '../../model/text.ts';
import { formatPaid, formatPrice, formatUsdc } from '../../model/usdc.ts';
import { buildRouteCall, type CallGuide } from '../call/guide.ts';
import { PATHS } from '../links.ts';
import { buildComparePath, formatRouteName } from '../route-name.ts';
import { formatCautionLabel } from '../words/caution.ts';
import { formatCount, formatDay, formatMedian } from '../words/figures.ts';
import { formatOutcome, getOutcomeWeight, type OutcomeWeight } from '../words/outcome.ts';
import { describeRouteAuthors } from '../words/source.ts';
import { listStandings, type Standing } from '../words/standing.ts';
import { findOutputFields, type InputFields, listInputFields, type OutputFields, type PaidAnswers } from './fields.ts';
import type { PublicListing } from './record.ts';
import type { PublicRoute } from './route-record.ts';

/** A route that a paid test call proved (specification, "Listing page": method, path, price, date, receipt). */
export interface VerifiedRoute {
  readonly method: string;
  readonly path: string;
  /** Amount paid, in USDC. */
  readonly price: string;
  /** Price that the route asks now, in USDC, where it differs; else null. */
  readonly price_now: string | null;
  readonly network: string;
  /** Day of the payment. */
  readonly verified_on: string;
  readonly transaction: string;
  /** The receipt on the chain; null for a chain without an explorer. */
  readonly receipt_url: string | null;
  /** The receipt's page; null where the payment was made elsewhere and only its proof is on record. */
  readonly record_href: string | null;
  /** Anchor of this proof on the listing's page. */
  readonly anchor: string;
}

/** Result of the latest probe of a route. */
export interface RouteProbeRow {
  /** The result in a few words: `no 402: not found (404)`. */
  readonly words: string;
  readonly weight: OutcomeWeight;
  /** Day of that probe. */
  readonly on: string;
  /** Day of the last valid 402; null where none is on record. */
  readonly valid_on: string | null;
  /** `median 90 ms`; null where too few valid answers were measured. */
  readonly latency: string | null;
}

/** A caution as the row of its route marks it. */
export interface RouteCaution {
  readonly severity: CautionSeverity;
  /** `paid, nothing delivered, since 2026-11-20`. */
  readonly text: string;
  /** The page of the receipt that it rests on; null where there is none. */
  readonly href: string | null;
  /** Reply in its provider's words. */
  readonly reply: string | null;
}

/** Everything that is needed to call a route, and its output. */
export interface RouteDetail {
  /** Input by place; empty where no source declares it. */
  readonly input: readonly InputFields[];
  /** Whether a source says that the request has no input. */
  readonly takes_nothing: boolean;
  /** Null where no source declares the output, and no answer to a paid call is on record. */
  readonly output: OutputFields | null;
  /** Who says what it returns, and what of it was seen, in sentences. */
  readonly output_basis: string;
  /** Page of the receipt whose answer gave the names and types of the output; null where these are declared. */
  readonly output_receipt: string | null;
  /** Authors of what it does, takes and returns, with the day that was seen: `a manifest, seen 2026-03-17`; may be empty. */
  readonly words_by: string;
  /** The same of each alone; empty for a description by those who say what it takes. */
  readonly by: Readonly<Record<'description' | 'input', string>>;
  readonly call: CallGuide;
}

/** A route as the page of its listing shows it. */
export interface RouteRow {
  /** Anchor of this route on the listing's page: see `getRouteAnchor`. */
  readonly anchor: string;
  readonly method: string;
  readonly path: string;
  /** Provider's text; may be empty. */
  readonly description: string;
  /** True where only others name it, so that it does not count: see `set_aside` of a route. */
  readonly is_aside: boolean;
  /** The route that stands for it in lists, and why. */
  readonly folded_under: PublicRoute['folded_under'];
  /** `Settlement-verified 2026-11-20` or `Last proved 2026-08-01`, with ` at 0.01 USDC` if it asks another price. */
  readonly verification: string;
  /** Its standings, the gravest first. */
  readonly standing: readonly Standing[];
  /** Its cautions, the gravest first. */
  readonly cautions: readonly RouteCaution[];
  /** Null while it was never probed. */
  readonly probe: RouteProbeRow | null;
  readonly offers: readonly RouteOffer[];
  /** The payments that prove it, the latest first. */
  readonly proofs: readonly VerifiedRoute[];
  /** Address of the comparison that begins with it. */
  readonly compare_href: string;
}

const NO_RECEIPTS: PaidAnswers = new Map();

/** Characters of an id that go into an anchor: 48 bits, so that no two routes of one listing share one. */
const ANCHOR_LENGTH = 13;

/** Paths of words and templates (`:id`, `{id}`), short enough to be an anchor. No two of them are written alike. */
const READABLE = /^(?=.{2,120}$)(?:\/(?:[a-z\d]\w*(?:-\w+)*|:[a-z\d]\w*|\{[a-z\d]\w*\}))+$/i;

/**
 * Returns the anchor of a route's row on its listing's page, which is the name of its own page, too: `get-v1-forecast`. A hyphen
 * of the path is doubled, so that it is no slash. Any other path is abridged and ends in a part of the route's id.
 */
export function getRouteAnchor({ id, method, path }: Readonly<Record<'id' | 'method' | 'path', string>>): string {
  if (!READABLE.test(path)) return `${toSlug(formatRoute({ method, path }))}---${id.slice(0, ANCHOR_LENGTH)}`;
  const words = path.replaceAll('-', '--').replaceAll('/', '-').replaceAll(':', '_').replaceAll('{', '__');
  return `${method.toLowerCase()}${words.replaceAll('}', '')}`;
}

/** Returns whether a name is that of the page of a route. Earlier pages had hashes for names. */
export function isRoutePage(name: string, route: PublicRoute): boolean {
  return name === getRouteAnchor(route) || name === `route-${route.id.slice(0, ANCHOR_LENGTH)}`;
}

function findReceiptHref(id: string, receipts: PaidAnswers): string | null {
  return receipts.has(id) ? PATHS.receipt(id) : null;
}

/** Lists the payments that prove the routes of a listing, one for each network, the latest first. */
export function listVerifiedRoutes(routes: readonly PublicRoute[], receipts = NO_RECEIPTS): VerifiedRoute[] {
  return routes
    .flatMap(({ method, path, proofs, terms }) =>
      proofs.map((proof) => {
        const changed = findChangedOffer(proof, terms);
        return {
          method,
          path,
          price: formatPaid(proof),
          price_now: changed && formatPrice(changed.amount, isCeiling(changed)),
          network: formatChain(proof),
          verified_on: formatDay(proof.verified_at),
          transaction: proof.transaction,
          receipt_url: proof.transaction_url,
          record_href: findReceiptHref(proof.receipt_id, receipts),
          anchor: `receipt-${proof.receipt_id.slice(0, ANCHOR_LENGTH)}`,
        };
      }),
    )
    .sort((a, b) => (a.verified_on < b.verified_on ? 1 : -1));
}

/** Names the chain of a payment. Money on a local test chain is worth nothing, so the name says where it was paid. */
function formatChain({ network, public_chain }: RouteProof): string {
  const { label } = NETWORKS[network];
  return public_chain ? label : `a local test chain for ${label}`;
}

function formatRouteVerification({ proof, terms }: PublicRoute, asOf: string): string {
  if (!proof) return 'Unverified';
  const proved = findProvedPrice(proof, terms);
  const price = proved === null ? '' : ` at ${formatUsdc(proved)} USDC`;
  const isOld = isProofOld(proof.verified_at, asOf);
  return `${isOld ? 'Last proved' : 'Settlement-verified'} ${formatDay(proof.verified_at)}${price}`;
}

/** Lists the standings of a route as of a time (ISO 8601 UTC), the gravest first. */
export function listRouteStandings(route: PublicRoute, asOf: string): readonly Standing[] {
  const proof = { tone: 'proved', text: lowerFirst(formatRouteVerification(route, asOf)) } as const;
  return listStandings(route.cautions, route.proof ? proof : null);
}

/** Builds one row of the table of all routes of a listing, as of a time (ISO 8601 UTC). */
export function buildRouteRow(
  route: PublicRoute,
  { slug, asOf }: { slug: string; asOf: string },
  receipts = NO_RECEIPTS,
): RouteRow {
  const { method, path, description, cautions, terms, probe } = route;
  return {
    anchor: getRouteAnchor(route),
    method,
    path,
    description,
    is_aside: route.set_aside === true,
    folded_under: route.folded_under,
    verification: formatRouteVerification(route, asOf),
    standing: listRouteStandings(route, asOf),
    cautions: cautions.map(({ code, severity, since, evidence, reply }) => ({
      severity,
      text: formatCautionLabel(code, since, evidence),
      href: evidence.receipt_id === undefined ? null : findReceiptHref(evidence.receipt_id, receipts),
      reply: reply?.text ?? null,
    })),
    probe: probe && {
      words: formatOutcome(probe.outcome, probe.cause),
      weight: getOutcomeWeight(probe.outcome),
      on: formatDay(probe.at),
      valid_on: probe.valid_at === null ? null : formatDay(probe.valid_at),
      latency: probe.latency && formatMedian(probe.latency),
    },
    offers: listRouteOffers(terms),
    proofs: listVerifiedRoutes([route], receipts),
    compare_href: buildComparePath([formatRouteName(slug, route)]),
  };
}

/** Builds everything that is needed to call a route of a listing, and its output. */
export function buildRouteDetail(listing: PublicListing, route: PublicRoute, receipts = NO_RECEIPTS): RouteDetail {
  const { proof } = route;
  const answer = (proof && receipts.get(proof.receipt_id)) ?? null;
  const output = findOutputFields(route, answer?.fields ?? []);
  const input = listInputFields(route);
  const byDescriber = describeRouteAuthors(listing, route, ['description']);
  const byInput = input.length > 0 ? describeRouteAuthors(listing, route, ['input', 'example']) : '';
  return {
    input,
    takes_nothing: takesNothing(route.input_schema),
    output,
    output_basis: describeOutputBasis(listing, route, { output, answer }),
    output_receipt: proof && answer ? findReceiptHref(proof.receipt_id, receipts) : null,
    words_by: describeRouteAuthors(listing, route),
    by: {
      description: byDescriber === byInput ? '' : byDescriber,
      input: byInput,
    },
    call: buildRouteCall(listing, route),
  };
}

/** Says whose words the output of a route is in: of the provider or another source, or of the answer to a paid call. */
function describeOutputBasis(
  listing: PublicListing,
  route: PublicRoute,
  { output, answer }: { output: OutputFields | null; answer: PaidAnswer | null },
): string {
  const author = describeRouteAuthors(listing, route, ['output']) || 'its source';
  const call = `the answer to our paid call on ${route.proof && formatDay(route.proof.verified_at)}`;
  if (answer?.fields?.length) {
    const told = [
      ...(output?.rows.some(({ meaning }) => meaning !== '') ? ['meanings'] : []),
      ...(output?.sample || output?.rows.some(({ example }) => example !== '') ? ['examples'] : []),
    ].join(' and ');
    const rest = told ? `${upperFirst(told)} are in the words of ${author}.` : 'The provider gives no example.';
    return `Names and types are those of ${call}. ${rest}`;
  }
  const declared = output
    ? `In the words of ${author}.`
    : `The provider does not say what it returns${route.mime_type ? `, only its type: ${route.mime_type}` : ''}.`;
  return answer ? `${upperFirst(call)} was ${answer.content_type ?? 'of no stated type'}. ${declared}` : declared;
}

/** The price before the current one, and whether the current one is higher. */
interface EarlierPrice {
  readonly price: string;
  readonly until: string;
  readonly has_risen: boolean;
}

/** One current price of a route, with its networks, its evidence, and other prices that were declared or seen. */
export interface RouteOffer {
  /** USDC per request. */
  readonly price: string;
  /** Networks with the same price: `Base, Solana`. */
  readonly networks: string;
  /** `observed`: a 402 answer was seen to ask it. `declared`: a source says so. */
  readonly evidence: 'observed' | 'declared';
  /** Day of the latest dated evidence; null for a bare claim. */
  readonly seen_on: string | null;
  /** The price before this one, where a 402 was seen to ask another. */
  readonly was: EarlierPrice | null;
  /** Price that a source declares, where a 402 asks another. */
  readonly declared: string | null;
}

/** Lists the present offers of a route; offers that differ only in the network are one. */
export function listRouteOffers(terms: readonly RecordedTerms[]): RouteOffer[] {
  const offers = getCurrentTerms(terms).map((offer) => ({
    network: NETWORKS[offer.network].label,
    price: formatPrice(offer.amount, isCeiling(offer)),
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

/** Finds the last price that a 402 asked on the network of an offer before, unless it is still asked. */
function findEarlierPrice(
  { network, evidence, amount }: RecordedTerms,
  terms: readonly RecordedTerms[],
): EarlierPrice | null {
  if (evidence !== 'observed') return null;
  const observed = terms.filter((other) => other.evidence === 'observed' && other.network === network);
  const asked = new Set(observed.filter(({ current }) => current).map(({ amount }) => amount));
  const past = observed.filter(({ current, last_seen_at }) => !current && last_seen_at !== null);
  const last = past.sort((a, b) => ((a.last_seen_at ?? '') < (b.last_seen_at ?? '') ? 1 : -1))[0];
  if (!last || asked.has(last.amount)) return null;
  const price = formatPrice(last.amount, isCeiling(last));
  return { price, until: formatDay(last.last_seen_at ?? ''), has_risen: amount > last.amount };
}

function findDeclaredPrice(
  { network, amount, evidence }: RecordedTerms,
  terms: readonly RecordedTerms[],
): string | null {
  if (evidence !== 'observed') return null;
  const declared = terms.filter((other) => other.current && other.evidence === 'declared' && other.network === network);
  const [first] = declared;
  if (!first || declared.some((other) => other.amount === amount)) return null;
  return formatPrice(first.amount, isCeiling(first));
}

/** Writes the evidence for an offer: `402 seen 2026-11-20`, `declared, seen 2026-11-20`, `declared, undated`. */
export function formatOfferEvidence({ evidence, seen_on }: RouteOffer): string {
  if (evidence === 'observed') return `402 seen ${seen_on ?? 'at an unknown time'}`;
  return seen_on === null ? 'declared, undated' : `declared, seen ${seen_on}`;
}

/** Writes the change of a price: `rose from 0.001, asked until 2026-10-02`; empty where no other was seen. */
export function formatPriceChange({ was }: RouteOffer): string {
  return was ? `${was.has_risen ? 'rose' : 'fell'} from ${was.price}, asked until ${was.until}` : '';
}

/** Writes the differences of an offer from prices seen or declared before; empty without any. */
export function formatOfferHistory(offer: RouteOffer): string {
  return [formatPriceChange(offer), offer.declared ? `declared ${offer.declared}` : ''].filter(Boolean).join('; ');
}

/** Routes that belong together. */
export interface RouteGroup<Row = RouteRow> {
  /** Common start of their paths: `/maths`; null where they are not grouped. */
  readonly name: string | null;
  readonly routes: readonly Row[];
}

/** Lists the routes of a page that others stand for, by these, each group with its label: `79 more routes of this template`. */
export function listRouteFolds<Row extends RouteRow>(routes: readonly Row[]) {
  const folded = routes.flatMap((row) => (row.folded_under ? { row, ...row.folded_under } : []));
  return Array.from(
    Map.groupBy(folded, ({ route }) => route),
    ([route, members]) => ({
      route,
      label: `${formatCount(members.length, 'more route')} of this ${members[0]?.because === 'template' ? 'template' : 'text'}`,
      routes: members.map(({ row }) => row),
    }),
  );
}

/** Most routes that are read at a glance; more are grouped. */
export const LONG_LIST = 20;

/** Fewest routes that get a filter. */
export const FILTERED_FROM = 9;

/** Words of a path that do not show its purpose. */
const EMPTY_SEGMENT = /^(api|v\d+)$/i;

/** Groups the routes of a long list by the first telling part of their path, where that makes more than one group. */
export function groupRoutes<Row extends RouteRow>(routes: readonly Row[]): RouteGroup<Row>[] {
  if (routes.length <= LONG_LIST) return [{ name: null, routes }];
  const groups = Map.groupBy(routes, ({ path }) => getBeginning(path));
  // Groups of one or two routes would only repeat the paths.
  if (groups.size < 2 || groups.size > routes.length / 3) return [{ name: null, routes }];
  return [...groups].map(([name, members]) => ({ name, routes: members }));
}

function getBeginning(path: string): string {
  const segments = (path.split('?')[0] ?? '').split('/').filter(Boolean);
  const telling = segments.findIndex((segment) => !EMPTY_SEGMENT.test(segment));
  return `/${segments.slice(0, Math.max(telling, 0) + 1).join('/')}`;
}
