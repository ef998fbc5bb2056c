import { readWordLines } from './word-files.ts';
import { getStem } from './words.ts';

/** A stem that stands for a word or phrase of a request: from the same group, or one that an everyday word calls up. */
export interface Synonym {
  readonly stem: string;
  readonly kind: 'related' | 'everyday';
}

let synonyms: ReadonlyMap<string, readonly Synonym[]> | undefined;

/** Lists the stems that stand for a word or phrase of a request, given as its stems joined by underscores. */
export function listSynonyms(stems: string): readonly Synonym[] {
  synonyms ??= readSynonyms();
  return synonyms.get(stems) ?? [];
}

/** Reads `related.txt`; `data/words/README.md` describes its format. */
function readSynonyms(): Map<string, Synonym[]> {
  const table = new Map<string, Synonym[]>();
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
