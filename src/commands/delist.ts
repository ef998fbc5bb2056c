import { z } from 'zod';
import { delistListing } from '../catalogue/delisting.ts';
import { getRevision, writeCatalogue } from '../catalogue/write.ts';
import { type Command, defineCommand } from './command.ts';
import { getListing, writeWith } from './opening.ts';
import { renderStateChange, type StateChange } from './state-change.ts';

const REASON_LENGTH = 300;

export const delist: Command = defineCommand({
  summary: 'Take a listing out, and leave a tombstone with the reason',
  details:
    'Readers see it at once: it leaves every document and list, and its page answers 410 with the reason. Slug and id ' +
    "stay its own. No import puts it back: relist does, and what went at the provider's wish, its own statement.",
  arguments: [['<slug>', 'the listing']],
  options: [
    ['--reason <words>', 'why, in words that readers will see (required)'],
    ['--by <whom>', 'who decided: operator (default) or provider'],
  ],
  examples: [
    ['delist example-prices --reason "The provider asked for it" --by provider', 'at the wish of the provider'],
  ],
  input: z.object({
    slug: z.string(),
    reason: z
      .string('a reason that readers will see')
      .trim()
      .min(1, 'a reason that readers will see')
      .max(REASON_LENGTH, `a reason of at most ${REASON_LENGTH} characters`)
      .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, 'one line of plain text'),
    by: z.enum(['operator', 'provider'], 'operator or provider').default('operator'),
  }),
  run: ({ slug, by, reason }, context) =>
    writeWith(context, { create: false }, (catalogue): StateChange => {
      const before = getListing(catalogue, slug);
      const changed = writeCatalogue(catalogue, context.now().toISOString(), (writing) =>
        delistListing(writing, slug, { by, reason }),
      );
      return { changed, revision: getRevision(catalogue), before: before.state, listing: getListing(catalogue, slug) };
    }),
  render: renderStateChange,
});
