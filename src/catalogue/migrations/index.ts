import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Engine, SchemaWords } from '../engines.ts';
import { listStatements as catalogue } from './001-catalogue.ts';
import { listStatements as probers } from './002-probers.ts';
import { listStatements as offerNeeds } from './003-offer-needs.ts';
import { listStatements as ceilings } from './004-ceilings.ts';
import { listStatements as authority } from './005-authority.ts';
import { listStatements as notices } from './006-notices.ts';
import { listStatements as paymentIdentifiers } from './007-payment-identifiers.ts';
import { listStatements as wholeSources } from './008-whole-sources.ts';
import { listStatements as hostTimes } from './009-host-times.ts';

/**
 * All migrations, in the order of their names. Add new ones at the end; never change a released one. A test has a catalogue of
 * each version.
 */
const MIGRATIONS: Readonly<Record<string, (words: SchemaWords) => readonly string[]>> = {
  '001-catalogue': catalogue,
  '002-probers': probers,
  '003-offer-needs': offerNeeds,
  '004-ceilings': ceilings,
  '005-authority': authority,
  '006-notices': notices,
  '007-payment-identifiers': paymentIdentifiers,
  '008-whole-sources': wholeSources,
  '009-host-times': hostTimes,
};

/** Builds the migrations for an engine. */
export function buildMigrations({ words }: Pick<Engine, 'words'>): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, listStatements]) => [
      name,
      {
        async up(database) {
          for (const statement of listStatements(words)) await sql.raw(statement).execute(database);
        },
      },
    ]),
  );
}
