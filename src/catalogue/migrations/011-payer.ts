/**
 * Payments with the day by the clock of their chain, at most one for each transaction, and without a reference to their
 * route: the wallet's journal restores them into a catalogue that has lost it. Receipts, too, are one for each transaction.
 */
export const sql = `
DROP INDEX payments_open;
DROP INDEX payments_by_time;
ALTER TABLE payments RENAME TO earlier_payments;
CREATE TABLE payments (
  id TEXT PRIMARY KEY,
  route_id TEXT NOT NULL,
  network TEXT NOT NULL,
  "transaction" TEXT,
  day TEXT NOT NULL,
  payer TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  state TEXT NOT NULL CHECK (state IN ('prepared', 'sent', 'settled', 'not_settled', 'unknown')),
  prepared_at TEXT NOT NULL,
  document TEXT NOT NULL CHECK (json_valid(document)),
  UNIQUE (network, "transaction")
) STRICT;
INSERT INTO payments
  SELECT id, route_id, document ->> '$.network', document ->> '$.settlement.transaction', substr(prepared_at, 1, 10),
    payer, amount, state, prepared_at, document
  FROM earlier_payments;
DROP TABLE earlier_payments;
CREATE INDEX payments_open ON payments (payer) WHERE state IN ('prepared', 'sent', 'unknown');
CREATE INDEX payments_by_time ON payments (prepared_at);
CREATE INDEX payments_by_day ON payments (day, state, amount);
CREATE INDEX payments_by_route ON payments (route_id, prepared_at);
CREATE UNIQUE INDEX receipts_by_transaction ON receipts (network, "transaction");
`;
