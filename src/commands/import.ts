import { z } from 'zod';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { importFeed } from './import-feed.ts';
import { importManifests } from './import-manifests.ts';
import { type ImportReport, renderReport } from './import-report.ts';
import { writeWith } from './opening.ts';
import { openProgress } from './terminal/progress.ts';

export const importSources: Command = defineCommand({
  summary: 'Put listings into the catalogue: from manifests, or from a Bazaar feed',
  details:
    'Manifests are YAML files, one listing each; of a folder, all its *.yaml files. A broken one is refused whole, with ' +
    'file and line, and the others go in. Importing the same again changes nothing.\n\n' +
    'A feed is pulled page by page to its end, and listings that it no longer holds lose their advertisement. Stopped ' +
    'or killed, the same command goes on where it was within an hour. Everything that is refused is kept with its reason.',
  arguments: [['[path...]', 'manifest files, and folders of them']],
  options: [
    ['--bazaar <url or file>', 'a Bazaar feed: its address (https://…/discovery/resources), or a saved answer'],
  ],
  examples: [
    ['import data/listings', 'every manifest of the folder'],
    ['import --bazaar https://api.example.com/discovery/resources', 'a feed, all its pages'],
  ],
  input: z
    .object({
      path: z.array(z.string().min(1)).default([]),
      bazaar: z.string().min(1, 'an address or a file').optional(),
    })
    .refine(
      ({ path, bazaar }) => path.length > 0 !== (bazaar !== undefined),
      'Give manifests, or one feed with --bazaar.',
    ),
  run: ({ path, bazaar }, context): Promise<ImportReport> =>
    writeWith(context, { create: true }, (catalogue) => {
      const config = context.getConfig();
      const { now, signal } = context;
      if (bazaar === undefined) {
        return importManifests(catalogue, path, { allowPrivateNetworks: config.allowPrivateNetworks, now, signal });
      }
      return importFeed(catalogue, bazaar, { config, now, signal, openProgress: getProgressOpener(context) });
    }),
  render: renderReport,
  isDone: ({ complete }) => complete,
});

function getProgressOpener({ stderr, now }: CommandContext) {
  return (label: string, unit: string) => openProgress(stderr, label, unit, () => now().getTime());
}
