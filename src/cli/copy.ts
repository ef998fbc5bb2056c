import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type CopiedCatalogue, copyCatalogue } from '../catalogue/copy.ts';
import { type Catalogue, openCatalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { refuseMissingFolder } from '../catalogue/folder.ts';
import { ServiceError } from '../errors.ts';
import { isPostgresAddress } from '../model/catalogue-address.ts';
import { type Command, defineCommand } from './command.ts';
import { openProgress } from './terminal/progress.ts';

const place = z.string().min(1, 'a file, or the address of a PostgreSQL database');

interface CopyResult extends CopiedCatalogue {
  from: string;
  to: string;
}

export const copy: Command = defineCommand({
  summary: 'Copy a catalogue into a new file or an empty PostgreSQL database',
  details:
    'Either place is a file or an address such as postgres://user:password@host/name. The copy is the state of one ' +
    'moment, keeps identity and revisions, and is compared row by row before it is kept. It moves a catalogue from one ' +
    'engine to the other, backs up one in PostgreSQL while it is in use, and restores a backup. Nothing is replaced: ' +
    'the target must be new. Stop what writes to the source before you change CATALOGUE to the copy.',
  arguments: [
    ['<from>', 'the catalogue to copy'],
    ['<to>', 'where nothing is yet'],
  ],
  examples: [
    ['copy data/catalogue.sqlite postgres://catalogue@db.internal/catalogue', 'moves to PostgreSQL'],
    ['copy postgres://catalogue@db.internal/catalogue backup.sqlite', 'a backup in one file'],
  ],
  input: z.object({ from: place, to: place }),
  run: async ({ from, to }, { stderr, now, signal }): Promise<CopyResult> => {
    const [source, wanted] = [from, to].map((one) => (isPostgresAddress(one) ? one : resolve(one))) as [string, string];
    if (!isPostgresAddress(wanted)) refuseMissingFolder(wanted);
    const held = await openSource(source);
    const progress = openProgress(stderr, 'Copying', 'rows');
    try {
      const target = await openCatalogue(wanted, { identity: randomUUID(), at: now().toISOString() });
      try {
        const copied = await copyCatalogue(held, target, { onCopied: (rows) => progress.update(rows), signal });
        return { from: held.name, to: target.name, ...copied };
      } finally {
        await target.close();
      }
    } finally {
      progress.stop();
      await held.close();
    }
  },
  render: ({ from, to, revision, rows }, page) => {
    page.say(`Copied revision ${revision} of ${from} to ${to}: ${rows} rows, each compared.`);
  },
});

/** Opens the catalogue to copy. Throws `no_catalogue` with a hint about the argument, since the usual hint names CATALOGUE. */
async function openSource(address: string): Promise<Catalogue> {
  try {
    return await openCatalogueForReading(address);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.reason !== 'no_catalogue') throw error;
    const { code, message, reason } = error;
    throw new ServiceError(code, message, {
      hint: 'Name the catalogue to copy first: its file, or the address of its database.',
      reason,
      cause: error,
    });
  }
}
