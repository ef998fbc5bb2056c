import { countStandingDeclarations } from '../catalogue/counts.ts';
import type { Catalogue } from '../catalogue/database.ts';
import { withdrawDeclarations } from '../catalogue/declarations.ts';
import { recordFindings } from '../catalogue/findings.ts';
import { findListing } from '../catalogue/listings.ts';
import { completePull, isOvertaken, listFeedItems, type Pull } from '../catalogue/pulls.ts';
import { getRevision, writeCatalogue } from '../catalogue/write.ts';
import type { Finding } from '../model/finding.ts';
import { buildFeedDeclarations, type FeedDeclarations } from '../sources/bazaar/declarations.ts';
import { getUniqueSourceName } from '../sources/source-name.ts';
import { type FeedPullOptions, getPulledAt, pullIntoCatalogue } from './feed-pull.ts';
import {
  buildFailureFindings,
  buildOutcomes,
  buildReport,
  buildWithdrawal,
  type ImportOutcome,
  type ImportReport,
} from './import-report.ts';
import { type Recording, recordDeclarations } from './recording.ts';
import type { Progress } from './terminal/progress.ts';

export interface FeedImportOptions extends Omit<FeedPullOptions, 'progress'> {
  openProgress: (label: string, unit: string) => Progress;
  /** The name of a file's feed on record; undefined: the file's own. */
  source?: string | undefined;
}

const EMPTY: FeedDeclarations = { declarations: [], findings: [], outcomes: [] };

/**
 * Imports a Bazaar feed: pulls it whole, then records what its items come to, and withdraws the listings that it no
 * longer holds if it was seen whole. Stopped or killed at any point, the same import goes on where it was. Throws what
 * pulling does.
 */
export async function importFeed(
  catalogue: Catalogue,
  address: string,
  { openProgress, source, ...options }: FeedImportOptions,
): Promise<ImportReport> {
  const started = options.now().getTime();
  const before = getRevision(catalogue);
  const feed = await getUniqueSourceName(address, source);
  const pull = await follow(openProgress('Pulling', 'items'), (progress) =>
    pullIntoCatalogue(catalogue, { address, feed }, { ...options, progress }),
  );
  const isPulled = pull !== undefined && pull.ended !== null;
  const read = isPulled ? await readPull(catalogue, address, pull, options) : EMPTY;
  const recording = await follow(openProgress('Recording', 'listings'), ({ update }) =>
    recordDeclarations(catalogue, read.declarations, { ...options, onProgress: update }),
  );
  const findings = [...read.findings, ...buildFailureFindings(recording, false)];
  const ending =
    isPulled && recording.left === 0 ? finishPull(catalogue, pull, findings, recording, options.now()) : STOPPED;
  const report = {
    feed,
    revision: { before, after: getRevision(catalogue) },
    items: countItems(pull, read, recording),
    outcomes: [...buildOutcomes(recording, false), ...ending.withdrawn],
    findings,
    took_ms: options.now().getTime() - started,
  };
  return buildReport(report, { shortfall: ending.shortfall, advice: null });
}

/** How an import ended: what it withdrew, and why it did less than was asked. */
interface Ending {
  withdrawn: ImportOutcome[];
  shortfall: string | null;
}

const STOPPED: Ending = {
  withdrawn: [],
  shortfall: 'The import was stopped. Run the same command again within an hour: it goes on where it was.',
};

async function follow<Result>(progress: Progress, work: (progress: Progress) => Promise<Result>): Promise<Result> {
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}

async function readPull(
  catalogue: Catalogue,
  address: string,
  pull: Pull,
  { config }: Pick<FeedPullOptions, 'config'>,
): Promise<FeedDeclarations> {
  return buildFeedDeclarations(listFeedItems(catalogue, pull), {
    feed: pull.feed,
    pulledAt: await getPulledAt(address, pull),
    allowPrivateNetworks: config.allowPrivateNetworks,
  });
}

/**
 * Ends a pull whose listings are all recorded, in one transaction. A feed that suddenly holds nothing that can be
 * listed is more likely broken than empty: it withdraws nothing, and neither does a pull that a later one has
 * overtaken.
 */
function finishPull(
  catalogue: Catalogue,
  pull: Pull,
  findings: readonly Finding[],
  { recorded, failed }: Recording,
  at: Date,
): Ending {
  const source = { kind: 'bazaar', name: pull.feed } as const;
  const isBare = recorded.length + failed.length === 0 && countStandingDeclarations(catalogue, source) > 0;
  const mayWithdraw = pull.ended === 'complete' && !isBare;
  const held = new Set([...recorded, ...failed].map(({ id }) => id));
  const slugs = writeCatalogue(catalogue, at.toISOString(), (writing) => {
    recordFindings(writing, pull.feed, findings);
    completePull(writing, pull);
    return mayWithdraw && !isOvertaken(catalogue, pull) ? withdrawDeclarations(writing, source, held) : [];
  });
  const withdrawn = slugs.map((slug) => buildWithdrawal(slug, findListing(catalogue, { slug })));
  const getShortfall = () => {
    if (isBare) return 'The feed held nothing that can be listed, so nothing was withdrawn.';
    if (!mayWithdraw) return 'The feed could not be seen to its end, so nothing was withdrawn.';
    return pull.items === 0 ? 'The feed holds no items, so there was nothing to import.' : null;
  };
  return { withdrawn, shortfall: getShortfall() };
}

/**
 * Items that came more than once, word for word or for the same route, count as duplicates; those of a listing that
 * could not be recorded as refused.
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
