/** Knows when each revision of a catalogue was committed, to say how stale an answer is. Times are milliseconds of one clock. */
export interface StalenessLedger {
  /** Notes that a revision was committed at a time. */
  committed(revision: number, at: number): void;
  /** Notes that the catalogue went back to a revision at a time: what it had after that is no longer true. */
  replaced(revision: number, at: number): void;
  /** Returns since how long, at a time, what a revision shows is no longer the latest, in milliseconds; 0 for the latest. */
  measure(revision: number, at: number): number;
  /** Returns the latest revision. */
  getLatest(): number;
}

/** Opens a ledger of revisions. Each revision of one writer is noted, so that the one after an answer's is known. */
export function openStalenessLedger(): StalenessLedger {
  const commits = new Map<number, number>();
  let latest = 0;
  return {
    committed(revision, at) {
      commits.set(revision, at);
      latest = revision;
    },
    replaced(revision, at) {
      // An answer of the lost history is stale from the moment at which that was lost.
      for (let lost = revision + 1; lost <= latest + 1; lost += 1) commits.set(lost, at);
      latest = revision;
    },
    measure(revision, at) {
      if (revision === latest) return 0;
      return Math.max(0, at - (commits.get(revision + 1) ?? at));
    },
    getLatest: () => latest,
  };
}
