/** The subject of a change: the state of its listing, the verification of one route, or else its kind. */
const buildSubject = (row: string) => `CASE
  WHEN ${row}kind IN ('listed', 'held', 'delisted', 'relisted') THEN 'state'
  WHEN ${row}kind IN ('verified', 'unverified') THEN 'verification of ' || COALESCE(json_extract(${row}detail, '$.route'), '')
  ELSE ${row}kind
END`;

/**
 * The log of changes as a feed. `latest_changes` has the latest change of each subject of a listing, so that a reader who is
 * far behind need not read what was superseded. `telling` marks the changes of more than times, counts and wording.
 * Rows of the log are only ever added.
 */
export const sql = `
CREATE TABLE latest_changes (
  listing_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  seq INTEGER NOT NULL UNIQUE REFERENCES changes (seq),
  PRIMARY KEY (listing_id, subject)
) STRICT, WITHOUT ROWID;

INSERT INTO latest_changes (listing_id, subject, seq)
  SELECT listing_id, ${buildSubject('')}, max(seq) FROM changes GROUP BY 1, 2;

CREATE TRIGGER changes_latest AFTER INSERT ON changes BEGIN
  INSERT INTO latest_changes (listing_id, subject, seq) VALUES (NEW.listing_id, ${buildSubject('NEW.')}, NEW.seq)
    ON CONFLICT (listing_id, subject) DO UPDATE SET seq = excluded.seq;
END;

ALTER TABLE changes ADD COLUMN telling INTEGER NOT NULL GENERATED ALWAYS AS (CASE
  WHEN kind IN ('listed', 'held', 'delisted', 'relisted', 'verified', 'unverified') THEN 1
  WHEN kind = 'priced' THEN json_extract(detail, '$.from.min') IS NOT NULL
  WHEN kind = 'routed' THEN json_type(detail, '$.terms') IS NOT NULL OR json_type(detail, '$.undelivered') IS NOT NULL
  ELSE 0
END) VIRTUAL;
CREATE INDEX changes_telling ON changes (revision) WHERE telling = 1;
`;
