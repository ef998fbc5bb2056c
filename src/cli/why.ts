import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { listChanges } from '../catalogue/read/changes.ts';
import { listDeclarations } from '../catalogue/read/declarations.ts';
import { listFindingsAbout, type RecordedFinding } from '../catalogue/read/findings.ts';
import { findListing } from '../catalogue/read/listings.ts';
import { ServiceError } from '../errors.ts';
import type { Listing } from '../model/listing.ts';
import { formatRoute } from '../model/route.ts';
import { type Decision, describeDecision, describeSource } from '../views/words/decision.ts';
import { describeSources } from '../views/words/source.ts';
import { type Command, defineCommand } from './command.ts';
import { describeCautionOnRecord, renderFindings } from './finding-words.ts';
import { getListing, withReadableCatalogue } from './open-catalogue.ts';
import { formatTime } from './terminal/format.ts';
import type { Page } from './terminal/page.ts';

/** Most decisions that are shown. */
const DECISION_LIMIT = 100_000;

interface WhyResult {
  /** Slug; null for an address without a listing. */
  slug: string | null;
  state: Listing['state'] | null;
  /** Reasons for its current state, in sentences. */
  standing: string[];
  decisions: Decision[];
  findings: RecordedFinding[];
}

export const why: Command = defineCommand({
  summary: 'Explain the state of a listing: every decision with its reason and evidence',
  details:
    'Also takes an address: then it lists what was found there in the feeds, and so explains why something is not ' +
    'listed at all.',
  arguments: [['<slug>', 'the listing, or an address (https://…)']],
  examples: [
    ['why example-prices', 'its whole history'],
    ['why https://api.example.com/v1', 'why nothing is listed there'],
  ],
  input: z.object({ slug: z.string() }),
  run: ({ slug }, context) =>
    withReadableCatalogue(context, async (catalogue) =>
      /^https?:/i.test(slug) && URL.canParse(slug)
        ? await explainAddress(catalogue, slug)
        : await explain(catalogue, slug),
    ),
  render: renderWhy,
});

async function explain(catalogue: Catalogue, slug: string): Promise<WhyResult> {
  const listing = await getListing(catalogue, slug);
  return {
    slug,
    state: listing.state,
    standing: await listStateSentences(catalogue, listing),
    decisions: (await listChanges(catalogue, slug, { limit: DECISION_LIMIT })).map(describeDecision),
    findings: await listFindingsAbout(catalogue, listing.base_url),
  };
}

async function explainAddress(catalogue: Catalogue, address: string): Promise<WhyResult> {
  const findings = await listFindingsAbout(catalogue, address);
  const listing = await findListingAt(catalogue, address);
  if (listing) return { ...(await explain(catalogue, listing.slug)), findings };
  if (findings.length > 0)
    return { slug: null, state: null, standing: ['No listing has this address.'], decisions: [], findings };
  throw new ServiceError('not_found', `Nothing is on record about ${address}.`, {
    hint: 'No imported source has named it.',
    reason: 'no_listing',
  });
}

async function findListingAt(catalogue: Catalogue, address: string): Promise<Listing | undefined> {
  return (
    (await findListing(catalogue, { base_url: address })) ??
    (await findListing(catalogue, { base_url: new URL(address).origin }))
  );
}

async function listStateSentences(catalogue: Catalogue, listing: Listing): Promise<string[]> {
  const { id, state, state_reason, state_by, state_at } = listing;
  const said = describeSources(listing);
  const withdrawn = (await listDeclarations(catalogue, id)).filter(({ withdrawn_at }) => withdrawn_at !== null);
  // The listing still names its sources while every one has withdrawn it.
  const isWithdrawn = listing.cautions.some(({ code }) => code === 'withdrawn');
  const standing = isWithdrawn ? [] : listing.sources;
  const by = [
    ...standing.map((source, at) => {
      const words = said[at];
      return `On record from ${describeSource(source)}; ${words?.authority}: ${words?.said || 'nothing that a source before it does not say'}.`;
    }),
    ...withdrawn.map(
      ({ declaration: { source }, withdrawn_at }) =>
        `On record from ${describeSource(source)}, withdrawn ${formatTime(withdrawn_at)}.`,
    ),
  ];
  if (state === 'live') {
    return ['It is live: it has a price, and nobody removed it.', ...listCautionLines(listing), ...by];
  }
  if (state === 'delisted') {
    return [`It is not live: the ${state_by} removed it, ${formatTime(state_at)}: ${state_reason}.`, ...by];
  }
  return [
    state_reason === 'no_price'
      ? 'It is not live: no source states a price that can be taken. It goes live when one does.'
      : `It is not live: ${state_reason}.`,
    ...by,
  ];
}

/** Describes the current cautions, each with its evidence and the provider's reply. */
function listCautionLines(listing: Listing): string[] {
  const all = [
    ...listing.cautions.map((caution) => ({ subject: 'the whole listing', caution })),
    ...listing.routes.flatMap((route) => route.cautions.map((caution) => ({ subject: formatRoute(route), caution }))),
  ];
  return all.map(({ subject, caution }) => {
    const name = caution.severity === 'danger' ? 'Danger' : 'Caution';
    return `${name}, ${subject}: ${describeCautionOnRecord(caution)}`;
  });
}

function renderWhy({ slug, state, standing, decisions, findings }: WhyResult, page: Page): void {
  if (slug !== null) page.title(`${slug}: ${state}`);
  for (const sentence of standing) page.say(sentence);
  renderTimeline(decisions, page);
  if (findings.length > 0) {
    page.blank();
    page.title('What was found in the sources');
    renderFindings(findings, page);
  }
}

/** Writes decisions in groups, one for each revision with its time. */
function renderTimeline(decisions: readonly Decision[], page: Page): void {
  for (const together of Map.groupBy(decisions, ({ revision }) => revision).values()) {
    const [first] = together;
    page.blank();
    page.say({ text: `${formatTime(first?.at ?? null)}  revision ${first?.revision}`, style: 'dim' });
    for (const { what, why: reason, evidence } of together) {
      page.say(`${what}: ${reason}.`, 2);
      for (const line of evidence) page.say({ text: line, style: 'dim' }, 4);
    }
  }
}
