/** What documents say of the catalogue's size, by the revision they are of. */
export interface CountLedger {
  /** Notes what an answer says, if it says anything. */
  record(what: string, revision: string | null, text: string): void;
  /** Revisions of which at least two documents told their counts. */
  readonly compared: Set<string>;
  /** Documents whose counts are not those of another one of the same revision, or not always the same. */
  readonly wrong: string[];
}

/** A document's own counts come first in it, before those of examples: as JSON, also inside a text, and as a sentence. */
const STATED = [
  /live_listings\\?":(?<live>\d+),\\?"settlement_verified\\?":(?<verified>\d+)/,
  /(?<live>[\d,]+) live listings?, (?<verified>[\d,]+) of them settlement-verified/,
];

/** Opens a ledger of counts. */
export function openCountLedger(): CountLedger {
  const known = new Map<string, { number: string; what: string }>();
  const compared = new Set<string>();
  const wrong: string[] = [];
  const compare = (what: string, revision: string, count: string, number: string) => {
    const first = known.get(`${revision} ${count}`) ?? { number, what };
    known.set(`${revision} ${count}`, first);
    if (first.number !== number) {
      wrong.push(`revision ${revision}: ${what} says ${number} ${count}, ${first.what} says ${first.number}`);
    } else if (first.what !== what) compared.add(revision);
  };
  return {
    compared,
    wrong,
    record(what, header, text) {
      const revision = header ?? /revision\\?":(\d+)/.exec(text)?.[1];
      if (revision === undefined) return;
      for (const pattern of STATED) {
        for (const [count, number] of Object.entries(pattern.exec(text)?.groups ?? {})) {
          compare(what, revision, count, number.replaceAll(',', ''));
        }
      }
      const tags = countTags(text);
      if (tags > 0) compare(`the tags of ${what}`, revision, 'live', String(tags));
    },
  };
}

/** Counts the tags of an OpenAPI document, which are its listings one by one; none in other documents. */
function countTags(text: string): number {
  const start = text.indexOf('"tags":[{"name"');
  return start < 0 ? 0 : text.slice(start).split('"x-marketplace-url":"').length - 1;
}
