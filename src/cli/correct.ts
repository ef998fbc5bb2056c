import { z } from 'zod';
import { getRevision, writeCatalogue } from '../catalogue/transaction.ts';
import { correctReceipt } from '../catalogue/write/corrections.ts';
import { because, type Command, defineCommand } from './command.ts';
import { withWritableCatalogue } from './open-catalogue.ts';
import type { Page } from './terminal/page.ts';

const input = z.object({ receipt: z.uuid('the id of a receipt'), because });

interface CorrectResult {
  receipt: string;
  slug: string;
  because: string;
  /** False if it already had this correction. */
  changed: boolean;
  revision: number;
}

export const correct: Command = defineCommand({
  summary: 'Correct the record of a paid call, with the reason',
  details:
    'For a receipt with a wrong result, for example because our request was one that no honest seller could ' +
    'answer. From then on it counts neither for nor against its route: a verification by it ends, and so does a ' +
    'caution that depends on it. The receipt stays public, with the reason beside it, and the correction is a ' +
    'public change. Another reason replaces the first.',
  arguments: [['<receipt>', 'id of the receipt; the command receipts lists them']],
  options: [['--because <reason>', 'why, in words that readers see']],
  examples: [
    ['correct 0d6f1c1e-… --because "Our request lacked the field symbol."', 'ends the caution; the reason is public'],
  ],
  input,
  run: ({ receipt, because }, context) =>
    withWritableCatalogue(context, { create: false }, async (catalogue): Promise<CorrectResult> => {
      const corrected = await writeCatalogue(catalogue, context.now().toISOString(), (writing) =>
        correctReceipt(writing, receipt, because),
      );
      return { receipt, because, ...corrected, revision: await getRevision(catalogue) };
    }),
  render: ({ receipt, slug, changed, revision }: CorrectResult, page: Page) => {
    if (!changed) {
      page.say(`The receipt ${receipt} of ${slug} already has this correction; nothing changed.`);
      return;
    }
    page.say(`The receipt ${receipt} of ${slug} is corrected: it no longer counts for or against its route.`);
    page.say({
      text: `Readers see it from revision ${revision} on; pages follow with the next rebuild.`,
      style: 'dim',
    });
  },
});
