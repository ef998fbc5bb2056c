/** Payment attempts, and for each receipt (which has the id of its attempt) all that is needed to check it. */
export const sql = `
CREATE TABLE payments (
  id TEXT PRIMARY KEY,
  route_id TEXT NOT NULL REFERENCES routes (id),
  payer TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  state TEXT NOT NULL CHECK (state IN ('prepared', 'sent', 'settled', 'not_settled', 'unknown')),
  prepared_at TEXT NOT NULL,
  document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
CREATE INDEX payments_open ON payments (payer) WHERE state IN ('prepared', 'sent', 'unknown');
ALTER TABLE receipts ADD COLUMN genesis TEXT NOT NULL DEFAULT '';
ALTER TABLE receipts ADD COLUMN request TEXT NOT NULL DEFAULT 'null' CHECK (json_valid(request));

UPDATE listings SET document = json_set(
  document,
  '$.routes', json((SELECT json_group_array(json(json_set(value, '$.undelivered', NULL)))
                    FROM json_each(listings.document, '$.routes')))
) WHERE document != '{}';

CREATE INDEX payments_by_time ON payments (prepared_at, state, amount);
`;
