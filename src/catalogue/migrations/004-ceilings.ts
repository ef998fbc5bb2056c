import type { SchemaWords } from '../engines.ts';

/** Adds to receipts the most that the seller could take; null if exactly the amount was signed. */
export function listStatements({ integer }: SchemaWords): readonly string[] {
  return [`ALTER TABLE receipts ADD COLUMN ceiling ${integer}`];
}
