/**
 * The primary network of each listing, as far as its document shows it: Solana if only that is advertised. A listing that
 * only declares Solana is corrected when it is next published, or by `check --repair`.
 */
export const sql = `
UPDATE listings SET document = json_set(
  document,
  '$.primary_network', CASE
    WHEN EXISTS (SELECT 1 FROM json_each(listings.document, '$.networks')
                 WHERE value ->> '$.key' = 'solana' AND value ->> '$.advertised')
     AND NOT EXISTS (SELECT 1 FROM json_each(listings.document, '$.networks')
                     WHERE value ->> '$.key' = 'base' AND value ->> '$.advertised')
    THEN 'solana' ELSE 'base' END
) WHERE document != '{}';
`;
