import { z } from 'zod';
import { listDeclarations } from '../catalogue/derivation.ts';
import { listFindingsAbout } from '../catalogue/findings.ts';
import { listReceipts } from '../catalogue/receipts.ts';
import { getRevision } from '../catalogue/write.ts';
import { type Command, defineCommand } from './command.ts';
import { renderListing, type ShowResult } from './listing-report.ts';
import { getListing, readWith } from './opening.ts';

export const show: Command = defineCommand({
  summary: 'Show everything on record about one listing',
  details: 'With --json, what each source says stands there whole, and amounts are atomic USDC (6 decimals).',
  arguments: [['<slug>', 'the listing']],
  examples: [['show example-prices', 'texts, routes, terms, networks, sources, receipts and findings']],
  input: z.object({ slug: z.string() }),
  run: ({ slug }, context) =>
    readWith(context, (catalogue): ShowResult => {
      const listing = getListing(catalogue, slug);
      return {
        revision: getRevision(catalogue),
        listing,
        declarations: listDeclarations(catalogue, listing.id),
        receipts: listReceipts(catalogue, listing.id),
        findings: listFindingsAbout(catalogue, listing.base_url),
      };
    }),
  render: renderListing,
});
