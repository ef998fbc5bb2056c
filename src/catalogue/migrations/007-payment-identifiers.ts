import type { SchemaWords } from '../engines.ts';

/** Adds to routes whether their latest valid 402 accepts an id of the payment; null until one was seen. */
export function listStatements({ text }: SchemaWords): readonly string[] {
  return [
    `ALTER TABLE routes ADD COLUMN payment_identifier ${text} CHECK (payment_identifier IN ('none', 'supported', 'required'))`,
  ];
}
