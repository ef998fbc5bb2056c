import { z } from 'zod';
import { type Backup, backUpCatalogue } from '../catalogue/backup.ts';
import { type Command, defineCommand } from './command.ts';
import { withReadableCatalogue } from './open-catalogue.ts';
import { formatBytes } from './terminal/format.ts';
import { openProgress } from './terminal/progress.ts';

export const backup: Command = defineCommand({
  summary: 'Copy the catalogue into one file, while it is in use',
  details:
    'The copy is the state of one moment. It is checked before it gets its name, and needs no other files.\n\n' +
    'To restore: stop the service, remove the files <catalogue>-wal and <catalogue>-shm, put the backup in the ' +
    'place of the catalogue (CATALOGUE), and start the service. A backup by older code is migrated when a command ' +
    'first writes to it.',
  arguments: [['<file>', 'the file to write']],
  options: [['--force', 'replace a file that is already there']],
  examples: [['backup /var/backups/catalogue-2026-11-20.sqlite', 'a dated copy']],
  input: z.object({ file: z.string().min(1, 'a file name'), force: z.boolean().default(false) }),
  run: ({ file, force }, context) =>
    withReadableCatalogue(context, async (catalogue): Promise<Backup> => {
      const progress = openProgress(context.stderr, 'Copying', 'pages', () => context.now().getTime());
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
