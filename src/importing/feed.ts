import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { countStandingDeclarations } from '../catalogue/read/declarations.ts';
import { findListing } from '../catalogue/read/listings.ts';
import { isOvertaken, type Pull } from '../catalogue/read/pulls.ts';
import { findLatestSighting, getLater, keepNewerDeclarations, type Reconciled } from '../catalogue/read/snapshots.ts';
import { getRevision, writeCatalogue } from '../catalogue/transaction.ts';
import { withdrawDeclarations } from '../catalogue/write/declarations.ts';
import { recordFindings } from '../catalogue/write/findings.ts';
import { completePull, recordItems, recordPullFailure, startPull } from '../catalogue/write/pulls.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import type { Declaration, Finding } from '../model/declaration.ts';
import type { DeclarationSource } from '../model/source.ts';
import { cutText } from '../model/text.ts';
import { cutRawItem, type FeedDeclarations, type FeedFormat, formatRawItem, getItemHash } from '../sources/feed.ts';
import { getUniqueSourceName, isWebAddress } from '../sources/source-name.ts';
import { getUserAgent } from '../views/site.ts';
import { formatCount } from '../views/words/figures.ts';
import { type Recording, recordInBatches } from './record-declarations.ts';
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
  stop(): void;
}

interface FeedImportOptions extends Omit<PullOptions, 'progress'> {
  format: FeedFormat;
  openProgress: (label: string, unit: string) => Progress;
  /** The name of a file's feed on record; default: the file's own name. */
  source?: string | undefined;
}

type Source = Pick<DeclarationSource, 'kind' | 'name'>;

const EMPTY: FeedDeclarations = { declarations: [], findings: [], outcomes: [] };

/**
 * Imports a feed: pulls it to its end, records its items and their listings, and withdraws listings that it no longer
 * has if the whole feed was seen. After a stop or a crash the same import begins again. Throws what pulling throws; then
 * nothing is recorded but the reason.
 */
export async function importFeed(
  catalogue: Catalogue,
  address: string,
  { format, openProgress, source, ...options }: FeedImportOptions,
): Promise<ImportReport> {
  const started = options.now().getTime();
  const before = await getRevision(catalogue);
  const feed = { format, address, name: await getUniqueSourceName(address, source) };
  const recordedAs = { kind: format.kind, name: feed.name };
  const pulled = await withProgress(openProgress('Pulling', 'items'), (progress) =>
    pullWhole(catalogue, feed, { ...options, progress }),
  );
  const pull = pulled && (await recordPull(catalogue, feed.name, pulled, options));
  const read = pulled && pull ? await buildFeed(feed, pulled, options) : EMPTY;
  const snapshot = isWebAddress(address)
    ? { ...AS_READ, declarations: read.declarations }
    : await reconcileFile(catalogue, recordedAs, read.declarations);
  const recording = await withProgress(openProgress('Recording', 'listings'), ({ update }) =>
    recordInBatches(catalogue, snapshot.declarations, { ...options, onProgress: update }),
  );
  const findings = [...read.findings, ...buildFailureFindings(recording, false)];
  const ending =
    pull && recording.left === 0
      ? await completeFeedImport(catalogue, pull, {
          source: recordedAs,
          findings,
          recording,
          snapshot,
          at: options.now(),
        })
      : STOPPED;
  const report = {
    feed: feed.name,
    revision: { before, after: await getRevision(catalogue) },
    items: countItems(pulled, read, recording),
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
  return `${age} ${stayed}${out}${stands}.`;
}

/** The end of an import: what it withdrew, and why it is incomplete, if it is. */
interface Ending {
  withdrawn: ImportOutcome[];
  shortfall: string | null;
}

const STOPPED: Ending = {
  withdrawn: [],
  shortfall: 'The import was stopped. Run the same command again: it begins again, and what is recorded stays.',
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

async function buildFeed(
  { format, address, name }: FeedToPull,
  pulled: PulledFeed,
  { config }: Pick<PullOptions, 'config'>,
): Promise<FeedDeclarations> {
  const items = pulled.items.map(({ item }) => item);
  return format.buildDeclarations(items, {
    feed: name,
    pulledAt: await getPulledAt(address, pulled),
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
  pulled: PulledFeed | undefined,
  { outcomes }: FeedDeclarations,
  { failed }: Recording,
): ImportReport['items'] {
  const lost = new Set(failed.map(({ declaration }) => declaration.base_url));
  const good = outcomes.filter((item) => item.outcome === 'taken');
  const taken = good.filter(({ base_url }) => !lost.has(base_url)).length;
  const refused = outcomes.filter(({ outcome }) => outcome === 'refused').length + good.length - taken;
  const received = pulled?.received ?? 0;
  return { received, taken, duplicates: outcomes.length > 0 ? received - taken - refused : 0, refused };
}

/** Longest failure message that is kept, in UTF-16 units. */
const MESSAGE_LENGTH = 300;

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

/** A feed that was pulled to its end. */
interface PulledFeed {
  /** Time at which the pull began, ISO 8601 UTC. */
  started_at: string;
  pages: number;
  /** Number of items, without those that came again on a later page. */
  received: number;
  /** Each version of each item once. */
  items: PulledItem[];
  ended: 'complete' | 'incomplete';
}

interface PulledItem {
  key: string;
  hash: string;
  item: unknown;
}

/** Items in one transaction. */
const ITEMS_AT_ONCE = 100;

/**
 * Pulls a feed to its end. Returns undefined if it was stopped before. Throws what pulling throws, after the reason is
 * recorded.
 */
async function pullWhole(
  catalogue: Catalogue,
  feed: FeedToPull,
  options: PullOptions,
): Promise<PulledFeed | undefined> {
  const { now, signal } = options;
  const started_at = now().toISOString();
  try {
    const pulled = await pullPages(feed, options);
    return signal.aborted || !pulled ? undefined : { ...pulled, started_at };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (signal.aborted) return undefined;
    const message = cutText(`${error.message} (${error.reason})`, MESSAGE_LENGTH);
    const failure = { feed: feed.name, message };
    await writeCatalogue(catalogue, now().toISOString(), (writing) => recordPullFailure(writing, failure));
    throw error;
  }
}

/** Pulls all pages of a feed. Returns undefined without a last page. */
async function pullPages(
  { format, address }: FeedToPull,
  { config, signal, progress }: PullOptions,
): Promise<Omit<PulledFeed, 'started_at'> | undefined> {
  const { allowPrivateNetworks } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  const items = new Map<string, PulledItem>();
  let [pages, received] = [0, 0];
  try {
    progress.update(0);
    for await (const page of format.pull({ address, client, signal })) {
      const keyed = page.items.map((raw) => {
        return { key: format.getItemKey(raw), hash: getItemHash(raw), item: cutRawItem(raw) };
      });
      // An item that two pages brought counts once, and one that came twice in a page twice.
      const fresh = keyed.filter(({ key, hash }) => !items.has(`${hash} ${key}`));
      for (const one of fresh) items.set(`${one.hash} ${one.key}`, one);
      received += fresh.length;
      pages += 1;
      progress.update(received, page.total ?? undefined);
      const ended = page.end?.complete ? 'complete' : 'incomplete';
      if (page.end) return { pages, received, items: [...items.values()], ended };
      if (signal.aborted) break;
    }
    return undefined;
  } finally {
    await client.close();
  }
}

/** Records a pull and its raw items. Returns undefined if it was stopped before all were recorded. */
async function recordPull(
  catalogue: Catalogue,
  feed: string,
  { started_at, pages, received, items, ended }: PulledFeed,
  { now, signal }: Pick<PullOptions, 'now' | 'signal'>,
): Promise<Pull | undefined> {
  const started = { feed, started_at, pages, items: received, ended };
  const pull = await writeCatalogue(catalogue, now().toISOString(), (writing) => startPull(writing, started));
  for (let at = 0; at < items.length; at += ITEMS_AT_ONCE) {
    if (signal.aborted) return undefined;
    const some = items.slice(at, at + ITEMS_AT_ONCE).map(({ key, hash, item }) => {
      return { key, hash, raw: formatRawItem(item) };
    });
    await writeCatalogue(catalogue, now().toISOString(), (writing) => recordItems(writing, pull, some));
    // The event loop runs between transactions, so that Ctrl-C works.
    await setImmediate();
  }
  return signal.aborted ? undefined : pull;
}

/** Returns the time of a pull's items: when the pull started, or when the file was written if that is earlier. */
async function getPulledAt(address: string, { started_at }: PulledFeed): Promise<string> {
  if (isWebAddress(address)) return started_at;
  const { mtime } = await stat(address);
  const writtenAt = mtime.toISOString();
  return writtenAt < started_at ? writtenAt : started_at;
}
