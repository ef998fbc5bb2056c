/**
 * Samples say how long the answer took; those on record did not measure it. The index covers what is read of all samples
 * of a listing, so it has the new column, too.
 */
export const sql = `
ALTER TABLE samples ADD COLUMN latency_ms INTEGER CHECK (latency_ms >= 0);
DROP INDEX samples_by_listing;
CREATE INDEX samples_by_listing ON samples (listing_id, at, route_id, outcome, cause, status, round, latency_ms);

UPDATE listings SET document = json_set(
  document,
  '$.latency', NULL,
  '$.routes', json((SELECT json_group_array(json(iif(value ->> '$.probe' IS NULL, value, json_set(value, '$.probe.latency', NULL))))
                    FROM json_each(listings.document, '$.routes')))
) WHERE document != '{}';
`;
