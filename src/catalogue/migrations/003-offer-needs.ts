import type { SchemaWords } from '../engines.ts';

/** Adds to offers the abilities that a client needs to pay them. */
export function listStatements({ text }: SchemaWords): readonly string[] {
  return [`ALTER TABLE terms ADD COLUMN needs ${text}`];
}
