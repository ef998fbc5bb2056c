import { createHash } from 'node:crypto';
import type { Catalogue } from '../catalogue/database.ts';
import { listDeclared } from '../catalogue/read/declarations.ts';
import { areFindingsOnRecord } from '../catalogue/read/findings.ts';
import { getHostRecord } from '../catalogue/read/hosts.ts';
import { findListing } from '../catalogue/read/listings.ts';
import { listRepliedAddresses } from '../catalogue/read/replies.ts';
import { getRevision, type Writing, writeCatalogue } from '../catalogue/transaction.ts';
import { recordDeclarations, withdrawDeclarations } from '../catalogue/write/declarations.ts';
import { recordFindings } from '../catalogue/write/findings.ts';
import { recordHost } from '../catalogue/write/hosts.ts';
import { publishListing } from '../catalogue/write/publication.ts';
import { recordReplies } from '../catalogue/write/replies.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import { getListingId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Listing } from '../model/listing.ts';
import type { ProviderRequest } from '../sources/provider-file/parse.ts';
import { type ProviderStatement, readProviderStatement } from '../sources/provider-file/read.ts';
import {
  buildEffect,
  buildWithdrawalEffect,
  findRequestFinding,
  findRequestOutcome,
  findStillListed,
  grantRequest,
  isGranted,
  isStillDeclared,
  listReplyFindings,
} from './provider-requests.ts';
import { buildFailure, isRowError, type Recording } from './record-declarations.ts';
import {
  buildFailureFindings,
  buildOutcomes,
  buildWithdrawal,
  type ImportOutcome,
  type ReaderEffect,
} from './report.ts';

interface ProviderFileOptions {
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
  /** The reason why there is no statement, as a stable code; null if there is one. */
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
  /** The view of readers at each address in the statement, and at those that it no longer describes. */
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
  if (read.kind === 'statement') return await applyProviderStatement(catalogue, read, { now, signal });
  const { kind, url } = read;
  const nothing = { kind, url, requests: 0, entries: 0, left: 0, changed: [], outcomes: [], effects: [] };
  if (read.kind === 'absent') return { ...nothing, reason: read.reason, findings: [] };
  const { findings } = read;
  if (!(await areFindingsOnRecord(catalogue, url, findings))) {
    await writeCatalogue(catalogue, at, async (writing) => {
      await recordFindings(writing, url, findings);
      await recordHost(writing.catalogue, origin, { file_hash: null });
    });
  }
  return { ...nothing, reason: null, findings };
}

/**
 * Applies a statement: removes listings and puts back those that the provider itself removed, records declarations and
 * replies, and withdraws those that the statement no longer contains. Requests for addresses without a listing are
 * remembered. Everything is one transaction. Once `signal` is aborted, it is left for the next time.
 */
async function applyProviderStatement(
  catalogue: Catalogue,
  statement: ProviderStatement,
  options: Pick<ProviderFileOptions, 'now' | 'signal'>,
): Promise<ProviderFileOutcome> {
  const { url, listings, entries } = statement;
  const facts = { url, reason: null, requests: listings.length, entries };
  const findings = await listStatementFindings(catalogue, statement);
  const before = await readStateBefore(catalogue, statement);
  const hash = getHash(statement, findings);
  if (await isApplied(catalogue, statement, hash)) {
    const outcomes = await listRequestOutcomes(catalogue, listings, []);
    const effects = await listEffects(catalogue, statement, before, new Set());
    return { ...facts, kind: 'unchanged', left: 0, findings, changed: [], outcomes, effects };
  }
  const written = await writeStatement(catalogue, statement, { findings, hash }, options);
  const outcomes = await listOutcomes(catalogue, statement, written);
  const changed = await listChanged(catalogue, outcomes, before.revision);
  return {
    ...facts,
    kind: 'applied',
    left: written.recording.left,
    findings: written.findings,
    changed,
    // A declaration may be unchanged while the request to be listed again changes what readers see.
    outcomes: outcomes.map((entry) =>
      entry.outcome === 'unchanged' && entry.slug !== null && changed.includes(entry.slug)
        ? { ...entry, outcome: 'changed' }
        : entry,
    ),
    effects: await listEffects(catalogue, statement, before, written.replied),
  };
}

/** Lists the findings of a statement: those of reading it, then those for requests and replies without a visible effect. */
async function listStatementFindings(
  catalogue: Catalogue,
  { listings, findings }: ProviderStatement,
): Promise<Finding[]> {
  const stillListed = await findStillListed(catalogue, listings);
  const ofRequests = await mapInTurn(listings, (request) => findRequestFinding(catalogue, request));
  const ofReplies = await mapInTurn(listings, (request) => listReplyFindings(catalogue, request));
  return [
    ...findings,
    ...ofRequests.filter((found) => found !== undefined),
    ...ofReplies.flat(),
    ...(stillListed ? [stillListed] : []),
  ];
}

/** The listings as readers saw them before a statement was applied. */
interface StateBefore {
  readonly revision: number;
  /** The listings by address: those that the statement names, and those that it no longer describes. */
  readonly listings: ReadonlyMap<string, Listing | undefined>;
  /** Addresses that an earlier statement declared, and this one does not name. */
  readonly undescribed: readonly string[];
}

async function readStateBefore(
  catalogue: Catalogue,
  { url, listings, is_whole }: ProviderStatement,
): Promise<StateBefore> {
  const named = listings.map(({ base_url }) => base_url);
  const declared = is_whole ? await listDeclared(catalogue, getSource(url)) : [];
  const undescribed = declared.map(({ base_url }) => base_url).filter((base_url) => !named.includes(base_url));
  const revision = await getRevision(catalogue);
  const found = await mapInTurn(
    [...named, ...undescribed],
    async (base_url) => [base_url, await findListing(catalogue, { base_url })] as const,
  );
  return { revision, listings: new Map(found), undescribed };
}

/** Returns the SHA-256 of what a statement asks for and what was found in it. */
function getHash({ listings, is_whole }: ProviderStatement, findings: readonly Finding[]): string {
  return createHash('sha256').update(JSON.stringify({ listings, is_whole, findings })).digest('hex');
}

/** Returns whether just this was applied last, and nobody undid what it asks since. */
async function isApplied(catalogue: Catalogue, { url, listings }: ProviderStatement, hash: string): Promise<boolean> {
  const { file_hash } = await getHostRecord(catalogue, new URL(url).origin);
  if (file_hash !== hash) return false;
  for (const request of listings) if (!(await isGranted(catalogue, request))) return false;
  return true;
}

/** The result of writing a statement. */
interface Written {
  /** Those of the statement, and of declarations that could not be recorded. */
  readonly findings: Finding[];
  /** Requests whose grant readers see. */
  readonly granted: readonly ProviderRequest[];
  readonly recording: Recording;
  /** Addresses whose replies changed. */
  readonly replied: ReadonlySet<string>;
  /** Slugs of listings that readers see changed because the statement no longer declares them. */
  readonly withdrawn: readonly string[];
}

/**
 * Writes a statement in one transaction: what it asks, what it declares, and all else. If a declaration cannot be recorded,
 * nothing of the statement is, but the findings that say so.
 */
async function writeStatement(
  catalogue: Catalogue,
  statement: ProviderStatement,
  { findings, hash }: { findings: readonly Finding[]; hash: string },
  { now, signal }: Pick<ProviderFileOptions, 'now' | 'signal'>,
): Promise<Written> {
  const { url, is_whole, listings } = statement;
  const at = now().toISOString();
  const evidence = { statement: { source: url, read_at: at } };
  const declarations = listDeclarations(statement);
  const nothing = { granted: [], replied: new Set<string>(), withdrawn: [] };
  if (signal.aborted) {
    return { ...nothing, findings: [...findings], recording: { recorded: [], failed: [], left: listings.length } };
  }
  try {
    return await writeCatalogue(catalogue, at, async (writing) => {
      const granted = await grantRequests(writing, statement, evidence);
      const outcomes = await recordDeclarations(writing, declarations, { evidence, heardAt: at });
      await recordFindings(writing, url, findings);
      const replied = await recordStatedReplies(writing, statement, evidence);
      const gone = { cause: 'statement_withdrawn', evidence };
      const withdrawn = is_whole
        ? await withdrawDeclarations(writing, getSource(url), listStillDeclaredIds(statement), gone)
        : [];
      await recordHost(writing.catalogue, new URL(url).origin, { file_hash: hash });
      const recorded = outcomes.map(({ identity: { id, slug }, outcome }, index) => {
        return { declaration: declarations[index] as Declaration, id, slug, outcome };
      });
      return { findings: [...findings], granted, recording: { recorded, failed: [], left: 0 }, replied, withdrawn };
    });
  } catch (error) {
    if (!isRowError(error)) throw error;
    const failed = declarations.map((declaration) => buildFailure(error, declaration));
    const recording = { recorded: [], failed, left: 0 };
    const all = [...findings, ...buildFailureFindings(recording, false)];
    await writeCatalogue(catalogue, at, (writing) => recordFindings(writing, url, all));
    return { ...nothing, findings: all, recording };
  }
}

/** Grants the requests of a statement. Returns those whose grant readers see. */
async function grantRequests(
  writing: Writing,
  { url, listings }: ProviderStatement,
  evidence: JsonObject,
): Promise<ProviderRequest[]> {
  const granted: ProviderRequest[] = [];
  for (const request of listings) {
    if (await grantRequest(writing, request, { source: url, evidence })) granted.push(request);
  }
  return granted;
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
  const { catalogue } = writing;
  const { url, listings, is_whole } = statement;
  const dropped = is_whole ? await listDroppedReplies(catalogue, statement) : [];
  const changed = new Set<string>();
  for (const { base_url, replies } of [...listings, ...dropped.map((base_url) => ({ base_url, replies: [] }))]) {
    if (replies && (await recordReplies(writing, base_url, url, replies))) changed.add(base_url);
  }
  for (const base_url of changed) {
    const listing = await findListing(catalogue, { base_url });
    if (listing) await publishListing(writing, listing, 'replied', evidence);
  }
  return changed;
}

/** Lists the addresses with recorded replies that the statement no longer mentions. */
async function listDroppedReplies(catalogue: Catalogue, { url, listings }: ProviderStatement): Promise<string[]> {
  const named = new Set(listings.map(({ base_url }) => base_url));
  return (await listRepliedAddresses(catalogue, url)).filter((base_url) => !named.has(base_url));
}

/** Lists what became of the listings: of declarations, then of requests without one, then of what was withdrawn. */
async function listOutcomes(
  catalogue: Catalogue,
  { listings }: ProviderStatement,
  { recording, granted, withdrawn }: Written,
): Promise<ImportOutcome[]> {
  const undeclared = listings.filter((request) => request.asks === 'remove' || !request.declaration);
  return [
    ...buildOutcomes(recording, false),
    ...(await listRequestOutcomes(catalogue, undeclared, granted)),
    ...(await mapInTurn(withdrawn, async (slug) => buildWithdrawal(slug, await findListing(catalogue, { slug })))),
  ];
}

/** Lists what became of requests, where there is a listing. */
async function listRequestOutcomes(
  catalogue: Catalogue,
  requests: readonly ProviderRequest[],
  granted: readonly ProviderRequest[],
): Promise<ImportOutcome[]> {
  const outcomes = await mapInTurn(requests, (request) =>
    findRequestOutcome(catalogue, request, granted.includes(request)),
  );
  return outcomes.filter((outcome) => outcome !== undefined);
}

/** Lists the slugs of listings that changed for readers after a revision. */
async function listChanged(
  catalogue: Catalogue,
  outcomes: readonly ImportOutcome[],
  before: number,
): Promise<string[]> {
  const slugs = [...new Set(outcomes.flatMap(({ slug }) => slug ?? []))];
  const listings = await mapInTurn(slugs, (slug) => findListing(catalogue, { slug }));
  return slugs.filter((_, index) => (listings[index]?.revision ?? 0) > before);
}

/** Lists what readers now see at each address in the statement, then at those that it no longer describes. */
async function listEffects(
  catalogue: Catalogue,
  { listings }: ProviderStatement,
  before: StateBefore,
  replied: ReadonlySet<string>,
): Promise<ReaderEffect[]> {
  const getBefore = (base_url: string) => ({ listing: before.listings.get(base_url), revision: before.revision });
  return [
    ...(await mapInTurn(listings, (request) =>
      buildEffect(catalogue, request, getBefore(request.base_url), replied.has(request.base_url)),
    )),
    ...(await mapInTurn(before.undescribed, (base_url) =>
      buildWithdrawalEffect(catalogue, base_url, getBefore(base_url)),
    )),
  ];
}

function getSource(url: string): { kind: 'provider'; name: string } {
  return { kind: 'provider', name: url };
}

function listDeclarations({ listings }: ProviderStatement): Declaration[] {
  return listings.flatMap((request) => (request.asks === 'list' && request.declaration ? [request.declaration] : []));
}

/** Lists the ids of the listings that the statement still declares something about. */
function listStillDeclaredIds({ listings }: ProviderStatement): Set<string> {
  return new Set(listings.filter(isStillDeclared).map(({ base_url }) => getListingId(base_url)));
}

/** Asks about one item after the other, since a transaction has one connection. Returns the answers in the same order. */
async function mapInTurn<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const item of items) answers.push(await ask(item));
  return answers;
}
