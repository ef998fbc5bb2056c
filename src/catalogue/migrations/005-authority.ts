import type { SchemaWords } from '../engines.ts';

/**
 * Lists the statements by which declarations and declared terms say when they were heard, an x402 file is a kind of source of
 * its own, and the catalogue knows by which version of the rules its listings were derived.
 */
export function listStatements({ text, integer }: SchemaWords): readonly string[] {
  return [
    `ALTER TABLE declarations ADD COLUMN heard_at ${text}`,
    `ALTER TABLE terms ADD COLUMN heard_at ${text}`,
    `ALTER TABLE catalogue ADD COLUMN rules ${integer} NOT NULL DEFAULT 0`,
    `UPDATE declarations SET kind = 'x402_file',
      document = replace(document, '{"source":{"kind":"openapi"', '{"source":{"kind":"x402_file"')
      WHERE kind = 'openapi' AND (source LIKE '%/.well-known/x402' OR source LIKE '%/.well-known/x402.json')`,
  ];
}
