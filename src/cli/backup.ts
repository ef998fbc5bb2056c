import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Backup, backUpCatalogue, restoreCatalogue } from '../catalogue/backup.ts';
import { type Command, defineCommand } from './command.ts';
import { withReadableCatalogue } from './open-catalogue.ts';
import { formatBytes } from './terminal/format.ts';
import { openProgress } from './terminal/progress.ts';

export const backup: Command = defineCommand({
  summary: 'Copy the catalogue into one file, while it is in use',
  details:
    'The copy is the state of one moment. It is checked before it gets its name, and needs no other files. The command ' +
    'restore puts it back.',
  arguments: [['<file>', 'the file to write']],
  options: [['--force', 'replace a file that is already there']],
  examples: [['backup /var/backups/catalogue-2026-11-20.sqlite', 'a dated copy']],
  input: z.object({ file: z.string().min(1, 'a file name'), force: z.boolean().default(false) }),
  run: ({ file, force }, context) =>
    withReadableCatalogue(context, async (catalogue): Promise<Backup> => {
      const progress = openProgress(context.stderr, 'Copying', 'pages');
      try {
        return await backUpCatalogue(catalogue, file, {
          replace: force,
          onProgress: progress.update,
          signal: context.signal,
        });
      } finally {
        progress.stop();
      }
    }),
  render: ({ file, bytes, revision }, page) => {
    page.say(`Copied revision ${revision} to ${file} (${formatBytes(bytes)}) and checked the copy: it is sound.`);
  },
});

export const restore: Command = defineCommand({
  summary: 'Put a backup in the place of the catalogue, while nobody uses it',
  details:
    'Stop the server, the prober, the private figures and the timers before, and start them again afterwards. The backup ' +
    'is checked first, migrated if older code wrote it, and given a new identity, by which all who follow the catalogue ' +
    'know to start again. The catalogue of before stays beside it.\n\n' +
    'Into PostgreSQL a backup is restored by copy: create an empty database, run "copy <backup> <its address>", and set ' +
    'CATALOGUE to it.',
  arguments: [['<backup>', 'a file that the command backup wrote']],
  examples: [['restore /var/backups/catalogue-2026-11-20.sqlite', 'after a fault of the disk']],
  input: z.object({ backup: z.string().min(1, 'a file name') }),
  run: ({ backup: from }, { getConfig, now, signal }) => {
    const renewed = { identity: randomUUID(), at: now().toISOString() };
    return restoreCatalogue(from, getConfig().catalogueAddress, renewed, signal);
  },
  render: ({ file, bytes, revision, kept }, page) => {
    page.say(`Restored ${file} (${formatBytes(bytes)}), now at revision ${revision}. It is checked, and sound.`);
    if (kept !== null) page.say(`The catalogue of before is ${kept}.`);
  },
});
