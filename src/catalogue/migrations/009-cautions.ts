/** The subject of a change: as before, and now also each caution and each corrected receipt. */
const SUBJECT = `CASE
  WHEN NEW.kind IN ('listed', 'held', 'delisted', 'relisted') THEN 'state'
  WHEN NEW.kind IN ('verified', 'unverified') THEN 'verification of ' || COALESCE(json_extract(NEW.detail, '$.route'), '')
  WHEN NEW.kind IN ('cautioned', 'cleared') THEN 'caution ' || json_extract(NEW.detail, '$.code')
  WHEN NEW.kind = 'corrected' THEN 'correction of ' || json_extract(NEW.detail, '$.receipt_id')
  ELSE NEW.kind
END`;

/**
 * Cautions: why a paid answer was not recognised as the product, the operator's corrections of receipts, and the names of
 * listings, so that one that imitates another is found. Documents have no cautions until they are derived again by
 * `check --repair`.
 */
export const sql = `
ALTER TABLE receipts ADD COLUMN unrecognised TEXT;

CREATE TABLE corrections (
  receipt_id TEXT PRIMARY KEY REFERENCES receipts (id) ON DELETE CASCADE,
  because TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;

CREATE TABLE listing_names (
  name TEXT NOT NULL,
  listing_id TEXT NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
  domain TEXT NOT NULL,
  known INTEGER NOT NULL CHECK (known IN (0, 1)),
  since TEXT NOT NULL,
  PRIMARY KEY (name, listing_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX listing_names_by_listing ON listing_names (listing_id);
CREATE INDEX listing_names_known ON listing_names (name) WHERE known = 1;

DROP TRIGGER changes_latest;
CREATE TRIGGER changes_latest AFTER INSERT ON changes BEGIN
  INSERT INTO latest_changes (listing_id, subject, seq) VALUES (NEW.listing_id, ${SUBJECT}, NEW.seq)
    ON CONFLICT (listing_id, subject) DO UPDATE SET seq = excluded.seq;
END;

DROP INDEX changes_telling;
ALTER TABLE changes DROP COLUMN telling;
ALTER TABLE changes ADD COLUMN telling INTEGER NOT NULL GENERATED ALWAYS AS (CASE
  WHEN kind IN ('listed', 'held', 'delisted', 'relisted', 'verified', 'unverified', 'cautioned', 'corrected') THEN 1
  WHEN kind = 'cleared' THEN json_extract(detail, '$.code') <> 'never_seen'
  WHEN kind = 'priced' THEN json_extract(detail, '$.from.min') IS NOT NULL
  WHEN kind = 'routed' THEN json_type(detail, '$.terms') IS NOT NULL OR json_type(detail, '$.undelivered') IS NOT NULL
  ELSE 0
END) VIRTUAL;
CREATE INDEX changes_telling ON changes (revision) WHERE telling = 1;

UPDATE listings SET document = json_set(
  document,
  '$.cautions', json('[]'),
  '$.corrections', json('[]'),
  '$.routes', json((SELECT json_group_array(json(json_set(
      value,
      '$.cautions', json('[]'),
      '$.proofs', json(iif(json_type(value, '$.proof') = 'object', json_array(json_extract(value, '$.proof')), '[]')),
      '$.probe', json(iif(json_type(value, '$.probe') = 'object',
        json_set(json_extract(value, '$.probe'), '$.failing_since', NULL), 'null')),
      '$.undelivered', json(iif(json_type(value, '$.undelivered') = 'object',
        json_set(json_extract(value, '$.undelivered'), '$.unrecognised', NULL), 'null'))
    ))) FROM json_each(listings.document, '$.routes')))
) WHERE document != '{}';
`;
