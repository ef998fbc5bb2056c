/**
 * Delistings by address and decider, so that no decision hides or lifts another's, and an address can be kept out before any
 * source declares it.
 */
export const sql = `
CREATE TABLE delistings_by_decider (
  base_url TEXT NOT NULL,
  by TEXT NOT NULL CHECK (by IN ('operator', 'provider', 'rule')),
  reason TEXT NOT NULL,
  source TEXT,
  at TEXT NOT NULL,
  PRIMARY KEY (base_url, by)
) STRICT;
INSERT INTO delistings_by_decider
  SELECT listings.base_url, by, reason, NULL, at FROM delistings JOIN listings ON listings.id = delistings.listing_id;
DROP TABLE delistings;
ALTER TABLE delistings_by_decider RENAME TO delistings;
`;
