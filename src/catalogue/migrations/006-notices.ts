import type { SchemaWords } from '../engines.ts';

/** Lists the statements that create the tables for notices to providers, and for the key that signs events. */
export function listStatements({ text, integer, strict }: SchemaWords): readonly string[] {
  return [
    `ALTER TABLE catalogue ADD COLUMN webhook_key ${text}`,
    `CREATE TABLE subscriptions (
      origin ${text} PRIMARY KEY,
      webhook ${text} NOT NULL,
      kinds ${text} NOT NULL,
      test ${text},
      tested ${text},
      state ${text} NOT NULL CHECK (state IN ('asked', 'refused', 'on', 'off')),
      since ${text} NOT NULL,
      reason ${text},
      next_at ${text} NOT NULL,
      proofs_at ${text} NOT NULL,
      day ${text} NOT NULL,
      told ${integer} NOT NULL,
      left_out ${integer} NOT NULL
    ) ${strict}`,
    `CREATE TABLE deliveries (
      id ${text} PRIMARY KEY,
      origin ${text} NOT NULL,
      kind ${text} NOT NULL,
      at ${text} NOT NULL,
      data ${text} NOT NULL,
      state ${text} NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
      attempts ${integer} NOT NULL,
      next_at ${text} NOT NULL
    ) ${strict}`,
    "CREATE INDEX deliveries_waiting ON deliveries (next_at, origin) WHERE state = 'waiting'",
  ];
}
