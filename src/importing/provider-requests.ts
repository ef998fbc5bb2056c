import type { Catalogue } from '../catalogue/database.ts';
import { listChanges } from '../catalogue/read/changes.ts';
import { findDelisting } from '../catalogue/read/delistings.ts';
import { findListing, listBaseUrlsBelow } from '../catalogue/read/listings.ts';
import type { Writing } from '../catalogue/transaction.ts';
import { keepAddressOut, letAddressIn } from '../catalogue/write/decisions.ts';
import { ASKED_BY_PROVIDER } from '../evidence/changes.ts';
import type { Change, ChangeKind } from '../model/change.ts';
import type { Finding } from '../model/declaration.ts';
import type { JsonObject } from '../model/json.ts';
import type { Listing } from '../model/listing.ts';
import { formatRoute } from '../model/route.ts';
import { formatQuote } from '../sources/clean-string.ts';
import { buildFinding } from '../sources/findings.ts';
import type { ProviderRequest } from '../sources/provider-file/parse.ts';
import { PATHS } from '../views/links.ts';
import { describeReason } from '../views/words/decision.ts';
import { formatCount } from '../views/words/figures.ts';
import type { ImportOutcome, ReaderEffect } from './report.ts';

/** Returns whether a request to list or remove is already granted. Its declaration is not compared. */
export async function isGranted(catalogue: Catalogue, request: ProviderRequest): Promise<boolean> {
  const delisting = await findDelisting(catalogue, request.base_url, 'provider');
  return request.asks === 'list' ? delisting === undefined : delisting?.reason === getReason(request);
}

/** Grants a request to list or remove. Returns whether readers see a change. */
export async function grantRequest(
  writing: Writing,
  request: ProviderRequest,
  { source, evidence }: { source: string; evidence: JsonObject },
): Promise<boolean> {
  if (request.asks === 'list') return await letAddressIn(writing, request.base_url, { evidence });
  return await keepAddressOut(writing, request.base_url, { reason: getReason(request), source, evidence });
}

function getReason({ reason }: Extract<ProviderRequest, { asks: 'remove' }>): string {
  return reason ?? ASKED_BY_PROVIDER;
}

/** Returns whether the statement still declares something about this listing, or at least does not withdraw it. */
export function isStillDeclared(request: ProviderRequest): boolean {
  return request.asks === 'remove' || request.is_broken || request.declaration !== null;
}

/** Builds the finding for a request without a visible effect; undefined if it has one. */
export async function findRequestFinding(catalogue: Catalogue, request: ProviderRequest): Promise<Finding | undefined> {
  const { base_url, where } = request;
  const isKnown = (await findListing(catalogue, { base_url })) !== undefined;
  if (request.asks === 'remove') {
    if (isKnown) return undefined;
    const message = `Nothing is listed at ${base_url}, and nothing will be while its provider asks for that.`;
    return buildFinding('noted', 'provider_kept_out', base_url, message);
  }
  const [byOperator, byRule] = [
    await findDelisting(catalogue, base_url, 'operator'),
    await findDelisting(catalogue, base_url, 'rule'),
  ];
  const other = (byOperator ?? byRule)?.by;
  if (other) {
    const message = `The ${other} removed the listing at ${base_url}, which its provider's request does not undo.`;
    return buildFinding('noted', 'provider_not_lifted', base_url, message);
  }
  if (isKnown || isStillDeclared(request)) return undefined;
  const message = `${where}: openapi or facts is missing: nothing is listed at ${base_url} yet, and the entry declares nothing to list.`;
  return buildFinding('refused', 'provider_nothing_to_list', base_url, message);
}

/** Lists findings for replies about routes that the listing does not have, which are not shown. */
export async function listReplyFindings(catalogue: Catalogue, request: ProviderRequest): Promise<Finding[]> {
  const { where, base_url, replies } = request;
  const listing = await findListing(catalogue, { base_url });
  const declaration = request.asks === 'list' ? request.declaration : null;
  if (!listing && !declaration) return [];
  const routes = new Set([...(listing?.routes ?? []), ...(declaration?.routes ?? [])].map(formatRoute));
  return (replies ?? []).flatMap(({ caution, route }) => {
    if (route === null || routes.has(route)) return [];
    const message = `${where}.replies: the listing has no route "${formatQuote(route)}", so the reply to ${caution} is not shown.`;
    return [buildFinding('noted', 'provider_reply_no_route', base_url, message)];
  });
}

/** Largest number of addresses that a finding names. */
const MAX_NAMED = 5;

/**
 * Finds listings that a request to remove leaves in place. A request for a bare origin removes only the listing at that
 * origin. A provider who means the whole host learns which listings below it are not named.
 */
export async function findStillListed(
  catalogue: Catalogue,
  requests: readonly ProviderRequest[],
): Promise<Finding | undefined> {
  const named = new Set(requests.map(({ base_url }) => base_url));
  const out = requests.find(({ asks, base_url }) => asks === 'remove' && new URL(base_url).origin === base_url);
  if (!out) return undefined;
  const others = (await listBaseUrlsBelow(catalogue, out.base_url)).filter((base_url) => !named.has(base_url));
  if (others.length === 0) return undefined;
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const list = `${others.slice(0, MAX_NAMED).map(formatQuote).join(', ')}${more}`;
  const message = `An entry without base_url is only for the origin. Still listed below it, to be removed by their base_url: ${list}.`;
  return buildFinding('noted', 'provider_others_stay', out.base_url, message);
}

/** Builds the outcome of a request without a declaration; undefined if there is no listing. */
export async function findRequestOutcome(
  catalogue: Catalogue,
  request: ProviderRequest,
  hasChanged: boolean,
): Promise<ImportOutcome | undefined> {
  const listing = await findListing(catalogue, { base_url: request.base_url });
  if (!listing) return undefined;
  const { state, slug, id, title, base_url } = listing;
  const outcome = state === 'live' ? (hasChanged ? 'changed' : 'unchanged') : state;
  return { outcome, slug, id, title, base_url, file: null };
}

/** A listing before the provider's file was applied, and the catalogue's revision then. */
interface ListingBefore {
  listing: Listing | undefined;
  revision: number;
}

/** Builds the effect that readers now see of a listing in the provider's file. */
export async function buildEffect(
  catalogue: Catalogue,
  request: ProviderRequest,
  before: ListingBefore,
  hasRepliesChanged: boolean,
): Promise<ReaderEffect> {
  const { base_url, replies } = request;
  const listing = await findListing(catalogue, { base_url });
  const { effect, sentence } = listing
    ? await describeListing(catalogue, listing, before, request.asks, hasRepliesChanged)
    : describeAbsence(request);
  const isBroken = request.asks === 'list' && request.is_broken;
  const notes = [
    ...(isBroken && listing
      ? ['What the entry declares could not be taken; what it declared before still counts.']
      : []),
    ...(replies && replies.length > 0
      ? [`${formatCount(replies.length, 'reply', 'replies')} on record, each shown beside its caution.`]
      : []),
  ];
  return { base_url, slug: listing?.slug ?? null, effect, sentence: [sentence, ...notes].join(' ') };
}

/** Builds the effect that readers now see of a listing that the provider's file no longer describes. */
export async function buildWithdrawalEffect(
  catalogue: Catalogue,
  base_url: string,
  before: ListingBefore,
): Promise<ReaderEffect> {
  const listing = await findListing(catalogue, { base_url });
  const note = "The provider's file no longer describes it.";
  if (!listing) return { base_url, slug: null, effect: 'nothing_to_list', sentence: `Nothing is listed. ${note}` };
  const { effect, sentence } = await describeListing(catalogue, listing, before, 'list', false);
  return { base_url, slug: listing.slug, effect, sentence: `${sentence} ${note}` };
}

function describeAbsence(request: ProviderRequest): Pick<ReaderEffect, 'effect' | 'sentence'> {
  if (request.asks === 'remove') {
    const sentence = 'Nothing is listed here, and nothing will be: later imports are kept out.';
    return { effect: 'kept_out', sentence };
  }
  const why = isStillDeclared(request)
    ? 'what the entry declares could not be taken'
    : 'the entry has no openapi or facts';
  return { effect: 'nothing_to_list', sentence: `Nothing is listed here: ${why}.` };
}

async function describeListing(
  catalogue: Catalogue,
  listing: Listing,
  before: ListingBefore,
  asks: ProviderRequest['asks'],
  hasRepliesChanged: boolean,
): Promise<Pick<ReaderEffect, 'effect' | 'sentence'>> {
  const { slug, state, state_by, state_reason } = listing;
  const page = PATHS.listing(slug);
  const reason = describeReason(state_reason ?? '');
  const remover = state_by === 'rule' ? 'a rule' : 'the operator';
  if (state === 'delisted' && asks === 'remove') {
    const still = before.listing?.state === 'delisted' ? 'Still removed' : 'Removed';
    const by = state_by === 'provider' ? '' : `, and also by ${remover}`;
    return { effect: 'removed', sentence: `${still}${by}: ${page} is a tombstone (410) with the reason "${reason}".` };
  }
  if (state === 'delisted') {
    const until = state_by === 'operator' ? `the operator runs "relist ${slug}"` : 'a probe sees a valid 402';
    const sentence = `Waiting: ${remover} removed it ("${reason}"), and ${page} answers 410 until ${until}.`;
    return { effect: 'waiting', sentence };
  }
  if (state === 'held') {
    const sentence = `Not shown yet: ${reason}. It goes live when openapi or facts state a price, or a probe sees one.`;
    return { effect: 'held', sentence };
  }
  if (before.listing?.state !== 'live') {
    const now = before.listing?.state === 'delisted' ? 'Live again' : 'Now live';
    return { effect: 'live', sentence: `${now} at ${page}.` };
  }
  const rows = await listChanges(catalogue, slug, { since: before.revision });
  const changed = new Set([...rows.flatMap(listChangedParts), ...(hasRepliesChanged ? ['replies'] : [])]);
  if (changed.size === 0) return { effect: 'unchanged', sentence: `Live at ${page}, as before.` };
  return { effect: 'changed', sentence: `Live at ${page}, changed: ${[...changed].join(', ')}.` };
}

/** The part of a listing that each kind of change is about. */
const PARTS: Readonly<Partial<Record<ChangeKind, string>>> = {
  listed: 'state',
  described: 'texts',
  priced: 'price',
  routed: 'routes',
  networked: 'networks',
  categorised: 'category',
  verified: 'verification',
  unverified: 'verification',
  scored: 'reliability',
  seen: 'when it was last seen',
  held: 'state',
  delisted: 'state',
  relisted: 'state',
};

function listChangedParts({ kind, detail }: Change): string[] {
  const { fields } = detail;
  if (kind !== 'described' || !Array.isArray(fields)) return [PARTS[kind] ?? kind];
  return fields.map((field) => String(field).replaceAll('_', ' '));
}
