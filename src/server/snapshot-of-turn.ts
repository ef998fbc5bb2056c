import type { GetSnapshot, Snapshot } from '../snapshot/snapshot.ts';

/**
 * Gives the snapshot as of this turn of the event loop. Reading the revision takes SQLite some 9 µs, a third of what a page
 * from memory costs in all; requests that are answered in one turn came at the same time, so they share one reading.
 */
export function openSnapshotOfTurn(getSnapshot: GetSnapshot): GetSnapshot {
  let ofThisTurn: Snapshot | undefined;
  const forget = () => {
    ofThisTurn = undefined;
  };
  return () => {
    if (!ofThisTurn) {
      ofThisTurn = getSnapshot();
      setImmediate(forget);
    }
    return ofThisTurn;
  };
}
