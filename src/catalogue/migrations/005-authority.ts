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
    // Keys of names take i and l for one letter from here on. The listing that had a name first keeps it.
    `DELETE FROM listing_names WHERE EXISTS (SELECT 1 FROM listing_names AS other
      WHERE other.listing_id = listing_names.listing_id AND other.name < listing_names.name
        AND replace(other.name, 'i', 'l') = replace(listing_names.name, 'i', 'l'))`,
    "UPDATE listing_names SET name = replace(name, 'i', 'l')",
  ];
}
