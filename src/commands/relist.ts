import { z } from 'zod';
import { relistListing } from '../catalogue/delisting.ts';
import { getRevision, writeCatalogue } from '../catalogue/write.ts';
import { type Command, defineCommand } from './command.ts';
import { getListing, writeWith } from './opening.ts';
import { renderStateChange, type StateChange } from './state-change.ts';

export const relist: Command = defineCommand({
  summary: 'Put a delisted listing back',
  details:
    'It is live again at once, unless something else is missing, such as a price; then it is held. Every decision is ' +
    "lifted, the provider's too; but one that its provider states on its own host stands again when that is next read.",
  arguments: [['<slug>', 'the listing']],
  examples: [['relist example-prices', 'back into every document and list']],
  input: z.object({ slug: z.string() }),
  run: ({ slug }, context) =>
    writeWith(context, { create: false }, (catalogue): StateChange => {
      const before = getListing(catalogue, slug);
      const changed = writeCatalogue(catalogue, context.now().toISOString(), (writing) =>
        relistListing(writing, slug, { by: 'operator' }),
      );
      return { changed, revision: getRevision(catalogue), before: before.state, listing: getListing(catalogue, slug) };
    }),
  render: renderStateChange,
});
