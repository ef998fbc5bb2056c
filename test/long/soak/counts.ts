/** What documents say of the catalogue's size, by the revision they are of. */
export interface CountLedger {
  /** Notes what an answer says, if it says anything. */
  record(what: string, revision: string | null, text: string): void;
  /** Revisions of which at least two documents told their counts. */
  readonly compared: Set<string>;
  /** Documents whose counts are not those of another one of the same revision, or not always the same. */
  readonly wrong: string[];
}

/** Counts as JSON, also inside a JSON text, and as a sentence. */
const IN_JSON = /live_listings\\?":(\d+),\\?"settlement_verified\\?":(\d+)/g;
const IN_WORDS = /(\d+) live listings?, (\d+) of them settlement-verified/g;

/** Opens a ledger of counts. */
export function openCountLedger(): CountLedger {
  const known = new Map<string, { counts: string; what: string }>();
  const compared = new Set<string>();
  const wrong: string[] = [];
  return {
    compared,
    wrong,
    record(what, header, text) {
      const revision = header ?? /revision\\?":(\d+)/.exec(text)?.[1];
      if (revision === undefined) return;
      for (const [, live, verified] of [...text.matchAll(IN_JSON), ...text.matchAll(IN_WORDS)]) {
        const counts = `${live} live, ${verified} verified`;
        const first = known.get(revision);
        if (!first) known.set(revision, { counts, what });
        else if (first.counts !== counts) {
          wrong.push(`revision ${revision}: ${what} says ${counts}, ${first.what} says ${first.counts}`);
        } else if (first.what !== what) compared.add(revision);
      }
    },
  };
}
