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
