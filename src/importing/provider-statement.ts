import type { Catalogue } from '../catalogue/database.ts';
import { isDeclared, listDeclared } from '../catalogue/read/declarations.ts';
import { areFindingsOnRecord } from '../catalogue/read/findings.ts';
import { findListing } from '../catalogue/read/listings.ts';
import { areRepliesOnRecord, listRepliedAddresses } from '../catalogue/read/replies.ts';
import { getRevision, type Writing, writeCatalogue } from '../catalogue/transaction.ts';
import { withdrawDeclarations } from '../catalogue/write/declarations.ts';
import { recordFindings } from '../catalogue/write/findings.ts';
import { publishListing } from '../catalogue/write/publication.ts';
import { recordReplies } from '../catalogue/write/replies.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { getListingId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { readProviderStatement } from '../sources/provider-file/read.ts';
import type { ProviderStatement } from '../sources/provider-file/statement.ts';
import {
  buildEffect,
  buildWithdrawalEffect,
  findRequestFinding,
  findRequestOutcome,
  findStillListed,
  grantRequest,
  isGranted,
  isStillDeclared,
  type ListingBefore,
  listReplyFindings,
} from './provider-requests.ts';
import { recordDeclarations } from './record-declarations.ts';
import {
  buildFailureFindings,
  buildOutcomes,
  buildWithdrawal,
  type ImportOutcome,
  type ReaderEffect,
} from './report.ts';

export interface ProviderFileOptions {
  client: Pick<GuardedClient, 'fetch'>;
  catalogue: Catalogue;
  /** Origin of a host with listings, or of one that asks for listings. */
  origin: string;
  now: () => Date;
  allowPrivateNetworks: boolean;
  signal: AbortSignal;
}

/** The result of reading a provider's file. */
export interface ProviderFileOutcome {
  /** `unchanged`: there is a statement, and everything in it is already on record. */
  kind: 'absent' | 'unreadable' | 'applied' | 'unchanged';
  /** Address of the provider's file. */
  url: string;
  /** Why there is no statement, as a stable code; null if there is one. */
  reason: string | null;
  /** Number of requests in the statement. */
  requests: number;
  /** Number of entries in the statement, including refused ones. */
  entries: number;
  /** Number of listings that a stop left for the next time. */
  left: number;
  findings: Finding[];
  /** Slugs of the listings that changed for readers. */
  changed: string[];
  /** The outcome of each listing in the statement. */
  outcomes: ImportOutcome[];
  /** What readers see at each address in the statement, and at those that it no longer describes. */
  effects: ReaderEffect[];
}

/**
 * Reads the provider's file of an origin and applies it. Without a statement, or with one that says nothing new,
 * nothing is written. Throws only for our own failures, never for what the host does.
 */
export async function readProviderFile(options: ProviderFileOptions): Promise<ProviderFileOutcome> {
  const { client, catalogue, origin, now, allowPrivateNetworks, signal } = options;
  const at = now().toISOString();
  const read = await readProviderStatement(client, origin, { allowPrivateNetworks, now: at, signal });
  if (read.kind === 'statement') return applyProviderStatement(catalogue, read, { now, signal });
  const { kind, url } = read;
  const nothing = { kind, url, requests: 0, entries: 0, left: 0, changed: [], outcomes: [], effects: [] };
  if (read.kind === 'absent') return { ...nothing, reason: read.reason, findings: [] };
  const { findings } = read;
  if (!(await areFindingsOnRecord(catalogue, url, findings))) {
    await writeCatalogue(catalogue, at, (writing) => recordFindings(writing, url, findings));
  }
  return { ...nothing, reason: null, findings };
}

/**
 * Applies a statement: removes listings and puts back those that the provider itself removed, records declarations and
 * replies, and withdraws those that the statement no longer contains. Requests for addresses without a listing are
 * remembered. Once `signal` is aborted, the rest is left for the next time.
 */
export async function applyProviderStatement(
  catalogue: Catalogue,
  statement: ProviderStatement,
  { now, signal }: Pick<ProviderFileOptions, 'now' | 'signal'>,
): Promise<ProviderFileOutcome> {
  const { url, listings } = statement;
  const declarations = listings.flatMap((request) =>
    request.asks === 'list' && request.declaration ? [request.declaration] : [],
  );
  const stillListed = await findStillListed(catalogue, listings);
  const findings = [
    ...statement.findings,
    ...(await gather(listings, async (request) => (await findRequestFinding(catalogue, request)) ?? [])),
    ...(await gather(listings, (request) => listReplyFindings(catalogue, request))),
    ...(stillListed ? [stillListed] : []),
  ];
  const facts = { url, reason: null, requests: listings.length, entries: statement.entries };
  const before = await getRevision(catalogue);
  const getStateBefore = async (base_url: string): Promise<ListingBefore> => ({
    listing: await findListing(catalogue, { base_url }),
    revision: before,
  });
  const earlier = await gather(listings, async ({ base_url }) => [await getStateBefore(base_url)]);
  if (await isFullyRecorded(catalogue, statement, declarations, findings)) {
    const outcomes = await gather(
      listings,
      async (request) => (await findRequestOutcome(catalogue, request, false)) ?? [],
    );
    const effects = await gather(listings, async (request) => [
      await buildEffect(catalogue, request, await getStateBefore(request.base_url), false),
    ]);
    return { ...facts, kind: 'unchanged', left: 0, findings, changed: [], outcomes, effects };
  }
  const named = new Set(listings.map(({ base_url }) => base_url));
  const declared = await listDeclared(catalogue, getSource(url));
  const undescribed = await gather(
    declared.filter(({ base_url }) => statement.is_whole && !named.has(base_url)),
    async ({ base_url }) => [{ base_url, ...(await getStateBefore(base_url)) }],
  );
  const at = now().toISOString();
  const evidence = { statement: { source: url, read_at: at } };
  const granted = await writeCatalogue(catalogue, at, (writing) =>
    gather(listings, async (request) =>
      (await grantRequest(writing, request, { source: url, evidence })) ? [request] : [],
    ),
  );
  const recording = await recordDeclarations(catalogue, declarations, { now, signal, evidence });
  const all = [...findings, ...buildFailureFindings(recording, false)];
  const { withdrawn, replied } = await writeCatalogue(catalogue, at, async (writing) => {
    await recordFindings(writing, url, all);
    const replied = await recordStatedReplies(writing, statement, evidence);
    const gone = { cause: 'statement_withdrawn', evidence };
    const withdrawn = statement.is_whole
      ? await withdrawDeclarations(writing, getSource(url), listStillDeclaredIds(statement), gone)
      : [];
    return { withdrawn, replied };
  });
  const outcomes = [
    ...buildOutcomes(recording, false),
    ...(await gather(
      listings.filter((request) => request.asks === 'remove' || !request.declaration),
      async (request) => (await findRequestOutcome(catalogue, request, granted.includes(request))) ?? [],
    )),
    ...(await gather(withdrawn, async (slug) => [buildWithdrawal(slug, await findListing(catalogue, { slug }))])),
  ];
  const changed = await listChanged(catalogue, outcomes, before);
  const effects = [
    ...(await gather(listings, async (request, index) => [
      await buildEffect(
        catalogue,
        request,
        earlier[index] ?? (await getStateBefore(request.base_url)),
        replied.has(request.base_url),
      ),
    ])),
    ...(await gather(undescribed, async ({ base_url, ...earlier }) => [
      await buildWithdrawalEffect(catalogue, base_url, earlier),
    ])),
  ];
  return {
    ...facts,
    kind: 'applied',
    left: recording.left,
    findings: all,
    changed,
    // A declaration may be unchanged while the request to be listed again changes what readers see.
    outcomes: outcomes.map((entry) =>
      entry.outcome === 'unchanged' && entry.slug !== null && changed.includes(entry.slug)
        ? { ...entry, outcome: 'changed' }
        : entry,
    ),
    effects,
  };
}

/**
 * Records the replies of a statement, and removes earlier ones that it no longer has. Returns the addresses whose
 * replies changed.
 */
async function recordStatedReplies(
  writing: Writing,
  statement: ProviderStatement,
  evidence: JsonObject,
): Promise<Set<string>> {
  const { url, listings, is_whole } = statement;
  const stated = listings.flatMap(({ base_url, replies }) => (replies ? [{ base_url, replies }] : []));
  const dropped = is_whole ? await listDroppedReplies(writing.catalogue, statement) : [];
  const all = [...stated, ...dropped.map((base_url) => ({ base_url, replies: [] }))];
  const changed = await gather(all, async (entry) =>
    (await recordReplies(writing, entry.base_url, url, entry.replies)) ? [entry] : [],
  );
  for (const { base_url } of changed) {
    const listing = await findListing(writing.catalogue, { base_url });
    if (listing) await publishListing(writing, listing, 'replied', evidence);
  }
  return new Set(changed.map(({ base_url }) => base_url));
}

/** Lists the addresses with recorded replies that the statement no longer mentions. */
async function listDroppedReplies(catalogue: Catalogue, { url, listings }: ProviderStatement): Promise<string[]> {
  const named = new Set(listings.map(({ base_url }) => base_url));
  return (await listRepliedAddresses(catalogue, url)).filter((base_url) => !named.has(base_url));
}

/** Returns whether everything in the statement is already on record, so that there is nothing to write. */
async function isFullyRecorded(
  catalogue: Catalogue,
  statement: ProviderStatement,
  declarations: readonly Declaration[],
  findings: readonly Finding[],
): Promise<boolean> {
  const { url, listings } = statement;
  const held = listStillDeclaredIds(statement);
  return (
    (await areAll(listings, (request) => isGranted(catalogue, request))) &&
    (await areAll(declarations, (declaration) => isDeclared(catalogue, declaration))) &&
    (await areAll(
      listings,
      async ({ base_url, replies }) =>
        replies === null || (await areRepliesOnRecord(catalogue, base_url, url, replies)),
    )) &&
    (!statement.is_whole ||
      ((await listDeclared(catalogue, getSource(url))).every(({ id }) => held.has(id)) &&
        (await listDroppedReplies(catalogue, statement)).length === 0)) &&
    (await areFindingsOnRecord(catalogue, url, findings))
  );
}

/** Asks about one item after the other, and returns all that was found, in their order. */
async function gather<Item, Found>(
  items: readonly Item[],
  find: (item: Item, index: number) => Promise<Found | Found[]>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const [index, item] of items.entries()) found.push(...([await find(item, index)].flat() as Found[]));
  return found;
}

async function areAll<Item>(items: readonly Item[], isTrue: (item: Item) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (!(await isTrue(item))) return false;
  return true;
}

function getSource(url: string): { kind: 'provider'; name: string } {
  return { kind: 'provider', name: url };
}

/** Lists the ids of the listings that the statement still declares something about. */
function listStillDeclaredIds({ listings }: ProviderStatement): Set<string> {
  return new Set(listings.filter(isStillDeclared).map(({ base_url }) => getListingId(base_url)));
}

async function listChanged(
  catalogue: Catalogue,
  outcomes: readonly ImportOutcome[],
  before: number,
): Promise<string[]> {
  const slugs = new Set(outcomes.flatMap(({ slug }) => slug ?? []));
  return gather([...slugs], async (slug) =>
    ((await findListing(catalogue, { slug }))?.revision ?? 0) > before ? [slug] : [],
  );
}
