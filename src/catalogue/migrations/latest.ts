/** Name of the last migration, for those who read a catalogue without Kysely. */
export const LATEST_MIGRATION = '006-notices';
