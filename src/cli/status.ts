import { statSync } from 'node:fs';
import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import {
  countListings,
  countPayments,
  getProbingState,
  type ListingCounts,
  type PaymentCounts,
  type ProbingState,
} from '../catalogue/read/counts.ts';
import { countFindings } from '../catalogue/read/findings.ts';
import { type FeedState, listFeedStates } from '../catalogue/read/pulls.ts';
import { getCatalogueState } from '../catalogue/transaction.ts';
import type { Config } from '../config.ts';
import { type FindingCount, getMeaning, sortCounts } from '../importing/report.ts';
import { formatUsdc } from '../model/usdc.ts';
import { type QueueCounts, readQueue } from '../submissions/queue.ts';
import { formatCount } from '../views/words/figures.ts';
import { type Command, defineCommand } from './command.ts';
import { renderCounts } from './finding-words.ts';
import { withReadableCatalogue } from './open-catalogue.ts';
import { describePagesState, getPagesState, type PagesState } from './pages-state.ts';
import { formatBytes, formatTime } from './terminal/format.ts';
import type { Page } from './terminal/page.ts';

interface StatusResult {
  file: string;
  /** Size of its file; null in PostgreSQL. */
  bytes: number | null;
  identity: string;
  revision: number;
  /** Time of the latest change that readers see. */
  revised_at: string;
  listings: ListingCounts;
  findings: FindingCount[];
  feeds: FeedState[];
  probing: ProbingState;
  payments: PaymentCounts;
  pages: PagesState;
  /** Numbers of submissions of the last 30 days; null without an intake. */
  intake: QueueCounts | null;
}

export const status: Command = defineCommand({
  summary: 'Show the state of the catalogue: counts, revision, feeds, findings, pages',
  examples: [
    ['status', 'at a glance'],
    ['status --json', 'for monitoring'],
  ],
  input: z.object({}),
  run: (_, context) =>
    withReadableCatalogue(context, (catalogue) => getStatus(catalogue, context.getConfig(), context.now())),
  render: renderStatus,
});

async function getStatus(catalogue: Catalogue, config: Config, now: Date): Promise<StatusResult> {
  const at = now.toISOString();
  const state = await getCatalogueState(catalogue);
  const counts = (await countFindings(catalogue)).map((count) => ({ ...count, meaning: getMeaning(count.code) }));
  return {
    file: catalogue.name,
    bytes: statSync(catalogue.address, { throwIfNoEntry: false })?.size ?? null,
    ...state,
    listings: await countListings(catalogue),
    findings: sortCounts(counts),
    feeds: await listFeedStates(catalogue, at),
    probing: await getProbingState(catalogue, at),
    payments: await countPayments(catalogue),
    pages: getPagesState(config, state),
    intake: readQueue(config.submissionsFile, (queue) => queue.count()) ?? null,
  };
}

function describeProbing({ last_sample_at, probed, due, never_probed }: ProbingState): string {
  if (last_sample_at === null) return `nothing was probed yet${due > 0 ? `, ${formatCount(due, 'listing')} due` : ''}`;
  return `${formatCount(probed, 'listing')}, ${due} due, ${never_probed} never probed, the last ${formatTime(last_sample_at)}`;
}

function describePayments({ settled, not_settled, open, unconfirmed, spent, still_counted }: PaymentCounts): string {
  if (settled + not_settled + open + unconfirmed === 0) return 'none was made yet';
  const words = `${settled} settled (${formatUsdc(spent)} USDC), ${not_settled} not, ${open} open`;
  if (unconfirmed === 0) return words;
  return `${words}; ${formatUsdc(still_counted)} USDC of ${unconfirmed} more count as spent until a day after their expiry, because one node alone says that they did not settle`;
}

function describeQueue({ submissions, oldest_received_at }: QueueCounts): string {
  const states = Object.entries(submissions).map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`);
  const oldest = oldest_received_at === null ? '' : ` (the oldest since ${formatTime(oldest_received_at)})`;
  return `${states.join(', ')}${oldest}`;
}

function renderStatus(result: StatusResult, page: Page): void {
  const { listings, feeds, findings } = result;
  page.facts([
    ['catalogue', result.bytes === null ? result.file : `${result.file} (${formatBytes(result.bytes)})`],
    ['identity', result.identity],
    ['live', `${listings.live}, ${listings.verified} of them settlement-verified`],
    ['held', String(listings.held)],
    ['delisted', String(listings.delisted)],
    ['revision', `${result.revision}, ${formatTime(result.revised_at)}`],
    ['probing', describeProbing(result.probing)],
    ['payments', describePayments(result.payments)],
    ['pages', describePagesState(result.pages)],
    ...(result.intake ? [['submissions', describeQueue(result.intake)] as const] : []),
  ]);
  if (feeds.length > 0) {
    page.blank();
    page.title('Feeds');
    page.table(
      [{ heading: 'last pulled' }, { heading: 'items', align: 'right' }, { heading: 'feed', cut: true }],
      feeds.map(({ feed, completed_at, items }) => [formatTime(completed_at), items, feed]),
      2,
    );
    for (const { feed, failure } of feeds) {
      if (failure)
        page.say({ text: `${feed} failed: ${failure.message}, ${formatTime(failure.at)}`, style: 'yellow' }, 2);
    }
  }
  if (findings.length > 0) {
    page.blank();
    page.title('Found in the sources');
    renderCounts(findings, page);
  }
}
