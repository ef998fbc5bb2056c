import type { SchemaWords } from '../engines.ts';

/** Adds to offers what a client must be able to do to pay them. */
export function listStatements({ text }: SchemaWords): readonly string[] {
  return [`ALTER TABLE terms ADD COLUMN needs ${text}`];
}
