import { once } from 'node:events';
import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { holdState } from '../catalogue/held-state.ts';
import { getRevision } from '../catalogue/write.ts';
import { getSite } from '../release/release.ts';
import { formatCount } from '../views/description.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { generateJson, generateLines } from './export-document.ts';
import { checkTarget, type ExportOutcome, writeExportFile } from './export-file.ts';
import { readWith } from './opening.ts';
import { formatBytes } from './terminal/listing-words.ts';

export const exportCatalogue: Command = defineCommand({
  summary: 'Write the public catalogue: live listings and tombstones',
  details:
    'One JSON value to a line (NDJSON): first what the catalogue is, then every live listing by slug, as ' +
    '/agent/listings/{slug} answers it, then every tombstone; "kind" says which. With --json, one document. The same ' +
    'revision gives the same bytes.',
  options: [
    ['--output <file>', 'into a file; an earlier export is replaced once this one is complete, and nothing else'],
    ['--force', 'replace the file whatever it holds'],
  ],
  examples: [
    ['export > catalogue.ndjson', 'to standard output'],
    ['export --json --output public/catalogue.json', 'one document, into a file'],
  ],
  input: z
    .object({ output: z.string().min(1, 'a file name').optional(), force: z.boolean().default(false) })
    .refine(({ output, force }) => output !== undefined || !force, '--force goes with --output.'),
  run: ({ output, force }, context) =>
    readWith(context, (catalogue) => {
      if (output !== undefined) checkTarget(output, { catalogueFile: catalogue.file, force });
      return holdState(catalogue, () => writeExport(catalogue, output, context));
    }),
  render: ({ file, listings, tombstones, bytes, revision }, page) => {
    const what = `${formatCount(listings, 'listing')} and ${formatCount(tombstones, 'tombstone')} of revision ${revision}`;
    page.say(`Wrote ${what} into ${file} (${formatBytes(bytes)}).`);
  },
});

async function writeExport(
  catalogue: Catalogue,
  output: string | undefined,
  { json, stdout, signal, getConfig }: CommandContext,
): Promise<ExportOutcome | undefined> {
  const site = getSite(getConfig());
  const pieces = json ? generateJson(catalogue, site) : generateLines(catalogue, site);
  if (output !== undefined) {
    return writeExportFile(output, pieces, { revision: getRevision(catalogue), signal });
  }
  for (const { text } of pieces) {
    if (signal.aborted) break;
    if (!stdout.write(text)) await once(stdout, 'drain');
  }
  return undefined;
}
