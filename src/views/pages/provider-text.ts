/** A text of somebody else's, as much of it as is shown at once and what is folded away, each by paragraph. */
export interface ProviderWords {
  readonly shown: readonly string[];
  /** Empty where all of it is shown. */
  readonly folded: readonly string[];
}

/** Characters that are shown at once, and how many more there must be for folding to be worth it. */
const SHOWN_LENGTH = 700;
const SLACK = 200;

/**
 * Splits a text into paragraphs and folds away what is long, so that what was checked comes before what was written. A cut
 * is between paragraphs, or words, or anywhere in a text that has neither; nothing is lost by it.
 */
export function splitProviderText(text: string): ProviderWords {
  const paragraphs = text.split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== '');
  if (paragraphs.join('').length <= SHOWN_LENGTH + SLACK) return { shown: paragraphs, folded: [] };
  const shown: string[] = [];
  let room = SHOWN_LENGTH;
  for (const [at, paragraph] of paragraphs.entries()) {
    if (paragraph.length <= room) {
      shown.push(paragraph);
      room -= paragraph.length;
      continue;
    }
    // The first is cut where it is too long by itself; after it, one begins whole or not at all.
    if (at > 0) return { shown, folded: paragraphs.slice(at) };
    const [head, tail] = cutAtSpace(paragraph, room);
    return { shown: [head], folded: [tail, ...paragraphs.slice(1)] };
  }
  return { shown, folded: [] };
}

/** Cuts at the last space or line end before a length, never within a character. */
function cutAtSpace(text: string, length: number): [head: string, tail: string] {
  const space = text.slice(0, length).search(/\s\S*$/);
  const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff;
  const at = space > 0 ? space : isLow(text.charCodeAt(length)) ? length - 1 : length;
  return [text.slice(0, at), text.slice(at).trimStart()];
}

/** Scripts that one language alone is written in today, or nearly so, by their name in Unicode and the language's in BCP 47. */
const LANGUAGE_OF_SCRIPT = {
  Hangul: 'ko',
  Thai: 'th',
  Hebrew: 'he',
  Greek: 'el',
  Georgian: 'ka',
  Armenian: 'hy',
  Khmer: 'km',
  Lao: 'lo',
  Sinhala: 'si',
  Tamil: 'ta',
  Telugu: 'te',
  Kannada: 'kn',
  Malayalam: 'ml',
  Gujarati: 'gu',
} as const;

const SCRIPTS = Object.entries(LANGUAGE_OF_SCRIPT).map(([script, language]) => ({
  language,
  letters: new RegExp(`\\p{Script=${script}}`, 'gu'),
}));
const LETTERS = /\p{L}/gu;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const HAN = /\p{Script=Han}/gu;

/** Most texts have no letter of these scripts, and need no counting. */
const BEYOND_LATIN = /[\u0370-\u{10ffff}]/u;

/** A sign or two of a script, as formulas and names have them, say nothing of the language around them. */
const MIN_LETTERS = 3;
/** A Chinese text can quote a Japanese word; of a Japanese one much more is kana. */
const MIN_KANA_SHARE = 0.1;

/**
 * Finds the language of a text by its script, as a BCP 47 tag; null wherever that leaves a doubt, as Latin, Cyrillic, Arabic
 * and Han without kana do, and where less than half of the letters are of the script.
 */
export function findLanguage(text: string): string | null {
  if (!BEYOND_LATIN.test(text)) return null;
  const half = count(text, LETTERS) / 2;
  const isMost = (letters: number) => letters >= MIN_LETTERS && letters > half;
  const [kana, han] = [count(text, KANA), count(text, HAN)];
  if (kana > 0 && kana >= (kana + han) * MIN_KANA_SHARE && isMost(kana + han)) return 'ja';
  return SCRIPTS.find(({ letters }) => isMost(count(text, letters)))?.language ?? null;
}

/** Gives the attributes of an element that holds somebody else's words: their direction, and their language where known. */
export function getProseAttributes(text: string): { dir: 'auto'; lang?: string } {
  const lang = findLanguage(text);
  return lang === null ? { dir: 'auto' } : { dir: 'auto', lang };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
