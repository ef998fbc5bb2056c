/**
 * How many listings went live, were removed, became verified or unverified, by the UTC day on which readers saw it. A
 * trigger counts whenever the columns change, so that no writer can forget it and no reader has to read the log. The log of
 * an older catalogue is counted here, once.
 */
export const sql = `
CREATE TABLE listing_days (
  day TEXT PRIMARY KEY,
  listed INTEGER NOT NULL,
  taken_out INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  unverified INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

WITH steps AS (
  SELECT listing_id, seq, substr(at, 1, 10) AS day,
    CASE WHEN kind IN ('listed', 'relisted') THEN 1 WHEN kind IN ('held', 'delisted') THEN 0 END AS live,
    CASE WHEN kind = 'verified' AND json_extract(detail, '$.earlier') IS NULL THEN 1 WHEN kind = 'unverified' THEN -1 ELSE 0 END AS proofs
  FROM changes WHERE kind IN ('listed', 'relisted', 'held', 'delisted', 'verified', 'unverified')
), numbered AS (
  SELECT *, count(live) OVER (PARTITION BY listing_id ORDER BY seq) AS stretch,
    sum(proofs) OVER (PARTITION BY listing_id ORDER BY seq) AS proven FROM steps
), standing AS (
  SELECT *, coalesce(max(live) OVER (PARTITION BY listing_id, stretch), 0) AS is_live FROM numbered
), moves AS (
  SELECT day, is_live, is_live AND proven > 0 AS is_verified,
    coalesce(lag(is_live) OVER by_listing, 0) AS was_live,
    coalesce(lag(is_live AND proven > 0) OVER by_listing, 0) AS was_verified
  FROM standing WINDOW by_listing AS (PARTITION BY listing_id ORDER BY seq)
)
INSERT INTO listing_days
  SELECT day, sum(is_live > was_live), sum(is_live < was_live), sum(is_verified > was_verified), sum(is_verified < was_verified)
  FROM moves GROUP BY day;

CREATE TRIGGER listings_counted AFTER UPDATE OF state, verified ON listings
WHEN (NEW.state = 'live') <> (OLD.state = 'live') OR NEW.verified <> OLD.verified
BEGIN
  INSERT INTO listing_days VALUES (
    substr(json_extract(NEW.document, '$.updated_at'), 1, 10),
    NEW.state = 'live' AND OLD.state <> 'live', NEW.state <> 'live' AND OLD.state = 'live',
    NEW.verified > OLD.verified, NEW.verified < OLD.verified
  ) ON CONFLICT (day) DO UPDATE SET
    listed = listed + excluded.listed, taken_out = taken_out + excluded.taken_out,
    verified = verified + excluded.verified, unverified = unverified + excluded.unverified;
END;
`;
