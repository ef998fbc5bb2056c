import { z } from 'zod';
import { getRevision, type Writing, writeCatalogue } from '../catalogue/transaction.ts';
import { delistListing, relistListing } from '../catalogue/write/decisions.ts';
import type { Listing } from '../model/listing.ts';
import { type Command, type CommandContext, defineCommand, statedReason } from './command.ts';
import { getListing, withWritableCatalogue } from './open-catalogue.ts';
import type { Page } from './terminal/page.ts';

export const delist: Command = defineCommand({
  summary: 'Remove a listing, and leave a tombstone with the reason',
  details:
    'Readers see it at once: the listing leaves every document and list, and its page answers 410 with the ' +
    "reason. It keeps its slug and id. No import puts it back: only relist does, or the provider's own statement " +
    "if it was removed at the provider's request.",
  arguments: [['<slug>', 'the listing']],
  options: [
    ['--reason <words>', 'why, in words that readers will see (required)'],
    ['--by <whom>', 'who decided: operator (default) or provider'],
  ],
  examples: [['delist example-prices --reason "The provider asked for it" --by provider', "at the provider's request"]],
  input: z.object({
    slug: z.string(),
    reason: statedReason,
    by: z.enum(['operator', 'provider'], 'operator or provider').default('operator'),
  }),
  run: ({ slug, by, reason }, context) =>
    changeState(context, slug, (writing) => delistListing(writing, slug, { by, reason })),
  render: renderStateChange,
});

/** The result of removing a listing or putting it back. */
export interface StateChange {
  /** False if it already was in that state. */
  changed: boolean;
  revision: number;
  before: Listing['state'];
  listing: Listing;
}

/** Changes the state of a listing in one transaction. Throws `not_found` as `getListing` does. */
function changeState(
  context: CommandContext,
  slug: string,
  change: (writing: Writing) => Promise<boolean>,
): Promise<StateChange> {
  return withWritableCatalogue(context, { create: false }, async (catalogue) => {
    const before = await getListing(catalogue, slug);
    const changed = await writeCatalogue(catalogue, context.now().toISOString(), change);
    const revision = await getRevision(catalogue);
    return { changed, revision, before: before.state, listing: await getListing(catalogue, slug) };
  });
}

/** Writes the state of the listing before and now, and the revision from which readers see it. */
function renderStateChange({ changed, revision, before, listing }: StateChange, page: Page): void {
  const { slug, state, state_reason, state_by } = listing;
  if (!changed) {
    page.say(`${slug} is ${state} already${state_reason ? ` (${state_reason})` : ''}; nothing changed.`);
    return;
  }
  const why = state === 'live' || !state_reason ? '' : ` by the ${state_by}: ${state_reason}`;
  page.say(`${slug} was ${before} and is now ${state}${why}.`);
  page.say({ text: `Readers see it from revision ${revision} on; pages follow with the next rebuild.`, style: 'dim' });
}

export const relist: Command = defineCommand({
  summary: 'Put a delisted listing back',
  details:
    'It is live again at once, unless something is missing, such as a price; then it is held. All decisions are ' +
    "lifted, including the provider's. But a decision that the provider states on its own host applies again when " +
    'that statement is next read.',
  arguments: [['<slug>', 'the listing']],
  examples: [['relist example-prices', 'back into every document and list']],
  input: z.object({ slug: z.string() }),
  run: ({ slug }, context) => changeState(context, slug, (writing) => relistListing(writing, slug, { by: 'operator' })),
  render: renderStateChange,
});
