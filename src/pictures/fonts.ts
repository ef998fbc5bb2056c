import { readFile } from 'node:fs/promises';
import { Blob, Face, Font, Variation } from 'harfbuzzjs';
import decompress from 'woff2-encoder/decompress';

export type Weight = 400 | 700;

/** One file of a font. A package cuts its font into files by ranges of characters, so that few of them are needed. */
export interface FontFile {
  readonly family: string;
  readonly weights: Readonly<Record<Weight, Font>>;
  /** Font units per em: what the figures of a glyph are in. */
  readonly unitsPerEm: number;
}

/** The fonts of pictures. Their files are read when a text first needs them, and kept: all of them are 30 MB. */
export interface Fonts {
  /** Names of all families, in the order in which they are asked for a character where nothing speaks for another. */
  readonly families: readonly string[];
  /** Finds the first file, by order of the families, that has all code points. */
  find(codePoints: readonly number[], families: readonly string[]): Promise<FontFile | undefined>;
}

/** Each family with where its package lists the ranges of its files. */
const listFamilies = () => ({
  inter: import.meta.resolve('@fontsource-variable/inter/unicode.json'),
  arabic: import.meta.resolve('@fontsource-variable/noto-sans-arabic/unicode.json'),
  hebrew: import.meta.resolve('@fontsource-variable/noto-sans-hebrew/unicode.json'),
  devanagari: import.meta.resolve('@fontsource-variable/noto-sans-devanagari/unicode.json'),
  bengali: import.meta.resolve('@fontsource-variable/noto-sans-bengali/unicode.json'),
  gurmukhi: import.meta.resolve('@fontsource-variable/noto-sans-gurmukhi/unicode.json'),
  gujarati: import.meta.resolve('@fontsource-variable/noto-sans-gujarati/unicode.json'),
  oriya: import.meta.resolve('@fontsource-variable/noto-sans-oriya/unicode.json'),
  tamil: import.meta.resolve('@fontsource-variable/noto-sans-tamil/unicode.json'),
  telugu: import.meta.resolve('@fontsource-variable/noto-sans-telugu/unicode.json'),
  kannada: import.meta.resolve('@fontsource-variable/noto-sans-kannada/unicode.json'),
  malayalam: import.meta.resolve('@fontsource-variable/noto-sans-malayalam/unicode.json'),
  sinhala: import.meta.resolve('@fontsource-variable/noto-sans-sinhala/unicode.json'),
  thai: import.meta.resolve('@fontsource-variable/noto-sans-thai/unicode.json'),
  lao: import.meta.resolve('@fontsource-variable/noto-sans-lao/unicode.json'),
  khmer: import.meta.resolve('@fontsource-variable/noto-sans-khmer/unicode.json'),
  myanmar: import.meta.resolve('@fontsource-variable/noto-sans-myanmar/unicode.json'),
  georgian: import.meta.resolve('@fontsource-variable/noto-sans-georgian/unicode.json'),
  armenian: import.meta.resolve('@fontsource-variable/noto-sans-armenian/unicode.json'),
  ethiopic: import.meta.resolve('@fontsource-variable/noto-sans-ethiopic/unicode.json'),
  chinese: import.meta.resolve('@fontsource-variable/noto-sans-sc/unicode.json'),
  japanese: import.meta.resolve('@fontsource-variable/noto-sans-jp/unicode.json'),
  korean: import.meta.resolve('@fontsource-variable/noto-sans-kr/unicode.json'),
});

/** A file that may be read, and the ranges of code points that it is listed with: from and to, in turns. */
interface Listed {
  readonly family: string;
  readonly url: URL;
  readonly ranges: Uint32Array;
}

/** Opens the fonts: reads the lists of ranges. */
export async function openFonts(): Promise<Fonts> {
  const families = await Promise.all(
    Object.entries(listFamilies()).map(async ([family, list]) => [family, await listFiles(family, list)] as const),
  );
  const filesOf = new Map(families);
  const loaded = new Map<Listed, FontFile>();

  const load = async (listed: Listed): Promise<FontFile> => {
    const file = loaded.get(listed) ?? (await readFontFile(listed));
    loaded.set(listed, file);
    return file;
  };

  return {
    families: [...filesOf.keys()],
    async find(codePoints, order) {
      const [first = 0] = codePoints;
      for (const family of order) {
        for (const listed of filesOf.get(family) ?? []) {
          if (!isIn(first, listed.ranges)) continue;
          const file = await load(listed);
          // A list may name characters that the font lacks.
          if (codePoints.every((codePoint) => file.weights[400].nominalGlyph(codePoint))) return file;
        }
      }
      return undefined;
    },
  };
}

async function listFiles(family: string, list: string): Promise<Listed[]> {
  const ranges: Record<string, string> = JSON.parse(await readFile(new URL(list), 'utf8'));
  const [, name = ''] = /@fontsource-variable\/([a-z-]+)\//.exec(list) ?? [];
  // Other families bring Latin letters, too, and symbols that are not in the style of Inter.
  const wanted = Object.entries(ranges).filter(
    ([subset]) => family === 'inter' || subset === family || subset.startsWith('['),
  );
  return wanted.map(([subset, text]) => ({
    family,
    url: new URL(`files/${name}-${subset.replace(/[[\]]/g, '')}-wght-normal.woff2`, list),
    ranges: parseRanges(text),
  }));
}

/** Reads ranges as CSS writes them (`U+0600-06FF,U+25CC`). */
function parseRanges(text: string): Uint32Array {
  return Uint32Array.from(
    text.split(',').flatMap((range) => {
      const [from = '', to = from] = range.replace(/^U\+/i, '').split('-');
      return [Number.parseInt(from, 16), Number.parseInt(to, 16)];
    }),
  );
}

function isIn(codePoint: number, ranges: Uint32Array): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if (codePoint >= (ranges[at] ?? 0) && codePoint <= (ranges[at + 1] ?? 0)) return true;
  }
  return false;
}

async function readFontFile({ family, url }: Listed): Promise<FontFile> {
  const face = new Face(new Blob(await decompress(await readFile(url))));
  const open = (weight: Weight) => {
    const font = new Font(face);
    font.setVariations([new Variation('wght', weight)]);
    return font;
  };
  return { family, weights: { 400: open(400), 700: open(700) }, unitsPerEm: face.upem };
}
