import type { SchemaWords } from '../engines.ts';

/**
 * Lists the statements that record when declarations and declared terms were heard, make x402 files a kind of source of their
 * own, and store the version of the rules by which the listings were derived.
 */
export function listStatements({ text, integer }: SchemaWords): readonly string[] {
  return [
    `ALTER TABLE declarations ADD COLUMN heard_at ${text}`,
    `ALTER TABLE terms ADD COLUMN heard_at ${text}`,
    `ALTER TABLE catalogue ADD COLUMN rules ${integer} NOT NULL DEFAULT 0`,
    `UPDATE declarations SET kind = 'x402_file',
      document = replace(document, '{"source":{"kind":"openapi"', '{"source":{"kind":"x402_file"')
      WHERE kind = 'openapi' AND (source LIKE '%/.well-known/x402' OR source LIKE '%/.well-known/x402.json')`,
    // From here on, keys of names treat i and l as one letter. The listing that had a name first keeps it.
    `DELETE FROM listing_names WHERE EXISTS (SELECT 1 FROM listing_names AS other
      WHERE other.listing_id = listing_names.listing_id AND other.name < listing_names.name
        AND replace(other.name, 'i', 'l') = replace(listing_names.name, 'i', 'l'))`,
    "UPDATE listing_names SET name = replace(name, 'i', 'l')",
  ];
}
