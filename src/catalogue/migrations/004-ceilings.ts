import type { SchemaWords } from '../engines.ts';

/** Adds to receipts the most that the seller might take; null where exactly the amount was signed. */
export function listStatements({ integer }: SchemaWords): readonly string[] {
  return [`ALTER TABLE receipts ADD COLUMN ceiling ${integer}`];
}
