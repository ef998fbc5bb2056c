import { readWordLines } from './word-files.ts';
import { getStem } from './words.ts';

/** A stem that stands for a word or phrase of a request: from the same group, or one that an everyday word calls up. */
export interface StandIn {
  readonly stem: string;
  readonly kind: 'related' | 'everyday';
}

let standIns: ReadonlyMap<string, readonly StandIn[]> | undefined;

/** Lists the stems that stand for a word or phrase of a request, given as its stems joined by underscores. */
export function listStandIns(stems: string): readonly StandIn[] {
  standIns ??= readStandIns();
  return standIns.get(stems) ?? [];
}

/** Reads `related.txt`; `data/words/README.md` describes its format. */
function readStandIns(): Map<string, StandIn[]> {
  const table = new Map<string, StandIn[]>();
  for (const line of readWordLines('related.txt')) {
    const [said = '', meant] = line.split(' > ');
    const phrases = said.split(' ');
    const kind = meant === undefined ? 'related' : 'everyday';
    const stems = (meant?.split(' ') ?? phrases.filter((phrase) => !phrase.includes('_'))).map(getStem);
    for (const phrase of phrases) {
      const key = phrase.split('_').map(getStem).join('_');
      const others = stems.filter((stem) => stem !== key).map((stem) => ({ stem, kind }) as const);
      table.set(key, [...(table.get(key) ?? []), ...others]);
    }
  }
  return table;
}
