import { z } from 'zod';
import { RELIABILITY_METHOD } from '../evidence/reliability.ts';
import { getLatestProbeAt, LONGEST_PAUSE_MS } from '../evidence/schedule.ts';
import { buildBadgeLines } from './badge.ts';
import { buildUrl, PATHS } from './links.ts';
import type { AgentItem } from './listing/item.ts';
import { checkLine } from './provider-check.ts';
import type { Site } from './site.ts';
import { formatMinute } from './words/figures.ts';

/** The states of a submission, in order. A missing file counts as a problem. */
export const submissionState = z.enum(['problems', 'received', 'listed', 'refused']);

/** A state that a submission reached, with its reason. */
export const submissionStep = z.object({ state: submissionState, at: z.iso.datetime(), reason: z.string() });

const nextStep = z.object({
  what: z.string(),
  when: z.string().describe('When it comes, or when it came'),
  done: z.boolean(),
});

/** A submission at its address. */
const submissionView = z.object({
  submission_url: z.url().describe('Address of this submission, for 30 days; nobody can guess it'),
  host: z.string().describe('Scheme, host and port'),
  file_url: z.url().describe('Where the file belongs'),
  file: z
    .string()
    .nullable()
    .describe(
      'The file, filled in by what the last check of the host found; null if nothing was: write it by /docs/providers',
    ),
  state: submissionState,
  reason: z.string(),
  at: z.iso.datetime().describe('Time since which it is in this state'),
  checking: z.boolean().describe('True while it is being looked whether the file is there'),
  problems: z.array(checkLine).describe('What is wrong with the file, each with its place'),
  history: z.array(submissionStep),
  listings: z.array(
    z.object({ title: z.string(), page_url: z.url(), badge: z.string().describe('Badge to copy, as Markdown') }),
  ),
  next: z.array(nextStep).describe('What comes after the listing'),
});
export type SubmissionView = z.infer<typeof submissionView>;

/** The request to list a host. */
export const submissionRequest = z.object({ url: z.string().max(2048).describe('A host such as api.example.com') });

/** The content of a submission's page. */
export interface JourneyPage {
  readonly view: SubmissionView;
  readonly problem?: { readonly detail: string; readonly hint?: string | undefined } | undefined;
}

/** The facts of a live listing that determine the next steps. */
export type ListedItem = Pick<AgentItem, 'slug' | 'title' | 'reliability_score' | 'verified_route_count'> & {
  readonly samples: number;
  readonly last_sample_at: string | null;
};

/** Lists the steps after a listing, with times. `listedAt` is ISO 8601 UTC. */
export function listNextSteps(item: ListedItem, listedAt: string): z.infer<typeof nextStep>[] {
  const { last_sample_at, samples, reliability_score: score, verified_route_count: verified } = item;
  const { scored } = RELIABILITY_METHOD;
  const firstBy = new Date(Math.ceil((Date.parse(listedAt) + LONGEST_PAUSE_MS) / 60_000) * 60_000).toISOString();
  const probe = last_sample_at
    ? {
        what: 'First probe',
        when: `came; the next one by ${formatMinute(getLatestProbeAt(last_sample_at))}`,
        done: true,
      }
    : { what: 'First probe', when: `by ${formatMinute(firstBy)}, where this catalogue probes`, done: false };
  const wait = `after ${scored.days} days and ${scored.samples} samples; there are ${samples}`;
  return [
    probe,
    { what: 'Score of reliability', when: score === null ? wait : `${score} of 100`, done: score !== null },
    {
      what: 'Proof that a payment brings the product',
      when:
        verified > 0 ? `for ${verified} of its routes` : 'when we have paid for a real call, at a time that we choose',
      done: verified > 0,
    },
  ];
}

/** Returns the address of a listing's page, and its badge. */
export function buildListed(
  { slug, title }: Pick<ListedItem, 'slug' | 'title'>,
  site: Site,
): SubmissionView['listings'][number] {
  const page_url = buildUrl(site.baseUrl, PATHS.listing(slug));
  return { title, page_url, badge: buildBadgeLines(slug, site).markdown };
}

/** Writes a provider file with these entries. */
export function writeStatement(listings: readonly object[]): string {
  return JSON.stringify({ version: 1, listings }, null, 2);
}

/** Writes an example provider file for a host. It is not valid until it has the provider's own route and price. */
export function writeExampleStatement(host: string): string {
  const routes = [{ method: 'GET', path: '/your/route', price_usdc: 'your price, such as 0.01' }];
  const facts = { name: new URL(host).hostname, tagline: 'What it does, in a few words', routes };
  return writeStatement([{ base_url: host, listed: true, facts }]);
}
