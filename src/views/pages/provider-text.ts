/** A text of a provider: the visible part and the folded part, each by paragraph. */
export interface ProviderWords {
  readonly shown: readonly string[];
  /** Empty if the whole text is visible. */
  readonly folded: readonly string[];
}

/** Most visible characters, and the least number of further ones that are folded. */
const SHOWN_LENGTH = 700;
const SLACK = 200;

/**
 * Splits a text into paragraphs and folds the end of a long one, so that checked facts come before a provider's words. Cuts
 * between paragraphs, else between words, else anywhere; no character is lost.
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
    // The first paragraph is cut where it is too long; a later one is shown whole or folded whole.
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

/** Scripts with (nearly) only one language today, by their Unicode name, with the language's BCP 47 tag. */
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

/** Fewest letters that count. One or two signs, as in formulas and names, do not show the language of the text. */
const MIN_LETTERS = 3;
/** Least share of kana in a Japanese text: a Chinese text can quote a Japanese word. */
const MIN_KANA_SHARE = 0.1;

/**
 * Finds the language of a text by its script, as a BCP 47 tag. Null for scripts of several languages (Latin, Cyrillic, Arabic,
 * Han without kana), and if less than half of the letters are of the script.
 */
export function findLanguage(text: string): string | null {
  if (!BEYOND_LATIN.test(text)) return null;
  const half = count(text, LETTERS) / 2;
  const isMost = (letters: number) => letters >= MIN_LETTERS && letters > half;
  const [kana, han] = [count(text, KANA), count(text, HAN)];
  if (kana > 0 && kana >= (kana + han) * MIN_KANA_SHARE && isMost(kana + han)) return 'ja';
  return SCRIPTS.find(({ letters }) => isMost(count(text, letters)))?.language ?? null;
}

/** Returns the attributes of an element with outside text: its direction, and its language if known. */
export function getProseAttributes(text: string): { dir: 'auto'; lang?: string } {
  const lang = findLanguage(text);
  return lang === null ? { dir: 'auto' } : { dir: 'auto', lang };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
