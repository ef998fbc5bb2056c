import type { SchemaWords } from '../engines.ts';

/** Drops the position at which an unfinished pull of a feed continues, and adds the hash of a provider's file. */
export function listStatements({ text }: SchemaWords): readonly string[] {
  return [
    'ALTER TABLE pulls DROP COLUMN next_offset',
    'ALTER TABLE pulls DROP COLUMN updated_at',
    `ALTER TABLE hosts ADD COLUMN file_hash ${text}`,
  ];
}
