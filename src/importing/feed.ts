import { stat } from 'node:fs/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { countStandingDeclarations } from '../catalogue/read/declarations.ts';
import { findListing } from '../catalogue/read/listings.ts';
import { findOpenPull, isOvertaken, listFeedItems, type Pull } from '../catalogue/read/pulls.ts';
import { findLatestSighting, getLater, keepNewerDeclarations, type Reconciled } from '../catalogue/read/snapshots.ts';
import { getRevision, type Writing, writeCatalogue } from '../catalogue/transaction.ts';
import { withdrawDeclarations } from '../catalogue/write/declarations.ts';
import { recordFindings } from '../catalogue/write/findings.ts';
import { completePull, recordPage, recordPullFailure, startPull } from '../catalogue/write/pulls.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import type { DeclarationSource } from '../model/source.ts';
import { cutText } from '../model/text.ts';
import { type FeedDeclarations, type FeedFormat, type FeedPage, formatRawItem, getItemHash } from '../sources/feed.ts';
import { getUniqueSourceName, isWebAddress } from '../sources/source-name.ts';
import { getUserAgent } from '../views/site.ts';
import { formatCount } from '../views/words/figures.ts';
import { type Recording, recordDeclarations } from './record-declarations.ts';
import {
  buildFailureFindings,
  buildOutcomes,
  buildReport,
  buildWithdrawal,
  type ImportOutcome,
  type ImportReport,
} from './report.ts';

/** Shows how far an import is: units done, and the total if known. */
interface Progress {
  update(done: number, total?: number): void;
  /** Writes a note above the progress. */
  note(text: string): void;
  stop(): void;
}

export interface FeedImportOptions extends Omit<PullOptions, 'progress'> {
  format: FeedFormat;
  openProgress: (label: string, unit: string) => Progress;
  /** The name of a file's feed on record; default: the file's own name. */
  source?: string | undefined;
  /** True to import a file as it is, even if it is older than what is on record of its feed. */
  older?: boolean | undefined;
}

type Source = Pick<DeclarationSource, 'kind' | 'name'>;

const EMPTY: FeedDeclarations = { declarations: [], findings: [], outcomes: [] };

/**
 * Imports a feed: pulls it, records the listings of its items, and withdraws listings that it no longer has if
 * the whole feed was seen. After a stop or a crash the same import continues where it was. Throws what pulling throws.
 */
export async function importFeed(
  catalogue: Catalogue,
  address: string,
  { format, openProgress, source, older = false, ...options }: FeedImportOptions,
): Promise<ImportReport> {
  const started = options.now().getTime();
  const before = await getRevision(catalogue);
  const feed = { format, address, name: await getUniqueSourceName(address, source) };
  const recordedAs = { kind: format.kind, name: feed.name };
  const pull = await withProgress(openProgress('Pulling', 'items'), (progress) =>
    pullIntoCatalogue(catalogue, feed, { ...options, progress }),
  );
  const isPulled = pull !== undefined && pull.ended !== null;
  const read = isPulled ? await readPull(catalogue, feed, pull, options) : EMPTY;
  const snapshot =
    isWebAddress(address) || older
      ? { ...AS_READ, declarations: read.declarations }
      : await reconcileFile(catalogue, recordedAs, read.declarations);
  const recording = await withProgress(openProgress('Recording', 'listings'), ({ update }) =>
    recordDeclarations(catalogue, snapshot.declarations, { ...options, onProgress: update }),
  );
  const findings = [...read.findings, ...buildFailureFindings(recording, false)];
  const ending =
    isPulled && recording.left === 0
      ? await completeFeedImport(catalogue, pull, {
          ...{ source: recordedAs, findings, recording, snapshot, at: options.now() },
        })
      : STOPPED;
  const report = {
    feed: feed.name,
    revision: { before, after: await getRevision(catalogue) },
    items: countItems(pull, read, recording),
    outcomes: [...buildOutcomes(recording, false), ...ending.withdrawn],
    findings,
    took_ms: options.now().getTime() - started,
  };
  return buildReport(report, { shortfall: ending.shortfall, advice: explainKept(snapshot) });
}

/** The part of a feed that is recorded, and the date of what is on record if the whole feed is older than that. */
interface Snapshot extends Reconciled {
  date: string | null;
  newer: string | null;
}

const AS_READ = { kept: 0, left_out: 0, date: null, newer: null };

/** Reconciles a saved file with what is on record of its feed, which may have been seen later. */
async function reconcileFile(
  catalogue: Catalogue,
  source: Source,
  declarations: readonly Declaration[],
): Promise<Snapshot> {
  const date = declarations.reduce<string | null>((latest, one) => getLater(latest, one.source.observed_at), null);
  const latest = await findLatestSighting(catalogue, source);
  const newer = date !== null && latest !== null && latest > date ? latest : null;
  return { ...(await keepNewerDeclarations(catalogue, source, declarations, newer !== null)), date, newer };
}

/** Explains what was kept of an earlier import that is newer; null if nothing was. */
function explainKept({ kept, left_out, date, newer }: Snapshot): string | null {
  if (kept + left_out === 0 && newer === null) return null;
  const age =
    newer === null
      ? 'Parts of this file are older than what is on record of the feed.'
      : `This file is older than what is on record of the feed: it was last seen ${date}, and the feed ${newer}.`;
  const stayed = `${formatCount(kept, 'listing')} kept what was seen later`;
  const out = left_out > 0 ? `, ${left_out} that the feed no longer had were left out` : '';
  const stands = newer === null ? '' : ', and nothing was withdrawn';
  return `${age} ${stayed}${out}${stands}. To import the file as it is all the same, add --older.`;
}

/** The end of an import: what it withdrew, and why it is incomplete, if it is. */
interface Ending {
  withdrawn: ImportOutcome[];
  shortfall: string | null;
}

const STOPPED: Ending = {
  withdrawn: [],
  shortfall: 'The import was stopped. Run the same command again within an hour: it continues where it was.',
};

async function withProgress<Result>(
  progress: Progress,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}

async function readPull(
  catalogue: Catalogue,
  { format, address, name }: FeedToPull,
  pull: Pull,
  { config }: Pick<PullOptions, 'config'>,
): Promise<FeedDeclarations> {
  return format.buildDeclarations(await listFeedItems(catalogue, pull), {
    feed: name,
    pulledAt: await getPulledAt(address, pull),
    isFile: !isWebAddress(address),
    allowPrivateNetworks: config.allowPrivateNetworks,
  });
}

/**
 * Completes a pull whose listings are all recorded, in one transaction. A feed that suddenly has nothing to list is
 * more likely broken than empty, so nothing is withdrawn. Nothing is withdrawn either if a later pull was faster, or if
 * the feed is a file that is older than what is on record.
 */
async function completeFeedImport(
  catalogue: Catalogue,
  pull: Pull,
  {
    source,
    findings,
    recording: { recorded, failed },
    snapshot,
    at,
  }: { source: Source; findings: readonly Finding[]; recording: Recording; snapshot: Snapshot; at: Date },
): Promise<Ending> {
  const isEmptyFeed =
    recorded.length + failed.length + snapshot.left_out === 0 &&
    (await countStandingDeclarations(catalogue, source)) > 0;
  const mayWithdraw = pull.ended === 'complete' && !isEmptyFeed;
  const held = new Set([...recorded, ...failed].map(({ id }) => id));
  const slugs = await writeCatalogue(catalogue, at.toISOString(), async (writing) => {
    await recordFindings(writing, pull.feed, findings);
    await completePull(writing, pull);
    return mayWithdraw && snapshot.newer === null && !(await isOvertaken(writing.catalogue, pull))
      ? await withdrawDeclarations(writing, source, held)
      : [];
  });
  const withdrawn = await Promise.all(
    slugs.map(async (slug) => buildWithdrawal(slug, await findListing(catalogue, { slug }))),
  );
  const getShortfall = () => {
    if (isEmptyFeed) return 'The feed had nothing that can be listed, so nothing was withdrawn.';
    if (!mayWithdraw) return 'The end of the feed was not reached, so nothing was withdrawn.';
    return pull.items === 0 ? 'The feed has no items, so there was nothing to import.' : null;
  };
  return { withdrawn, shortfall: getShortfall() };
}

/**
 * Counts the items of a pull. Items that are equal or for the same route count as duplicates; items of a listing that
 * could not be recorded count as refused.
 */
function countItems(
  pull: Pull | undefined,
  { outcomes }: FeedDeclarations,
  { failed }: Recording,
): ImportReport['items'] {
  const lost = new Set(failed.map(({ declaration }) => declaration.base_url));
  const good = outcomes.filter((item) => item.outcome === 'taken');
  const taken = good.filter(({ base_url }) => !lost.has(base_url)).length;
  const refused = outcomes.filter(({ outcome }) => outcome === 'refused').length + good.length - taken;
  const received = pull?.items ?? 0;
  return { received, taken, duplicates: pull?.ended ? received - taken - refused : 0, refused };
}

/** Longest failure message that is kept, in UTF-16 units. */
const MESSAGE_LENGTH = 300;

/**
 * An unfinished pull is resumed within this time. After that too much may have changed, and it starts again. In
 * milliseconds.
 */
const RESUMED_WITHIN_MS = 60 * 60 * 1000;

interface PullOptions {
  config: Config;
  now: () => Date;
  signal: AbortSignal;
  progress: Progress;
}

interface FeedToPull {
  format: FeedFormat;
  /** Its http(s) address, or a file. */
  address: string;
  /** Its name on record, as `getUniqueSourceName` gives it. */
  name: string;
}

/**
 * Pulls a feed into the catalogue, each page in its own transaction, and resumes a pull that was stopped less than an
 * hour ago. Returns undefined if it was stopped before the first page; `ended` is null if it was stopped later. Throws
 * what pulling throws; earlier pages are kept, and the reason is recorded.
 */
async function pullIntoCatalogue(
  catalogue: Catalogue,
  feed: FeedToPull,
  options: PullOptions,
): Promise<Pull | undefined> {
  const { now, signal, progress } = options;
  let reached = await findPullToResume(catalogue, feed, options);
  if (reached && reached.ended !== null) return reached;
  progress.update(reached?.items ?? 0);
  const write = <Result>(work: (writing: Writing) => Promise<Result>) =>
    writeCatalogue(catalogue, now().toISOString(), work);
  try {
    for await (const page of generatePages(feed, reached?.next_offset ?? 0, options)) {
      // A pull is recorded with its first page, so a pull without pages leaves no record.
      const before = reached;
      reached = await write(async (writing) =>
        recordPage(writing, before ?? (await startPull(writing, feed.name)), buildRecord(feed.format, page)),
      );
      progress.update(reached.items, page.total ?? undefined);
      if (signal.aborted) break;
    }
    return reached;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (signal.aborted) return reached;
    const message = cutText(`${error.message} (${error.reason})`, MESSAGE_LENGTH);
    await write((writing) => recordPullFailure(writing, { feed: feed.name, message }));
    throw addResumption(error, reached);
  }
}

/** Returns the time of a pull's items: when the pull started, or when the file was written if that is earlier. */
async function getPulledAt(address: string, { started_at }: Pull): Promise<string> {
  if (isWebAddress(address)) return started_at;
  const { mtime } = await stat(address);
  const writtenAt = mtime.toISOString();
  return writtenAt < started_at ? writtenAt : started_at;
}

/** Finds an unfinished pull to resume. A file is always read again, because that is fast and it may have changed. */
async function findPullToResume(
  catalogue: Catalogue,
  { address, name }: FeedToPull,
  { now, progress }: PullOptions,
): Promise<Pull | undefined> {
  if (!isWebAddress(address)) return undefined;
  const since = new Date(now().getTime() - RESUMED_WITHIN_MS).toISOString();
  const open = await findOpenPull(catalogue, name, since);
  if (open) progress.note(`Continuing the pull of ${open.started_at}: ${open.items} items are already here.`);
  return open;
}

async function* generatePages(
  { format, address }: FeedToPull,
  from: number,
  { config, signal }: PullOptions,
): AsyncGenerator<FeedPage> {
  const { allowPrivateNetworks } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  try {
    yield* format.pull({ address, client, from, signal });
  } finally {
    await client.close();
  }
}

function buildRecord(
  { getItemKey }: FeedFormat,
  { items, next_offset, end }: FeedPage,
): Parameters<typeof recordPage>[2] {
  return {
    items: items.map((raw) => ({ key: getItemKey(raw), hash: getItemHash(raw), raw: formatRawItem(raw) })),
    next_offset,
    ended: end && (end.complete ? 'complete' : 'incomplete'),
  };
}

function addResumption(error: ServiceError, reached: Pull | undefined): ServiceError {
  if (!reached) return error;
  return new ServiceError(error.code, error.message, {
    reason: error.reason,
    hint: `The ${reached.items} items so far are kept; the same command continues from there within an hour.`,
    details: error.details,
    cause: error.cause,
  });
}
